//! Extracts hints about the likely outcomes of branches ([`cotree_core::facts::hints`]): what is compared, the
//! compiler's own weights, and which constants are returned.

use crate::ir::{self, Instruction, MetadataKind, Phi, Value};
use crate::module::Module;
use cotree_core::facts::EdgeFacts;
use cotree_core::facts::hints::{Branch, Hints, Test};
use cotree_core::ids::{Block, Edge};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

/// Blocks that do nothing but jump on, as many as may stand between a branch and the `return` that it leads to.
const JUMPS_TO_RETURN: usize = 2;

/// The hints of a function with these reachable blocks and edges.
pub(super) fn hints(module: &Module, blocks: &[ir::Block<'_>], edges: &[EdgeFacts]) -> Hints {
    let mut hints = Hints::default();
    let prof = module.metadata_kind("prof");
    for (number, &block) in blocks.iter().enumerate() {
        let number = Block::new(number);
        if block.instructions().any(is_cold_call) {
            hints.cold.push(number);
        }
        let terminator = block.terminator();
        if terminator.successor_count() < 2 {
            continue;
        }
        if let Some((test, on_true)) = terminator.condition().and_then(test) {
            hints.branches.push(Branch { block: number, test, on_true });
        }
        let weights = branch_weights(terminator, prof);
        let first = edges.partition_point(|edge| edge.src < number);
        let own = edges.iter().enumerate().skip(first).take_while(|(_, edge)| edge.src == number);
        for (index, edge) in own {
            if let Some(weight) = weights.as_deref().map(|weights| edge_weight(terminator, weights, edge)) {
                hints.weights.push((Edge::new(index), weight));
            }
            if let Some(value) = blocks.get(edge.dst.index()).and_then(|&target| returned(block, target)) {
                hints.returns.push((Edge::new(index), value));
            }
        }
    }
    hints
}

fn is_cold_call(instruction: Instruction<'_>) -> bool {
    let call = instruction.as_call().filter(|call| call.opcode() != LLVMOpcode::LLVMCallBr);
    call.is_some_and(|call| call.has_attribute("cold"))
}

/// The `branch_weights` of a branch, one per successor.
fn branch_weights(terminator: Instruction<'_>, prof: MetadataKind) -> Option<Vec<f64>> {
    let operands = terminator.metadata(prof)?.node_operands()?;
    let weights: Vec<f64> = operands.into_iter().flatten().filter_map(constant).map(unsigned).collect();
    (weights.len() == terminator.successor_count() as usize).then_some(weights)
}

/// A weight, which is an unsigned number of 32 bits (of 64 in a few versions of LLVM).
fn unsigned(weight: i64) -> f64 {
    f64::from(u32::try_from(weight & 0xFFFF_FFFF).unwrap_or(u32::MAX))
}

/// The weight of one edge of a branch: of all cases that it stands for.
fn edge_weight(terminator: Instruction<'_>, weights: &[f64], edge: &EdgeFacts) -> f64 {
    if terminator.opcode() != LLVMOpcode::LLVMSwitch {
        return weights.get(edge.successor as usize).copied().unwrap_or(0.0);
    }
    let target = terminator.successor(edge.successor);
    terminator.successors().zip(weights).filter(|&(to, _)| Some(to) == target).map(|(_, weight)| weight).sum()
}

/// The constant that is returned when the edge from the first block to the second is taken, if nothing else can be.
fn returned<'m>(mut from: ir::Block<'m>, mut at: ir::Block<'m>) -> Option<i64> {
    for _ in 0..=JUMPS_TO_RETURN {
        let terminator = at.terminator();
        match terminator.opcode() {
            LLVMOpcode::LLVMRet => return constant(coming_from(terminator.operand(0)?, at, from)?),
            LLVMOpcode::LLVMBr if terminator.successor_count() == 1 => (from, at) = (at, terminator.successor(0)?),
            _ => return None,
        }
    }
    None
}

/// The value in the block `at`: of one of its phis what comes from the block `from`.
fn coming_from<'m>(value: Value<'m>, at: ir::Block<'m>, from: ir::Block<'m>) -> Option<Value<'m>> {
    match value.as_phi().filter(|phi| phi.block() == Some(at)) {
        Some(phi) => phi.incoming_from(from),
        None => Some(value),
    }
}

/// The value of a constant integer of up to 64 bits, sign-extended, and 0 for null.
fn constant(value: Value<'_>) -> Option<i64> {
    if value.is_constant_int() {
        return value.signed_constant();
    }
    (value.ty().is_pointer() && value.is_zero()).then_some(0)
}

/// What a condition tests, and whether that holds if it is true.
fn test(condition: Value<'_>) -> Option<(Test, bool)> {
    let comparison = condition.as_instruction()?;
    if let Some(predicate) = comparison.float_predicate() {
        return floats(predicate);
    }
    let predicate = comparison.int_predicate()?;
    let (left, right) = (comparison.operand(0)?, comparison.operand(1)?);
    if !left.ty().is_pointer() {
        return integers(predicate, left, right);
    }
    match predicate {
        LLVMIntPredicate::LLVMIntEQ => Some((Test::SamePointer, true)),
        LLVMIntPredicate::LLVMIntNE => Some((Test::SamePointer, false)),
        _ => None,
    }
}

fn integers(predicate: LLVMIntPredicate, left: Value<'_>, right: Value<'_>) -> Option<(Test, bool)> {
    use LLVMIntPredicate::*;
    if let Some(found) = steps(predicate, left, right) {
        return Some(found);
    }
    match (predicate, constant(right)) {
        (LLVMIntEQ, Some(0)) if is_masked(left) => Some((Test::BitsClear, true)),
        (LLVMIntNE, Some(0)) if is_masked(left) => Some((Test::BitsClear, false)),
        (LLVMIntEQ | LLVMIntNE, _) => None,
        (LLVMIntSLT, Some(0)) => Some((Test::Negative, true)),
        (LLVMIntSGT, Some(-1)) => Some((Test::Negative, false)),
        (LLVMIntSGT, Some(0)) => Some((Test::Positive, true)),
        (LLVMIntSLT, Some(1)) => Some((Test::Positive, false)),
        (LLVMIntULT | LLVMIntSLT, Some(_)) => Some((Test::BelowConstant, true)),
        (LLVMIntUGT | LLVMIntSGT, Some(_)) => Some((Test::BelowConstant, false)),
        (LLVMIntULT | LLVMIntSLT | LLVMIntULE | LLVMIntSLE, None) => Some((Test::Below, true)),
        (LLVMIntUGT | LLVMIntSGT | LLVMIntUGE | LLVMIntSGE, None) => Some((Test::Below, false)),
        _ => None,
    }
}

/// A loop's variable compared with anything that may be an upper border, most of the loop being inside; which constants
/// seldom are.
fn steps(predicate: LLVMIntPredicate, left: Value<'_>, right: Value<'_>) -> Option<(Test, bool)> {
    use LLVMIntPredicate::*;
    let below = match predicate {
        LLVMIntEQ | LLVMIntNE => return None,
        LLVMIntULT | LLVMIntSLT | LLVMIntULE | LLVMIntSLE => true,
        LLVMIntUGT | LLVMIntSGT | LLVMIntUGE | LLVMIntSGE => false,
    };
    if constant(right).is_some() {
        return None;
    }
    let (left, right) = (is_stepped(left), is_stepped(right));
    (left != right).then_some((Test::StepBelow, below == left))
}

/// How many instructions away a variable may be.
const NEXT_TO_STEPPED: usize = 6;

/// Is the value a variable that moves by constant steps in some loop, or one plus a constant?
fn is_stepped(value: Value<'_>) -> bool {
    follow(value, None).is_some()
}

/// From a value through additions of constants, casts and phis of what comes of one value to the wanted phi, or, if
/// none is, to the first phi that its own steps lead back to.
fn follow<'m>(mut value: Value<'m>, wanted: Option<Phi<'m>>) -> Option<Phi<'m>> {
    for _ in 0..NEXT_TO_STEPPED {
        let instruction = value.as_instruction()?;
        value = match instruction.opcode() {
            LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMTrunc => instruction.operand(0)?,
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMOr => {
                constant(instruction.operand(1)?)?;
                instruction.operand(0)?
            }
            _ => {
                let phi = instruction.as_phi()?;
                if wanted.map_or_else(|| is_header(phi), |wanted| wanted == phi) {
                    return Some(phi);
                }
                phi.incoming(0)?.0
            }
        };
    }
    None
}

/// Do the steps of a phi lead back to it?
fn is_header(phi: Phi<'_>) -> bool {
    phi.entries().any(|(value, _)| follow(value, Some(phi)).is_some())
}

/// Is it some number of which a constant mask has been taken?
fn is_masked(value: Value<'_>) -> bool {
    value.is(LLVMOpcode::LLVMAnd) && value.operand(1).is_some_and(Value::is_constant_int)
}

fn floats(predicate: LLVMRealPredicate) -> Option<(Test, bool)> {
    use LLVMRealPredicate::*;
    match predicate {
        LLVMRealOEQ | LLVMRealUEQ => Some((Test::SameFloat, true)),
        LLVMRealONE | LLVMRealUNE => Some((Test::SameFloat, false)),
        LLVMRealUNO => Some((Test::Unordered, true)),
        LLVMRealORD => Some((Test::Unordered, false)),
        _ => None,
    }
}
