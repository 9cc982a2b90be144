//! Decides whether a value may be poison or undefined so that only our own read of it would notice.
//!
//! - **Noticed by the program.** Where an address or the condition of a branch is computed from a value, poison in it
//!   is undefined behaviour. Behind such a place the value can be read without more ado.
//! - **Too far away.** A variable of 64 bits that starts at a small number and moves by small steps never reaches the
//!   end of its range: no loop runs that long ([`cotree_core::place::affine::LONGEST_RUN`]).
//! - **Undefined** values only come from undefined values, whereas flags of instructions make poison. An undefined
//!   value may differ at each use, and no branch rules that out.

use super::seen::{SeenLoop, Traced};
use crate::ir::{self, At};
use cotree_core::graph::dominators::Dominators;
use cotree_core::ids::Block;
use cotree_core::place::affine::LONGEST_RUN;
use llvm_sys::LLVMOpcode;
use std::collections::{BTreeSet, HashSet};

/// How many uses of a value, and of what is computed from it, are looked at.
const MOST_USES: usize = 48;
/// How many values are looked at to find where a value comes from.
const MOST_SOURCES: usize = 48;

impl<'m> SeenLoop<'_, 'm> {
    /// Is it undefined behaviour of the program to come to the end of the block if the value is poison there?
    pub(super) fn noticed_before(&self, value: impl Into<ir::Value<'m>>, end: Block, dominators: &Dominators) -> bool {
        let places = noticing(value.into());
        places.iter().any(|place| self.numbers.get(place).is_some_and(|&block| dominators.dominates(block, end)))
    }

    /// Would it take years until the variable wraps around?
    pub(super) fn never_gets_far(&self, variable: &Traced<'m>) -> bool {
        let limit = 1i64 << (62 - LONGEST_RUN);
        if variable.bits != 64 || !variable.phi.ty().is_integer() {
            return false;
        }
        let starts: Option<Vec<i64>> = self.initial(variable.phi).map(|(value, _)| value.signed_constant()).collect();
        let steps: Option<Vec<i64>> =
            variable.increments.iter().map(|&increment| self.increment(increment).map(|(_, by)| by)).collect();
        let (Some(starts), Some(steps)) = (starts, steps) else { return false };
        // An increment runs at most so often as any loop goes around.
        let near = starts.iter().all(|start| start.unsigned_abs() < 1 << 61)
            && steps.iter().try_fold(0i64, |sum, by| sum.checked_add(by.checked_abs()?)).is_some_and(|s| s <= limit);
        let rises = starts.iter().chain(&steps).all(|&n| n >= 0);
        near && (rises || !variable.increments.iter().any(|&i| self.poisonous(i).1))
    }

    /// Is the value the same at each use behind the end of the block, whatever happens?
    pub(super) fn defined(&self, value: ir::Value<'m>, end: Block, dominators: &Dominators) -> bool {
        let function = self.handles.function;
        certain(function, value)
            || (value.as_instruction().is_some()
                && never_undefined(function, value)
                && self.noticed_before(value, end, dominators))
    }
}

/// Blocks that can't be passed if the value is poison.
fn noticing(value: ir::Value<'_>) -> BTreeSet<ir::Block<'_>> {
    let mut places = BTreeSet::new();
    let mut work = vec![value];
    let mut left = MOST_USES;
    while let Some(poison) = work.pop() {
        for user in poison.users().into_iter().filter_map(ir::Value::as_instruction) {
            let Some(rest) = left.checked_sub(1) else { return places };
            left = rest;
            let noticed = match user.opcode() {
                LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => true,
                LLVMOpcode::LLVMStore => user.operand(1) == Some(poison),
                opcode => {
                    if opcode == LLVMOpcode::LLVMICmp || passes_on(opcode) {
                        work.push(user.into());
                    }
                    false
                }
            };
            places.extend(user.block().filter(|_| noticed));
        }
    }
    places
}

/// Does the instruction give poison for poison, and nothing undefined for what is defined?
fn passes_on(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMGetElementPtr
    )
}

/// Can the value be poison at worst, and not undefined?
fn never_undefined<'m>(function: ir::Function<'m>, value: ir::Value<'m>) -> bool {
    let mut seen = HashSet::from([value]);
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if certain(function, value) {
            continue;
        }
        let Some(instruction) = value.as_instruction().filter(|_| seen.len() <= MOST_SOURCES) else { return false };
        let sources: Vec<ir::Value<'m>> = if let Some(phi) = instruction.as_phi() {
            phi.entries().map(|(value, _)| value).collect()
        } else if passes_on(instruction.opcode()) {
            instruction.operands().collect()
        } else {
            return false;
        };
        work.extend(sources.into_iter().filter(|&source| seen.insert(source)));
    }
    true
}

/// Is the value neither undefined nor poison, by its own nature?
pub(super) fn certain<'m>(function: ir::Function<'m>, value: ir::Value<'m>) -> bool {
    if value.is_parameter() {
        let number = (0..function.parameter_count()).find(|&i| function.parameter(i) == Some(value));
        return number.is_some_and(|number| function.has_attribute(At::Parameter(number), "noundef"));
    }
    if let Some(instruction) = value.as_instruction() {
        return match instruction.opcode() {
            LLVMOpcode::LLVMFreeze | LLVMOpcode::LLVMAlloca => true,
            LLVMOpcode::LLVMSExt => instruction.operand(0).is_some_and(|narrow| certain(function, narrow)),
            _ => false,
        };
    }
    // Not: undef, poison, and expressions that may come to that.
    value.is_constant_int() || value.is_zero() || value.as_variable().is_some() || value.as_function().is_some()
}
