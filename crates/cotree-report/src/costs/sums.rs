//! What sums of functions and calls tell, and counts of blocks do not.

use super::cost::Cost;

/// What only sums of functions and calls tell.
#[derive(Clone, Debug, Default)]
pub struct Summed {
    /// The inclusive cost of each of [`Costs::functions`](super::Costs::functions).
    pub functions: Vec<Cost>,
    /// That of each arc of [`Costs::graph`](super::Costs::graph).
    pub arcs: Vec<Cost>,
    /// Every call that led to any event is one of the arcs.
    pub complete: bool,
    /// Inclusive costs are vouched for.
    pub exact: bool,
}
