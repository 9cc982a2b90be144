//! The decisions of the coverage map, with what occurred of them.

use super::decision::{CountedDecision, DecisionCondition};
use super::functions::CountedFunction;
use super::uses::uses;
use cotree_core::decision::{Decision, Next};
use cotree_profile::coverage::{Counter, MappedDecision, MappedDecisions, MappedFunction, Region, VirtualFile};

/// What is known of the decisions of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The decisions, in the order of the map.
    pub decisions: Vec<CountedDecision>,
    /// Decisions of the map that make no sense, and are left out.
    pub unreadable: u64,
}

impl CountedFunction<'_> {
    /// The decisions of the function.
    #[must_use]
    pub fn decisions(&self) -> Decisions {
        let mut mapped = MappedDecisions::of(&self.function.regions, self.function.files.len());
        mapped.decisions.retain(|decision| !self.is_excluded_region(decision.index));
        mapped.unreadable.retain(|&index| !self.is_excluded_region(index));
        let mut all = Decisions { decisions: Vec::new(), unreadable: mapped.unreadable.len() as u64 };
        for decision in mapped.decisions {
            match self.decision(decision) {
                Some(counted) => all.decisions.push(counted),
                None => all.unreadable += 1,
            }
        }
        all
    }

    fn decision(&self, mapped: MappedDecision) -> Option<CountedDecision> {
        let MappedDecision { region: decided, conditions: regions, mut graph, numbering, first, .. } = mapped;
        let MappedFunction { name_hash, structural_hash, .. } = *self.function;
        let opposite = self.map.outcomes.opposite(name_hash, structural_hash, first);
        for &number in opposite.into_iter().flatten() {
            let (condition, outcome) = numbering.last(number)?;
            graph.make(condition, outcome, !outcome);
        }
        // A function that never ran has no counts.
        let counts = match self.vectors.as_slice() {
            [] => &[],
            vectors => vectors.get(first as usize..)?.get(..numbering.vectors as usize)?,
        };
        let knows_vectors = counts.iter().any(|&count| count > 0) || !self.is_made(&graph, &regions);
        // Places of conditions in macros tell no order.
        let condition = |&number: &u16| {
            let region = &regions[usize::from(number)];
            let (taken, not_taken) = region.kind.counters();
            DecisionCondition {
                number,
                start: region.start,
                end: region.end,
                of_macro: region.file != decided.file,
                constant: taken == Counter::Zero || not_taken == Counter::Zero,
            }
        };
        let VirtualFile(file) = decided.file;
        let used = uses(self.function, self.main_file)[file as usize];
        Some(CountedDecision {
            path: self.path(decided.file).to_owned(),
            symbol: self.function.symbol().to_owned(),
            start: decided.start,
            end: decided.end,
            line: used.unwrap_or(decided.start).line,
            conditions: graph.order().iter().map(condition).collect(),
            // No code was made of functions that nobody uses.
            knows_outcomes: opposite.is_some() && structural_hash != 0,
            knows_vectors,
            table: graph.table(&numbering, counts),
        })
    }

    /// Whether an outcome of a condition that makes the decision was seen.
    fn is_made(&self, graph: &Decision, conditions: &[Region]) -> bool {
        (0u16..).zip(conditions).any(|(number, condition)| {
            let index = self.function.regions.iter().position(|region| region == condition);
            let seen = index.and_then(|index| self.counts.get(index)).copied().unwrap_or_default();
            [(false, seen.not_taken), (true, seen.count)]
                .into_iter()
                .any(|(outcome, count)| count > 0 && matches!(graph.next(number, outcome), Next::Made(_)))
        })
    }
}
