//! Finds branches that are almost never taken: those that end in a panic, an abort or an exception.
//!
//! An edge out of a block is *doomed* if only `unreachable` (after a call that does not return) or `resume` can follow.
//! Backedges, and edges into a loop that may go on, are not doomed. Doomed edges and the unwind edges of
//! calls count as [`UNLIKELY`]; so the tree takes the others, and counters go where almost nothing runs.

use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::ids::{Block, Edge, IdMap};

/// The likelihood of an edge that only an exception or a failed check takes, beside 1 for any other.
pub const UNLIKELY: f64 = 1.0 / 1024.0;

/// Per edge, EXIT→entry included, its likelihood among the edges of its block.
#[must_use]
pub fn likelihoods(function: &Function, cfg: &Cfg) -> IdMap<Edge, f64> {
    let mut doomed = cfg.per_block(false);
    let kind = |edge: Edge| function.edges.get(edge).map(|facts| facts.kind);
    let is_doomed = |edge: Edge, doomed: &IdMap<Block, bool>| match kind(edge) {
        Some(EdgeKind::Unreachable | EdgeKind::Resume) => true,
        _ => doomed[cfg.dst(edge)],
    };
    // Blocks come after all blocks that their edges lead to, except by backedges. These are not doomed, and so no
    // loop-entry is, since the source of a backedge is not. EXIT itself is not doomed either.
    for &block in Dfs::new(cfg).postorder().iter().filter(|&&b| b != cfg.exit()) {
        let edges = cfg.succs(block);
        doomed[block] = !edges.is_empty() && edges.iter().all(|&edge| is_doomed(edge, &doomed));
    }
    let unlikely = |edge| is_doomed(edge, &doomed) || kind(edge) == Some(EdgeKind::InvokeUnwind);
    cfg.edges().map(|edge| if unlikely(edge) { UNLIKELY } else { 1.0 }).collect()
}
