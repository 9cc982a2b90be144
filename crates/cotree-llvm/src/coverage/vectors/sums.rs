//! The variable in which clang adds up the number of a test vector, and what it may hold where.
//!
//! The variable is set where a decision begins, and each condition adds a number to it that depends on its outcome.
//! The sets found here may be too large, never too small.

use super::intrinsics::UPDATE;
use crate::ir::{Block, Instruction, Value};
use llvm_sys::LLVMOpcode;
use std::collections::{BTreeSet, HashMap};

/// Numbers that a variable may hold.
pub(super) type Numbers = BTreeSet<u32>;

/// More vectors than a decision may have.
pub(super) const MOST: usize = 1 << 16;

/// Why the numbers are not known.
pub(super) enum Unclear {
    /// The variable is used in a manner that is not clang's.
    Form,
    /// A decision has more vectors than [`MOST`].
    TooMany,
}

/// What an instruction does to the variable.
#[derive(Clone, Copy)]
pub(super) enum Step<'m> {
    /// The variable gets this value.
    Set(u32),
    /// A number is added: one if the condition is true, another one if it is false.
    Add { condition: Option<Value<'m>>, if_true: u32, if_false: u32 },
    /// The decision is made; the variable is not read again before it is set.
    Made,
}

/// The variable of some decisions.
pub(super) struct Sum<'m> {
    pub(super) variable: Value<'m>,
    /// Per block, what the variable may hold where it begins.
    at_start: HashMap<Block<'m>, Numbers>,
}

impl<'m> Sum<'m> {
    /// A variable of which nothing is known but what instructions do to it.
    pub(super) fn unsolved(variable: Value<'m>) -> Self {
        Self { variable, at_start: HashMap::new() }
    }

    /// Finds what the variable may hold.
    pub(super) fn new(variable: Value<'m>) -> Result<Self, Unclear> {
        let users: Vec<Instruction<'m>> = variable.users().into_iter().filter_map(Value::as_instruction).collect();
        let mut sum = Self::unsolved(variable);
        let mut work: Vec<Block<'m>> = users.into_iter().filter_map(Instruction::block).collect();
        work.sort_unstable();
        work.dedup();
        while let Some(block) = work.pop() {
            for (next, numbers) in sum.leaving(block)? {
                let known = sum.at_start.entry(next).or_default();
                let before = known.len();
                known.extend(numbers);
                if known.len() > MOST {
                    return Err(Unclear::TooMany);
                }
                if known.len() > before {
                    work.push(next);
                }
            }
        }
        Ok(sum)
    }

    /// What the variable may hold where a block begins.
    pub(super) fn at_start(&self, block: Block<'m>) -> Numbers {
        self.at_start.get(&block).cloned().unwrap_or_default()
    }

    /// What it may hold before an instruction.
    pub(super) fn before(&self, instruction: Instruction<'m>) -> Result<Numbers, Unclear> {
        let block = instruction.block().ok_or(Unclear::Form)?;
        let steps = self.steps(block)?;
        let of = |other: Instruction<'m>| steps.iter().find(|(at, _)| *at == other).map(|&(_, step)| step);
        let before = block.instructions().take_while(|&other| other != instruction).filter_map(of);
        Ok(before.fold(self.at_start(block), |numbers, step| after(&numbers, step)))
    }

    /// What it may hold on each edge that leaves a block, edge by edge.
    pub(super) fn leaving(&self, block: Block<'m>) -> Result<Vec<(Block<'m>, Numbers)>, Unclear> {
        let steps = self.steps(block)?;
        let terminator = block.terminator();
        let mut numbers = self.at_start(block);
        let mut by_outcome = None;
        for (index, &(_, step)) in steps.iter().enumerate() {
            let is_last = index + 1 == steps.len();
            match step {
                Step::Add { condition: Some(condition), if_true, if_false }
                    if is_last && terminator.condition() == Some(condition) =>
                {
                    by_outcome = Some([if_true, if_false].map(|by| plus(&numbers, by)));
                }
                _ => {}
            }
            numbers = after(&numbers, step);
        }
        let edge = |(index, next)| {
            let numbers = by_outcome.as_ref().and_then(|outcomes| outcomes.get(index)).unwrap_or(&numbers);
            (next, numbers.clone())
        };
        Ok(terminator.successors().enumerate().map(edge).collect())
    }

    /// The instructions of a block that do something to the variable.
    pub(super) fn steps(&self, block: Block<'m>) -> Result<Vec<(Instruction<'m>, Step<'m>)>, Unclear> {
        let mut steps = Vec::new();
        // Those that tell its present value.
        let mut loads: Vec<Value<'m>> = Vec::new();
        for instruction in block.instructions() {
            if !instruction.operands().any(|operand| operand == self.variable) {
                continue;
            }
            match instruction.opcode() {
                LLVMOpcode::LLVMLoad => loads.push(instruction.into()),
                LLVMOpcode::LLVMStore if instruction.operand(1) == Some(self.variable) => {
                    let stored = instruction.operand(0).ok_or(Unclear::Form)?;
                    steps.push((instruction, stored_step(stored, &loads).ok_or(Unclear::Form)?));
                    loads.clear();
                }
                LLVMOpcode::LLVMCall
                    if instruction.as_call().and_then(|call| call.intrinsic()).as_deref() == Some(UPDATE) =>
                {
                    steps.push((instruction, Step::Made));
                }
                _ => return Err(Unclear::Form),
            }
        }
        Ok(steps)
    }
}

/// What storing a value does.
fn stored_step<'m>(stored: Value<'m>, loads: &[Value<'m>]) -> Option<Step<'m>> {
    if stored.is_constant_int() {
        return Some(Step::Set(u32::try_from(stored.constant()?).ok()?));
    }
    let added = |value: Value<'m>| {
        if loads.contains(&value) {
            return Some(0);
        }
        let sum = value.as_instruction().filter(|sum| sum.opcode() == LLVMOpcode::LLVMAdd)?;
        let (left, right) = (sum.operand(0)?, sum.operand(1)?);
        loads.contains(&left).then(|| u32::try_from(right.constant()?).ok())?
    };
    match stored.as_instruction().filter(|choice| choice.opcode() == LLVMOpcode::LLVMSelect) {
        Some(choice) => Some(Step::Add {
            condition: choice.operand(0),
            if_true: added(choice.operand(1)?)?,
            if_false: added(choice.operand(2)?)?,
        }),
        None => added(stored).map(|by| Step::Add { condition: None, if_true: by, if_false: by }),
    }
}

fn plus(numbers: &Numbers, by: u32) -> Numbers {
    numbers.iter().filter_map(|number| number.checked_add(by)).collect()
}

fn after(numbers: &Numbers, step: Step<'_>) -> Numbers {
    match step {
        Step::Set(number) => Numbers::from([number]),
        Step::Add { if_true, if_false, .. } if if_true == if_false => plus(numbers, if_true),
        Step::Add { if_true, if_false, .. } => &plus(numbers, if_true) | &plus(numbers, if_false),
        Step::Made => Numbers::new(),
    }
}
