//! Plans of single functions: probes, and what the counters among them mean.
//!
//! A plan has two halves. The *probes* are applied to the code: back ends and the interpreter read nothing else. The
//! *key* is kept with the program: it turns the counts of a run into a profile. All methods use counters, so their
//! plans and keys are here; other parts of a method's plan are in its module below [`crate::method`].

use crate::ids::{Block, Edge, FunctionId};
use crate::probe::PlacedProbe;
use serde::{Deserialize, Serialize};

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Traversals of the edge (for an edge to EXIT: executions of that terminator).
    Edge(Edge),
    /// Entries into the block, whether or not it was left by one of its edges.
    Block(Block),
}

/// What the counters of one function mean. They are numbered from 0 within the function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterKey {
    /// What counter number `i` means.
    pub measures: Vec<Measure>,
    /// Edges that need no counter, those of outer loops first.
    #[serde(skip)]
    pub fixed: Vec<FixedEdge>,
}

/// The counters of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterPlan {
    /// What is applied, in the order in which probes run at each place.
    pub probes: Vec<PlacedProbe>,
    /// What is kept to recover the profile.
    pub key: CounterKey,
}

/// The plan of one function as every method can show it: all its probes, and what the counters among them mean.
#[derive(Clone, Copy, Debug)]
pub struct FunctionPlan<'a> {
    /// What is applied, in the order in which probes run at each place.
    pub probes: &'a [PlacedProbe],
    /// How many counters it has.
    pub counters: usize,
    /// What counter number `i` means, if counters of the method mean blocks and edges; else nothing.
    pub measures: &'a [Measure],
    /// Edges that need no counter.
    pub fixed: &'a [FixedEdge],
}

impl<'a> FunctionPlan<'a> {
    /// Probes whose counters mean blocks and edges.
    #[must_use]
    pub fn new(probes: &'a [PlacedProbe], key: &'a CounterKey) -> Self {
        Self { probes, counters: key.measures.len(), measures: &key.measures, fixed: &key.fixed }
    }
}

impl<'a> From<&'a CounterPlan> for FunctionPlan<'a> {
    fn from(plan: &'a CounterPlan) -> Self {
        Self::new(&plan.probes, &plan.key)
    }
}

/// An edge that runs a fixed number of times for each time that another one runs. It is the backedge of a loop of known
/// length, and the other one is the edge by which that loop is left ([`crate::place::affine::fixed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedEdge {
    /// The edge that needs no counter.
    pub edge: Edge,
    /// How often it runs each time that the other one does.
    pub times: u64,
    /// The other one.
    pub of: Edge,
    /// In how many loops of the kind this one lies, less than [`MOST_FIXED_DEPTH`].
    pub depth: u32,
}

/// The greatest nesting depth of loops of known length, because recovery takes a round for each depth. Deeper ones are
/// treated as ordinary loops.
pub const MOST_FIXED_DEPTH: u32 = 8;

/// One place from which a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPoint {
    /// The caller.
    pub function: FunctionId,
    /// The block that calls.
    pub block: Block,
    /// How many call sites of the block come before the call: it runs only if those calls return.
    pub after_sites: u32,
}

/// A function whose activations are not counted: their number is the sum over its callers' call points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedEntry {
    /// The function.
    pub function: FunctionId,
    /// Everything that calls it, in order; a point with several calls is listed as often.
    pub calls: Vec<CallPoint>,
}
