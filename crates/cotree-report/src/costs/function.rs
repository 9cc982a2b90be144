//! What functions have cost by themselves, line by line.

use super::cost::Cost;
use crate::unit::UnitFunction;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{Call, Function};
use cotree_core::ids::{Block, CallId};
use std::collections::BTreeMap;

/// A line of a function: of its own code, or of a function that was inlined into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The inlined copy, an index into [`Function::inlined`].
    pub inlined: Option<u32>,
    /// The file, an index into the unit's files, and the line. `None` for code of the compiler's own, and where there
    /// is no debug information.
    pub at: Option<(u32, u32)>,
}

/// What one function has cost.
#[derive(Clone, Debug)]
pub struct FunctionCosts<'a> {
    /// The unit, an index into the list that the costs were made from.
    pub unit: usize,
    /// The function.
    pub function: UnitFunction<'a>,
    /// How often it was entered; `None` where only its calls by name are counted, and others may enter it.
    pub entries: Option<u64>,
    /// Exclusive cost by line; only lines that ran.
    pub lines: BTreeMap<Line, Cost>,
    /// How often each of its calls was made; only those that were, or that were under way when counting began.
    pub calls: Vec<(CallId, u64)>,
}

impl<'a> FunctionCosts<'a> {
    /// The function's exclusive cost.
    #[must_use]
    pub fn exclusive(&self) -> Cost {
        self.lines.values().copied().sum()
    }

    /// Did any of it run, or of what it called?
    #[must_use]
    pub fn ran(&self) -> bool {
        self.entries.is_some_and(|entries| entries > 0) || !self.lines.is_empty() || !self.calls.is_empty()
    }

    /// The line of a call.
    #[must_use]
    pub fn line_of_call(&self, call: CallId) -> Line {
        let facts: &Function = self.function.facts;
        line_of(facts, facts.calls.get(call).and_then(|call| Some((call.block, call.line?.span))))
    }

    /// The facts of a call.
    #[must_use]
    pub fn call(&self, call: CallId) -> Option<&'a Call> {
        self.function.facts.calls.get(call)
    }
}

/// The line of a span of a block.
pub(super) fn line_of(function: &Function, span: Option<(Block, u32)>) -> Line {
    let span = span.and_then(|(block, span)| function.blocks.get(block)?.lines.get(span as usize));
    span.map_or(Line::default(), |span| Line { inlined: span.inlined, at: Some((span.at.file, span.at.line)) })
}

/// What a function has cost, exclusively; `None` if its profile has no counts of blocks.
#[must_use]
pub fn exclusive(function: &UnitFunction<'_>) -> Option<Cost> {
    costs_of(0, *function).map(|costs| costs.exclusive())
}

/// Multiplies counts with events, run by run: what follows a call in its block ran as often as the call returned.
/// `None` if there is no profile of it.
pub(super) fn costs_of(unit: usize, function: UnitFunction<'_>) -> Option<FunctionCosts<'_>> {
    let facts = function.facts;
    let flow = function.flow()?;
    let events: Vec<FunctionEvents> = EventKind::ALL.iter().map(|&kind| facts.events(kind)).collect();
    let lines = costs_of_counts(facts, &events, |block, after| flow.run(block, after));
    let made = |(call, facts): (CallId, &Call)| Some((call, flow.call(call))).filter(|_| !facts.resume_marker);
    let mut calls: Vec<(CallId, u64)> =
        facts.calls.numbered().filter(|(_, call)| !call.is_fault()).filter_map(made).collect();
    calls.retain(|&(_, count)| count > 0);
    Some(FunctionCosts { unit, entries: Some(flow.entries()), lines, calls, function })
}

/// Multiplies counts with events, run by run; `count` says how often the code of a block behind so many of its calls
/// ran.
pub(super) fn costs_of_counts(
    facts: &Function,
    events: &[FunctionEvents],
    count: impl Fn(Block, u32) -> u64,
) -> BTreeMap<Line, Cost> {
    let mut lines: BTreeMap<Line, Cost> = BTreeMap::new();
    for (index, block_facts) in facts.blocks.iter().enumerate() {
        let block = Block::new(index);
        let of_kinds: Vec<&[u64]> = events.iter().map(|events| events.runs(block)).collect();
        for (number, run) in block_facts.runs.iter().enumerate() {
            let count = u128::from(count(block, run.after_calls));
            if count > 0 {
                let cost = Cost(std::array::from_fn(|kind| u128::from(of_kinds[kind][number]) * count));
                *lines.entry(line_of(facts, run.span.map(|span| (block, span)))).or_default() += cost;
            }
        }
    }
    lines
}
