//! Which vectors make a decision true and which make it false.
//!
//! clang's map says which condition comes behind each outcome of a condition, and where the decision is made, but not
//! with which outcome: readers take that of the last condition. It is the opposite where a part of several conditions
//! is negated: in `!(a && b) || c` the decision is true once `a` is false. The front end's code has the truth. Before
//! the request for a vector stands the decision's value, a phi of what `&&` and `||` give; or, in `a && b ? c : d`,
//! there are two requests, and a counter of the operator follows the one where the decision is true.

use super::sums::{Numbers, Step, Sum, Unclear};
use crate::coverage::increments;
use crate::ir::{Block, Call, Instruction, Value};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::{BTreeMap, HashMap};

/// Behind so many jumps the request for a vector is no longer looked for.
const MOST_JUMPS: usize = 10_000;

/// What the code tells of the outcomes of a decision.
pub(super) enum Outcomes {
    /// The decision's outcome is that of the last condition, but for these vectors, and those that end like them.
    Opposite(Numbers),
    /// The code is of another form than clang's.
    Unknown,
}

/// An outcome of a condition that makes a decision.
pub(super) struct Last<'m> {
    /// The numbers of the vectors that end so.
    numbers: Numbers,
    /// The outcome of the condition.
    outcome: bool,
    /// The request for the vector.
    request: Instruction<'m>,
    /// The outcome of the decision, where its value stands before the request.
    made: Option<bool>,
}

/// Finds the outcomes of conditions that make one of a variable's decisions.
pub(super) fn last<'m>(sum: &Sum<'m>) -> Result<Vec<Last<'m>>, Unclear> {
    let users = sum.variable.users().into_iter().filter_map(Value::as_instruction);
    let mut blocks: Vec<Block<'m>> = users.filter_map(Instruction::block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut all = Vec::new();
    for block in blocks {
        let Some(&(at, Step::Add { condition: Some(condition), if_true, if_false })) = sum.steps(block)?.last() else {
            continue;
        };
        let end = block.terminator();
        let numbers = sum.before(at)?;
        for (index, outcome) in [(0, true), (1, false)] {
            let next = if end.condition() == Some(condition) { end.successor(index) } else { only_successor(block) };
            let Some((request, came_from)) = next.map(|next| walk(sum, block, next)).transpose()?.flatten() else {
                continue;
            };
            let added = if outcome { if_true } else { if_false };
            let numbers = numbers.iter().filter_map(|number| number.checked_add(added)).collect();
            let value = request.previous().and_then(Instruction::as_phi).filter(|phi| phi.ty().bits() == Some(1));
            let made = value.and_then(|phi| evaluate(phi.into(), &came_from, (condition, outcome)));
            all.push(Last { numbers, outcome, request, made });
        }
    }
    Ok(all)
}

/// What is known of the outcomes of a decision, which some requests are for.
pub(super) fn of_decision<'m>(sum: &Sum<'m>, requests: &[Call<'m>], last: &[Last<'m>]) -> Result<Outcomes, Unclear> {
    let sides: Vec<bool> = requests.iter().map(|request| is_counted_behind(**request)).collect();
    let are_sides = sides.len() == 2 && sides[0] != sides[1];
    let side = |request| {
        let index = requests.iter().position(|own| **own == request).filter(|_| are_sides)?;
        Some(sides[index])
    };
    let mut made: BTreeMap<u32, bool> = BTreeMap::new();
    let mut opposite = Numbers::new();
    for end in last.iter().filter(|end| requests.iter().any(|request| **request == end.request)) {
        let Some(outcome) = end.made.or_else(|| side(end.request)) else { return Ok(Outcomes::Unknown) };
        for &number in &end.numbers {
            if made.insert(number, outcome).is_some_and(|before| before != outcome) {
                return Ok(Outcomes::Unknown);
            }
        }
        opposite.extend(end.numbers.first().filter(|_| outcome != end.outcome));
    }
    for &request in requests {
        if sum.before(*request)?.iter().any(|number| !made.contains_key(number)) {
            return Ok(Outcomes::Unknown);
        }
    }
    Ok(Outcomes::Opposite(opposite))
}

/// The block that a block always leads to.
fn only_successor(block: Block<'_>) -> Option<Block<'_>> {
    let end = block.terminator();
    end.successor(0).filter(|_| end.successor_count() == 1)
}

/// The request that control comes to behind an edge if no condition is evaluated before it, and for each block on the
/// path the block before it.
#[allow(clippy::type_complexity, reason = "the two stand and fall together")]
fn walk<'m>(
    sum: &Sum<'m>,
    from: Block<'m>,
    to: Block<'m>,
) -> Result<Option<(Instruction<'m>, HashMap<Block<'m>, Block<'m>>)>, Unclear> {
    let (mut before, mut here) = (from, to);
    let mut came_from = HashMap::new();
    while came_from.len() < MOST_JUMPS && came_from.insert(here, before).is_none() {
        match sum.steps(here)?.first() {
            Some(&(request, Step::Made)) => return Ok(Some((request, came_from))),
            Some(_) => return Ok(None),
            None => {}
        }
        let Some(next) = only_successor(here) else { return Ok(None) };
        (before, here) = (here, next);
    }
    Ok(None)
}

/// The value of an expression of truth values behind a path, on which the last condition had a known outcome.
fn evaluate<'m>(
    value: Value<'m>,
    came_from: &HashMap<Block<'m>, Block<'m>>,
    (condition, outcome): (Value<'m>, bool),
) -> Option<bool> {
    let mut value = value;
    let mut negated = false;
    for _ in 0..MOST_JUMPS {
        if value == condition {
            return Some(outcome != negated);
        }
        if value.is_constant_int() {
            return Some((value.constant()? != 0) != negated);
        }
        let instruction = value.as_instruction()?;
        match instruction.opcode() {
            LLVMOpcode::LLVMPHI => {
                let before = came_from.get(&instruction.block()?)?;
                let next = instruction.as_phi()?.incoming_from(*before)?;
                value = next;
            }
            LLVMOpcode::LLVMXor if instruction.operand(1)?.constant().is_some_and(|by| by & 1 == 1) => {
                negated = !negated;
                value = Some(instruction.operand(0)?).filter(|value| value.ty().bits() == Some(1))?;
            }
            LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMTrunc => value = instruction.operand(0)?,
            LLVMOpcode::LLVMICmp if instruction.operand(1)?.is_zero() => {
                negated ^= match instruction.int_predicate()? {
                    LLVMIntPredicate::LLVMIntNE => false,
                    LLVMIntPredicate::LLVMIntEQ => true,
                    _ => return None,
                };
                value = instruction.operand(0)?;
            }
            _ => return None,
        }
    }
    None
}

/// Whether a counter stands directly behind a request.
fn is_counted_behind(request: Instruction<'_>) -> bool {
    let next = request.next().and_then(|next| next.as_call()).and_then(|call| call.intrinsic());
    next.as_deref() == Some(increments::INCREMENT)
}
