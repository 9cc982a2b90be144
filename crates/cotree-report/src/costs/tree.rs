//! The tree of calling contexts, which only a trace tells (Ammons, Ball & Larus 1997).

use super::cost::Cost;
use cotree_core::ids::{Block, CallId, FunctionId};
use std::collections::BTreeMap;

/// A node of the calling context tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The node around it, an index into the tree.
    pub parent: Option<usize>,
    /// The call in the parent's function that led here; `None` where that was between calls, as signal handlers run.
    pub call: Option<CallId>,
    /// The function.
    pub function: FunctionId,
}

/// What is known from a trace besides what functions cost.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// The calling context tree, parents first.
    pub nodes: Vec<Node>,
    /// Per node, how often each piece of code ran: a block's instructions behind so many of its calls.
    pub pieces: Vec<BTreeMap<(Block, u32), u64>>,
    /// Inclusive cost per arc of the call graph, in its order.
    pub arcs: Vec<Cost>,
    /// Inclusive cost per function of the costs, in their order: of its outermost activations.
    pub functions: Vec<Cost>,
}
