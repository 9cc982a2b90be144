//! Ranges of the counts of a whole unit, where the entries of some functions follow from their callers.

use super::function::{FunctionBounds, Part};
use super::narrowing::Narrowing;
use super::range::{Range, UNBOUNDED, reconcile};
use crate::facts::{Call, EdgeFacts, EdgeKind};
use crate::ids::{Block, FunctionId};
use crate::method::counters::CounterError;
use crate::place::supergraph::executions;
use crate::plan::{CallPoint, DerivedEntry};
use crate::profile::EarlyExits;
use std::collections::VecDeque;

/// The ranges of the counts of all uncertain functions of a unit, whose entries may follow from each other. `None`: the
/// function's counts are exact, or nothing of it was measured.
///
/// # Errors
/// See [`CounterError`].
pub fn bounds(
    parts: &[Option<Part<'_>>],
    entries: &[DerivedEntry],
) -> Vec<Option<Result<FunctionBounds, CounterError>>> {
    let mut states: Vec<Option<Result<Narrowing<'_>, CounterError>>> = parts
        .iter()
        .map(|part| match part {
            Some(Part::Uncertain(uncertain)) => Some(Narrowing::new(*uncertain)),
            _ => None,
        })
        .collect();
    Callers { parts, entries, states: &mut states }.narrow();
    states.into_iter().map(|state| Some(state?.map(|state| state.bounds()))).collect()
}

/// Functions whose entries follow from their callers: what is known of one narrows the other.
struct Callers<'c, 'a> {
    parts: &'c [Option<Part<'a>>],
    entries: &'c [DerivedEntry],
    states: &'c mut Vec<Option<Result<Narrowing<'a>, CounterError>>>,
}

impl<'a> Callers<'_, 'a> {
    fn narrow(&mut self) {
        let mut concerned: Vec<Vec<usize>> = vec![Vec::new(); self.parts.len()];
        for (index, entry) in self.entries.iter().enumerate() {
            for function in entry.calls.iter().map(|call| call.function).chain([entry.function]) {
                if let Some(list) = concerned.get_mut(function.index()).filter(|list| list.last() != Some(&index)) {
                    list.push(index);
                }
            }
        }
        let mut work: VecDeque<usize> = (0..self.entries.len()).collect();
        let mut waits = vec![true; self.entries.len()];
        // Each range is right at any time. Where narrowing goes on for long, it is given up.
        for _ in 0..64 * self.entries.len() {
            let Some(index) = work.pop_front() else { break };
            waits[index] = false;
            for changed in self.narrow_entry(index) {
                for &other in &concerned[changed] {
                    if !std::mem::replace(&mut waits[other], true) {
                        work.push_back(other);
                    }
                }
            }
        }
    }

    /// Narrows the entries of a function by its callers, and its callers by its entries. Gives the functions of which
    /// something was narrowed.
    fn narrow_entry(&mut self, index: usize) -> Vec<usize> {
        let DerivedEntry { function, calls } = &self.entries[index];
        let Some(mut points) = calls.iter().map(|call| self.point(call)).collect::<Option<Vec<Range>>>() else {
            return Vec::new();
        };
        let mut changed = Vec::new();
        let live = self.live_callees(calls);
        if self.with(function.index(), |state| state.live_at_most(live)) {
            changed.push(function.index());
        }
        let mut entered = match (self.parts[function.index()], &self.states[function.index()]) {
            (Some(Part::Exact(_, profile)), _) => Range::exactly(profile.entries.into()),
            (_, Some(Ok(state))) => state.edges[state.cfg.exit_edge()],
            _ => return Vec::new(),
        };
        let before = entered;
        let mut all: Vec<&mut Range> = points.iter_mut().collect();
        if !reconcile(&mut entered, &mut all) {
            return Vec::new();
        }
        if entered != before && self.with(function.index(), |state| state.enter(entered)) {
            changed.push(function.index());
        }
        for (call, range) in calls.iter().zip(points) {
            let caller = call.function.index();
            if self.with(caller, |state| state.call(call, range)) {
                changed.push(caller);
            }
        }
        changed
    }

    /// How many activations of a function may be live that only these calls enter: each has its caller below it on the
    /// stack. The optimiser may make a jump of a call before a return, and the caller is gone then.
    fn live_callees(&self, calls: &[CallPoint]) -> i128 {
        let mut blocks: Vec<(FunctionId, Block)> = calls.iter().map(|call| (call.function, call.block)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let live_in = |(caller, block): (FunctionId, Block)| {
            let Some(Some(Part::Uncertain(uncertain))) = self.parts.get(caller.index()) else { return 0 };
            let function = uncertain.measured.function;
            let as_written = function.calls.iter().any(Call::is_fault);
            let returns = |edge: &EdgeFacts| edge.src == block && edge.kind == EdgeKind::Return;
            if !as_written && function.edges.iter().any(returns) {
                return UNBOUNDED;
            }
            match self.states.get(caller.index()) {
                Some(Some(Ok(state))) => state.live_in(block),
                _ => UNBOUNDED,
            }
        };
        blocks.into_iter().map(live_in).sum::<i128>().min(UNBOUNDED)
    }

    fn with(&mut self, function: usize, change: impl FnOnce(&mut Narrowing<'a>) -> bool) -> bool {
        match self.states.get_mut(function) {
            Some(Some(Ok(state))) => change(state),
            _ => false,
        }
    }

    /// How often a call was made.
    fn point(&self, call: &CallPoint) -> Option<Range> {
        match (self.parts.get(call.function.index())?.as_ref()?, self.states.get(call.function.index())?) {
            (Part::Exact(function, profile), _) => {
                let early = EarlyExits { at_site: profile.early.clone() };
                let entered = profile.blocks.get(call.block).copied()?;
                Some(Range::exactly(executions(function, &early, entered.into(), call.block, call.after_sites)))
            }
            (Part::Uncertain(_), Some(Ok(state))) => state.point(call),
            _ => None,
        }
    }
}
