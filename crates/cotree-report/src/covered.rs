//! Values of the compiler's own coverage counters, from our counts of blocks.

use crate::terminal::counted;
use crate::unit::Unit;
use cotree_core::facts::CoveredFunction;
use std::collections::BTreeMap;

/// The counters of the functions that the coverage map of the compiler knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageCounters<'a> {
    /// The values of each function's counters, in their order.
    pub functions: BTreeMap<&'a CoveredFunction, Vec<u64>>,
    /// How often each test vector of its decisions occurred, in the order of the vectors. Functions without decisions
    /// are not there.
    pub vectors: BTreeMap<&'a CoveredFunction, Vec<u64>>,
    /// The counters that stand in functions without counts: what is missing in the values.
    pub not_counted: u64,
}

impl CoverageCounters<'_> {
    /// A sentence for the user if something is missing.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        (self.not_counted > 0).then(|| {
            let counters = counted(self.not_counted.into(), "coverage counter");
            format!("{counters} in functions that were not counted: less is covered here than ran")
        })
    }
}

/// The counters in the units of a profile. Each is the sum of the counts of the places where it stood; code behind a
/// call that did not return has not run.
#[must_use]
pub fn coverage_counters<'a>(units: &[Unit<'a>]) -> CoverageCounters<'a> {
    let mut counters = CoverageCounters::default();
    for function in units.iter().flat_map(Unit::functions).filter(|function| !function.facts.anchors.is_empty()) {
        let flow = function.flow();
        for anchor in &function.facts.anchors {
            let Some(covered) = function.module.covered.get(anchor.function as usize) else { continue };
            let number = anchor.counter as usize;
            let (map, index, count) = match number.checked_sub(covered.counters as usize) {
                Some(vector) => (&mut counters.vectors, vector, covered.vectors),
                None => (&mut counters.functions, number, covered.counters),
            };
            let values = map.entry(covered).or_insert_with(|| vec![0; count as usize]);
            match (&flow, values.get_mut(index)) {
                (Some(flow), Some(value)) => {
                    *value = value.saturating_add(flow.anchor(anchor));
                }
                _ => counters.not_counted += 1,
            }
        }
    }
    counters
}
