//! The places of a function at which conditions of the source have an outcome: branches, and stores of truth values.

use super::source::{Condition, Kind, Place};
use crate::ir::{Block, Function, Instruction, Location, Value};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::HashMap;

/// Where something is, within one copy of the source: the file, the place, and the call that it was inlined by.
pub(super) type At<'m> = (String, Place, Option<Location<'m>>);

/// What may tell the outcome of a condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Teller<'m> {
    /// A branch, and whether its first successor is where the condition is true.
    Branch(Instruction<'m>, bool),
    /// A store of the decision's value, which is that of its last condition, or the opposite.
    Store(Instruction<'m>, bool),
}

impl<'m> Teller<'m> {
    pub(super) fn block(self) -> Option<Block<'m>> {
        match self {
            Self::Branch(instruction, _) | Self::Store(instruction, _) => instruction.block(),
        }
    }
}

/// The branches of a function and its stores of truth values, by where they are.
#[derive(Default)]
pub(super) struct Places<'m> {
    branches: HashMap<At<'m>, Vec<Instruction<'m>>>,
    stores: HashMap<At<'m>, Vec<Instruction<'m>>>,
    /// The copies of each line's code.
    pub(super) copies: HashMap<(String, u32), Vec<Option<Location<'m>>>>,
}

impl<'m> Places<'m> {
    /// Looks through a function. `path` tells the path of a location's file.
    pub(super) fn of(function: Function<'m>, path: &mut dyn FnMut(Location<'m>) -> String) -> Self {
        let mut places = Self::default();
        for instruction in function.instructions() {
            let Some(location) = instruction.location().filter(|location| location.line() > 0) else { continue };
            let (path, copy) = (path(location), location.inlined_at());
            let copies = places.copies.entry((path.clone(), location.line())).or_default();
            if !copies.contains(&copy) {
                copies.push(copy);
            }
            let at = (path, (location.line(), location.column()), copy);
            match instruction.opcode() {
                LLVMOpcode::LLVMBr if instruction.condition().is_some() && !is_check(instruction) => {
                    places.branches.entry(at).or_default().push(instruction);
                }
                LLVMOpcode::LLVMStore if instruction.operand(0).is_some_and(|value| value.ty().bits() == Some(8)) => {
                    places.stores.entry(at).or_default().push(instruction);
                }
                _ => {}
            }
        }
        places
    }

    /// What tells the outcomes of a condition in a copy of its code; `None` if that is not clear.
    pub(super) fn tellers(
        &self,
        path: &str,
        condition: &Condition,
        copy: Option<Location<'m>>,
        is_last_value: bool,
    ) -> Option<Vec<Teller<'m>>> {
        let at = |place| (path.to_owned(), place, copy);
        if is_last_value {
            let places = match condition.negated_at {
                Some(place) => [Some(place), None, None],
                None => [condition.parenthesis, Some(condition.start), condition.method],
            };
            let mut stores: Vec<_> = places
                .into_iter()
                .flatten()
                .filter_map(|place| self.stores.get(&at(place)))
                .flatten()
                .copied()
                .collect();
            stores.dedup();
            // All are of one variable, or some is of another thing.
            let variable = stores.first()?.operand(1);
            let of_one = stores.iter().all(|store| store.operand(1) == variable);
            let teller = |store| Teller::Store(store, condition.negated_at.is_some());
            return of_one.then(|| stores.into_iter().map(teller).collect());
        }
        let mut places = [condition.parenthesis, Some(condition.start)].into_iter().flatten();
        let mut branches = places.find_map(|place| self.branches.get(&at(place)))?.clone();
        if branches.len() > 1 && !branches.iter().all(|branch| same_kind(*branch, branches[0])) {
            // A condition that branches itself, as a macro does, leaves its outcome in memory.
            branches.retain(|branch| is_from_memory(*branch));
            if branches.len() != 1 {
                return None;
            }
        }
        branches.into_iter().map(|branch| Some(Teller::Branch(branch, is_true_first(branch, condition.kind)))).collect()
    }
}

/// Whether two branches may be copies of one: they ask for the same comparison.
fn same_kind(one: Instruction<'_>, other: Instruction<'_>) -> bool {
    let kind = |branch: Instruction<'_>| {
        let asked = branch.condition().and_then(Value::as_instruction);
        (asked.map(|asked| (asked.opcode() as u32, asked.int_predicate())), is_from_memory(branch))
    };
    kind(one) == kind(other) && !is_from_memory(one)
}

/// Whether a branch asks for a truth value that was in memory.
fn is_from_memory(branch: Instruction<'_>) -> bool {
    let cut = branch.condition().and_then(Value::as_instruction).filter(|cut| cut.opcode() == LLVMOpcode::LLVMTrunc);
    let value = cut.and_then(|cut| cut.operand(0)).and_then(Value::as_instruction);
    value.is_some_and(|value| value.opcode() == LLVMOpcode::LLVMLoad && value.ty().bits() == Some(8))
}

/// Whether the first successor of a branch is where the condition is true. rustc branches on a comparison with a
/// constant as it does on a `match`: by equality.
fn is_true_first(branch: Instruction<'_>, kind: Kind) -> bool {
    let asked = branch.condition().and_then(Value::as_instruction).and_then(|asked| asked.int_predicate());
    let equal = match asked {
        Some(LLVMIntPredicate::LLVMIntEQ) => true,
        Some(LLVMIntPredicate::LLVMIntNE) => false,
        _ => return true,
    };
    match kind {
        Kind::Comparison { unequal } => equal != unequal,
        _ => true,
    }
}

/// Whether a branch is a check that rustc has put in: one side panics, at the very place of the branch.
fn is_check(branch: Instruction<'_>) -> bool {
    let place = |location: Option<Location<'_>>| location.map(|location| (location.line(), location.column()));
    let here = place(branch.location());
    branch.successors().any(|side| {
        side.instructions().filter_map(|instruction| instruction.as_call().map(|call| (instruction, call))).any(
            |(instruction, call)| {
                place(instruction.location()) == here
                    && call.callee().is_some_and(|callee| callee.name().contains("9panicking"))
            },
        )
    })
}
