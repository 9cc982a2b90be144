//! What a run has cost: events of each function by source line, and the calls between functions.
//!
//! The *exclusive* cost of a function is what its own instructions did: how often each block ran, times its events. It
//! is known from any profile that counts blocks. How often calls were made is known from the same counts; of calls
//! through pointers it is not known whom they called. What a call cost with all that it led to (*inclusive* cost) no
//! count of blocks can tell where a function has several callers: [`calls`] says where it follows all the same.

pub mod calls;
pub mod contexts;
pub mod totals;
pub mod traced;
pub mod view;

use crate::functions::Vouched;
use crate::names::Names;
use crate::unit::{Unit, UnitFunction};
use calls::CallGraph;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{Call, Function, Position};
use cotree_core::ids::{Block, CallId};
use std::collections::BTreeMap;

/// The cost of something: an amount for each of [`EventKind::ALL`], in the same order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost(pub [u128; EventKind::ALL.len()]);

impl Cost {
    /// The cost in events of one kind.
    #[must_use]
    pub const fn of(&self, kind: EventKind) -> u128 {
        self.0[kind as usize]
    }

    /// Is it none at all?
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, amount)| *sum += amount);
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| sum + cost)
    }
}

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
    /// How often it was entered.
    pub entries: u64,
    /// Exclusive cost by line; only lines that ran.
    pub lines: BTreeMap<Line, Cost>,
    /// How often each of its calls was made; only those that were.
    pub calls: Vec<(CallId, u64)>,
}

impl<'a> FunctionCosts<'a> {
    /// The function's exclusive cost.
    #[must_use]
    pub fn exclusive(&self) -> Cost {
        self.lines.values().copied().sum()
    }

    /// Did any of it run?
    #[must_use]
    pub fn ran(&self) -> bool {
        self.entries > 0 || !self.lines.is_empty()
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

fn line_of(function: &Function, span: Option<(Block, u32)>) -> Line {
    let span = span.and_then(|(block, span)| function.blocks.get(block.index())?.lines.get(span as usize));
    span.map_or(Line::default(), |span| Line { inlined: span.inlined, at: Some((span.at.file, span.at.line)) })
}

/// Why a profile does not tell what a run has cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// A trace tells nothing.
    #[error("the trace in {0} can't be followed: {1}")]
    Trace(String, String),
}

/// The costs of all functions of some units.
#[derive(Clone, Debug)]
pub struct Costs<'a> {
    /// The units.
    pub units: &'a [Unit<'a>],
    /// All functions with a profile, unit by unit, in the units' order.
    pub functions: Vec<FunctionCosts<'a>>,
    /// Who called whom.
    pub graph: CallGraph,
    /// What only a trace tells.
    pub traced: Option<traced::Traced>,
    /// Some of the execution is not in the trace.
    pub missing: bool,
}

impl<'a> Costs<'a> {
    /// Derives the costs from counts of blocks.
    #[must_use]
    pub fn new(units: &'a [Unit<'a>]) -> Self {
        let of_unit = |(number, unit): (usize, &'a Unit<'a>)| {
            unit.functions().filter_map(move |function| costs_of(number, function))
        };
        let functions: Vec<FunctionCosts<'a>> = units.iter().enumerate().flat_map(of_unit).collect();
        let graph = CallGraph::new(units, &functions);
        Self { units, functions, graph, traced: None, missing: false }
    }

    /// The inclusive cost of each arc of the graph, if that of all of them is known.
    #[must_use]
    pub fn inclusive(&self) -> Option<Vec<Cost>> {
        match &self.traced {
            Some(traced) => Some(traced.arcs.clone()),
            None => self.graph.inclusive(&self.functions),
        }
    }

    /// The cost of everything.
    #[must_use]
    pub fn total(&self) -> Cost {
        self.functions.iter().map(FunctionCosts::exclusive).sum()
    }

    /// The path of a file of the unit that a function belongs to.
    #[must_use]
    pub fn file(&self, function: &FunctionCosts<'a>, file: u32) -> &'a str {
        self.units[function.unit].file(file)
    }

    /// How many functions are not vouched for.
    #[must_use]
    pub fn doubtful(&self) -> u64 {
        self.units.iter().map(|unit| Vouched::of_unit(unit).doubtful).sum()
    }

    /// Where a function begins.
    #[must_use]
    pub fn position(function: &FunctionCosts<'a>) -> Option<Position> {
        function.function.facts.position
    }

    /// A function's name, and where that is not unique among those that ran, also its module's.
    #[must_use]
    pub fn name(function: &FunctionCosts<'a>, names: Names) -> String {
        names.show(&function.function.facts.symbol)
    }
}

/// What a function has cost, exclusively; `None` if its profile has no counts of blocks.
#[must_use]
pub fn exclusive(function: &UnitFunction<'_>) -> Option<Cost> {
    costs_of(0, *function).map(|costs| costs.exclusive())
}

/// Multiplies counts with events, run by run: what follows a call in its block ran as often as the call returned.
/// `None` if there is no profile of it.
fn costs_of(unit: usize, function: UnitFunction<'_>) -> Option<FunctionCosts<'_>> {
    let facts = function.facts;
    let flow = function.flow()?;
    let events: Vec<FunctionEvents> = EventKind::ALL.iter().map(|&kind| facts.events(kind)).collect();
    let lines = costs_of_counts(facts, &events, |block, after| flow.run(block, after));
    let made = |(call, facts): (CallId, &Call)| Some((call, flow.call(call))).filter(|_| !facts.resume_marker);
    let mut calls: Vec<(CallId, u64)> =
        facts.calls.numbered().filter(|(_, call)| !call.is_fault()).filter_map(made).collect();
    calls.retain(|&(_, count)| count > 0);
    Some(FunctionCosts { unit, entries: flow.entries(), lines, calls, function })
}

/// Multiplies counts with events, run by run; `count` says how often the code of a block behind so many of its calls
/// ran.
fn costs_of_counts(
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
