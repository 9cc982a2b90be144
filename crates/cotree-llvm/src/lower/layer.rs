//! Plans of one function, and what their methods have besides.

use super::method::MethodPart;
use cotree_core::ids::Block;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, Probe};

/// A plan of one function with the places of its counters in the unit's array.
pub struct Layer<'a> {
    /// The plan.
    pub plan: FunctionPlan<'a>,
    /// Where its counters begin.
    pub base: u64,
    /// What the method has besides.
    pub method: MethodPart<'a>,
}

/// The counter of a function's entries, if it has one: it can be what that write goes to.
pub(crate) fn entry_counter(layers: &[Layer<'_>]) -> Option<u64> {
    let counter_of = |layer: &Layer<'_>| {
        layer.plan.probes.iter().find_map(|placed| match (placed.place, placed.probe) {
            (Place::Start(Block(0)), Probe::Count(counter)) => Some(layer.base + u64::from(counter.0)),
            _ => None,
        })
    };
    layers.iter().find_map(counter_of)
}
