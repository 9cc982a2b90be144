//! The costs of a run.

use super::calls::CallGraph;
use super::cost::Cost;
use super::function::{FunctionCosts, costs_of};
use super::sums::Summed;
use super::tree::Traced;
use crate::functions::Vouched;
use crate::names::Names;
use crate::unit::Unit;
use cotree_core::facts::Position;
use cotree_core::facts::events::EventKind;

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
    pub traced: Option<Traced>,
    /// What only sums of functions and calls tell.
    pub summed: Option<Summed>,
    /// The kinds of events that are known.
    pub kinds: Vec<EventKind>,
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
        Self { units, functions, graph, traced: None, summed: None, kinds: EventKind::ALL.to_vec(), missing: false }
    }

    /// The inclusive cost of each arc of the graph, if that of all of them is known.
    #[must_use]
    pub fn inclusive(&self) -> Option<Vec<Cost>> {
        match (&self.traced, &self.summed) {
            (Some(traced), _) => Some(traced.arcs.clone()),
            (None, Some(summed)) => Some(summed.arcs.clone()),
            (None, None) => self.graph.inclusive(&self.functions),
        }
    }

    /// The inclusive cost of a function, an index into [`Self::functions`], if it is known.
    #[must_use]
    pub fn inclusive_of(&self, function: usize) -> Option<Cost> {
        let traced = self.traced.as_ref().map(|traced| &traced.functions);
        let known = traced.or(self.summed.as_ref().map(|summed| &summed.functions))?;
        known.get(function).copied()
    }

    /// The inclusive cost of each arc, if no call but these led to anything.
    #[must_use]
    pub fn complete_inclusive(&self) -> Option<Vec<Cost>> {
        self.inclusive().filter(|_| self.summed.as_ref().is_none_or(|summed| summed.complete))
    }

    /// Why a kind of events is not known; `None` if it is.
    #[must_use]
    pub fn why_unknown(&self, kind: EventKind) -> Option<String> {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let counted = names.join(",");
        let build = match self.summed {
            Some(_) => format!("--profile events-calls={counted},{}", kind.name()),
            None => "--profile edge".to_owned(),
        };
        (!self.kinds.contains(&kind)).then(|| {
            format!(
                "the profile has no counts of {}, but of {counted}: name one with --event, or build with {build}",
                kind.name()
            )
        })
    }

    /// Are all inclusive costs that are known vouched for?
    #[must_use]
    pub fn inclusive_exact(&self) -> bool {
        !self.missing && self.sums_exact()
    }

    /// Are the sums of functions and calls vouched for, if there are any? What functions did themselves is the
    /// difference of these.
    #[must_use]
    pub fn sums_exact(&self) -> bool {
        self.summed.as_ref().is_none_or(|summed| summed.exact)
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
