//! Requests for vectors that clang forgets.
//!
//! For `c ? x : y` clang asks for the vector of `c` only where the result is a number or a pointer and `c` itself is
//! the decision: not where the result is an object, a reference or a complex number, and not in `!(a && b) ? x : y`.
//! The conditions still add up the vector's number, but in a variable that is not set to 0 before. The map says which
//! decisions there are; a condition is found by the counter that stands behind one of its outcomes. What is missing
//! is put before the first condition, and on the edges that make the decision.

use super::UPDATE;
use super::sums::{Step, Sum};
use crate::coverage::increments::{self, INCREMENT};
use crate::coverage::text::text_of;
use crate::ir::phis::{self, Move};
use crate::ir::{Block, Builder, Call, Function, Instruction, Value};
use crate::module::Module;
use cotree_core::decision::Next;
use cotree_profile::coverage::{Counter, MappedDecision, decisions_of_record, name_hash};
use llvm_sys::LLVMOpcode;
use std::collections::{BTreeSet, HashMap};

/// What the names of records of the map begin with.
const RECORDS: &str = "__covrec_";

/// The records of a module's map: by hash of the function's name and by structural hash.
pub(super) struct Records<'m>(HashMap<(u64, u64), Value<'m>>);

impl<'m> Records<'m> {
    /// Finds the records.
    pub(super) fn of(module: &'m Module) -> Self {
        let records = module.variables().filter(|variable| variable.name().starts_with(RECORDS));
        let record = |record: crate::ir::Variable<'m>| {
            let parts = record.initial_value()?;
            let key = (parts.operand(0)?.constant()?, parts.operand(2)?.constant()?);
            Some((key, parts.operand(4)?))
        };
        Self(records.filter_map(record).collect())
    }

    /// The decisions of a function.
    fn decisions(&self, name: &str, hash: u64) -> Vec<MappedDecision> {
        let record = self.0.get(&(name_hash(name), hash)).and_then(|record| record.constant_bytes());
        record.and_then(|mapping| decisions_of_record(&mapping)).unwrap_or_default()
    }
}

/// A place where a condition has its outcome.
struct Place<'m> {
    /// The branch on the condition.
    branch: Instruction<'m>,
    /// The variable that the vector's number is added up in.
    variable: Value<'m>,
    /// Where the variable is read.
    load: Instruction<'m>,
    /// What is added if it is false and if it is true.
    added: [u32; 2],
    /// The counters of the function that stand directly behind each outcome.
    counters: [BTreeSet<u64>; 2],
}

/// Asks for the vectors of decisions of a function that nobody asks for.
pub(super) fn ask<'m>(module: &'m Module, function: Function<'m>, parameters: Call<'m>, records: &Records<'m>) {
    let [name, hash, _] = parameters.arguments().collect::<Vec<_>>()[..] else { return };
    let (Some(text), Some(number)) = (text_of(name), hash.constant()) else { return };
    let requested: BTreeSet<u64> = function
        .instructions()
        .filter_map(|instruction| instruction.as_call())
        .filter(|call| call.intrinsic().as_deref() == Some(UPDATE))
        .filter_map(|call| call.arguments().nth(2).and_then(Value::constant))
        .collect();
    let mut missing = records.decisions(&text, number);
    missing.retain(|decision| !requested.contains(&decision.first.into()));
    if missing.is_empty() {
        return;
    }
    let places: Vec<Place<'m>> = function.instructions().filter_map(place).collect();
    for decision in missing {
        let Some((loads, edges)) = ends(&decision, &places) else { continue };
        for (load, variable) in loads {
            Builder::before(module, load).store(module.int32().constant(0), variable);
        }
        for (branch, index, variable) in edges {
            request(module, branch, index, &[name, hash, module.int32().constant(decision.first.into()), variable]);
        }
    }
}

/// The branch on a condition that is added to a variable just before.
fn place(branch: Instruction<'_>) -> Option<Place<'_>> {
    let condition = branch.condition()?;
    let block = branch.block()?;
    let is_sum = |store: &Instruction<'_>| {
        let stored = store.operand(0).and_then(Value::as_instruction);
        store.opcode() == LLVMOpcode::LLVMStore
            && stored.is_some_and(|sum| sum.opcode() == LLVMOpcode::LLVMSelect && sum.operand(0) == Some(condition))
    };
    let store = block.instructions().filter(is_sum).last()?;
    let variable = store.operand(1)?;
    let is_load = |load: &Instruction<'_>| load.opcode() == LLVMOpcode::LLVMLoad && load.operand(0) == Some(variable);
    let load = block.instructions().take_while(|&other| other != store).filter(is_load).last()?;
    let steps = Sum::unsolved(variable).steps(block).ok()?;
    let &(_, Step::Add { condition: Some(added), if_true, if_false }) = steps.last()? else { return None };
    let counters = |index| branch.successor(index).map(counters).unwrap_or_default();
    (added == condition).then(|| Place {
        branch,
        variable,
        load,
        added: [if_false, if_true],
        counters: [counters(1), counters(0)],
    })
}

/// The counters that a block begins with.
fn counters(block: Block<'_>) -> BTreeSet<u64> {
    let calls = block.instructions().map_while(|instruction| instruction.as_call());
    let asks = calls.filter(|call| call.intrinsic().as_deref() == Some(INCREMENT));
    asks.filter_map(|call| call.arguments().nth(3).and_then(Value::constant)).collect()
}

/// Where the first condition of a decision reads which variable, and the edges that make the decision: the branch,
/// which of its successors, and the variable.
type Ends<'m> = (Vec<(Instruction<'m>, Value<'m>)>, Vec<(Instruction<'m>, u32, Value<'m>)>);

/// Finds the ends of a decision. `None`: a condition is not found.
fn ends<'m>(decision: &MappedDecision, places: &[Place<'m>]) -> Option<Ends<'m>> {
    let (mut loads, mut edges) = (Vec::new(), Vec::new());
    for (number, region) in (0u16..).zip(&decision.conditions) {
        let (taken, not_taken) = region.kind.counters();
        let added = decision.numbering.added[usize::from(number)];
        let is_counted_by = |place: &Place<'_>, outcome: bool, counter| match counter {
            Counter::Value(counter) => place.counters[usize::from(outcome)].contains(&u64::from(counter)),
            _ => false,
        };
        let mut own = places
            .iter()
            .filter(|place| is_counted_by(place, true, taken) || is_counted_by(place, false, not_taken))
            .peekable();
        own.peek()?;
        for place in own {
            if place.added != added {
                return None;
            }
            if number == 0 {
                loads.push((place.load, place.variable));
            }
            for (index, outcome) in [(0, true), (1, false)] {
                if matches!(decision.graph.next(number, outcome), Next::Made(_)) {
                    edges.push((place.branch, index, place.variable));
                }
            }
        }
    }
    Some((loads, edges))
}

/// Puts a request on an edge.
fn request<'m>(module: &'m Module, branch: Instruction<'m>, index: u32, arguments: &[Value<'m>]) {
    let (Some(next), Some(from)) = (branch.successor(index), branch.block()) else { return };
    let edge = module.insert_block(next);
    let builder = Builder::at_end(module, edge);
    increments::call(&builder, UPDATE, arguments);
    builder.jump(next);
    branch.set_successor(index, edge);
    if let Some(first) = next.first() {
        let moved = [Move { from, to: edge, all: false }];
        phis::redirect(next, &moved, &Builder::before(module, first));
    }
}
