//! Values of the compiler's own coverage counters, from our counts of blocks.

use crate::unit::Unit;
use cotree_core::facts::CoveredFunction;
use std::collections::BTreeMap;

/// The counters of the functions that the coverage map of the compiler knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageCounters {
    /// The values of each function's counters, in their order.
    pub functions: BTreeMap<CoveredFunction, Vec<u64>>,
    /// The counters that stand in functions without counts: what is missing in the values.
    pub not_counted: u64,
}

/// The counters in the units of a profile. Each is the sum of the counts of the places where it stood; code behind a
/// call that did not return has not run.
#[must_use]
pub fn coverage_counters(units: &[Unit<'_>]) -> CoverageCounters {
    let mut counters = CoverageCounters::default();
    for function in units.iter().flat_map(Unit::functions).filter(|function| !function.facts.anchors.is_empty()) {
        let flow = function.flow();
        for anchor in &function.facts.anchors {
            let Some(covered) = function.module.covered.get(anchor.function as usize) else { continue };
            let values =
                counters.functions.entry(covered.clone()).or_insert_with(|| vec![0; covered.counters as usize]);
            match (&flow, values.get_mut(anchor.counter as usize)) {
                (Some(flow), Some(value)) => {
                    *value = value.saturating_add(flow.after(anchor.block, anchor.after_sites));
                }
                _ => counters.not_counted += 1,
            }
        }
    }
    counters
}
