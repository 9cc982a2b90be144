//! Which blocks of counters shall stand out of the way of the code around them.
//!
//! A counter on an edge may need a block of its own ([`Place::Edge`]). A code generator knows nothing of what that is for: where nothing
//! else tells it which way the branch goes, both are even to it, and the block stands where the other way has to jump around
//! it. In a loop's tight code that costs more than the counter does. It is kept out of the way if it is told that the other way is
//! taken more than four times in five: this is for code generators that lay out blocks as LLVM's does.
//!
//! If the guess is wrong, that costs the counter's way a jump more. So it is made only where a branch is predicted with some
//! certainty, and only in loops: outside of them it gained nothing.

use crate::facts::hints::Hints;
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::Edge;
use crate::plan::FunctionPlan;
use crate::probe::{Place, PlacedProbe, Probe};
use crate::weight::prediction;

/// The way of a counter is predicted to be taken so often at most. (With 0.2 nothing is left of what is gained; from 0.35 on, where
/// tests of pointers and optional calls come in, SQLite takes 2 % more instructions.)
const MOST: f64 = 1.0 / 3.0;

/// Ways that are predicted to be taken less often lead to panics and exceptions for the most part: code generators see those themselves.
const LEAST: f64 = 1.0 / 32.0;

/// The edges with a counter's block that is thought to run seldom, where nothing else tells a code generator so: in edge order.
/// Each is one way of a conditional branch within a loop that neither leaves a loop nor goes back to its header on either
/// way, nor comes to a call of a cold function for certain: code generators know that by themselves, however far away it is.
#[must_use]
pub fn edges_to_cold_counters<'p>(
    function: &Function,
    cfg: &Cfg,
    hints: &Hints,
    plan: impl Into<FunctionPlan<'p>>,
) -> Vec<Edge> {
    let conditional = |edge: Edge| {
        let kind = function.edges.get(edge.index()).map(|facts| facts.kind);
        matches!(kind, Some(EdgeKind::True | EdgeKind::False)) && cfg.succs(cfg.src(edge)).len() == 2
    };
    // A copy stands where a loop is entered, and code generators see loops by themselves.
    let own_block = |placed: &PlacedProbe| match (placed.place, placed.probe) {
        (_, Probe::Linear { .. }) => None,
        (Place::Edge(edge), _) => Some(edge).filter(|&edge| conditional(edge)),
        _ => None,
    };
    let mut edges: Vec<Edge> = plan.into().probes.iter().filter_map(own_block).collect();
    if edges.is_empty() {
        return edges;
    }
    edges.sort_unstable();
    edges.dedup();
    let dfs = Dfs::new(cfg);
    let loops = LoopForest::new(cfg, &dfs);
    let likelihoods = prediction::likelihoods(function, cfg, &dfs, &loops, hints);
    let cold = comes_to_cold(cfg, &dfs, hints);
    let mut weighted = vec![false; cfg.edge_count()];
    for (edge, _) in &hints.weights {
        weighted[edge.index()] = true;
    }
    edges.retain(|&edge| {
        let ways = cfg.succs(cfg.src(edge));
        let border = |&way: &Edge| loops.outermost_left(way).is_some() || dfs.is_backedge(way);
        let known = |&way: &Edge| cold[cfg.dst(way).index()] || weighted[way.index()];
        let all: f64 = ways.iter().map(|way| likelihoods[way.index()]).sum();
        let share = likelihoods[edge.index()] / all;
        loops.innermost(cfg.src(edge)).is_some()
            && !ways.iter().any(|way| border(way) || known(way))
            && (LEAST..=MOST).contains(&share)
    });
    edges
}

/// Per block, whether all ways on from it, turns of loops aside, come to a call of a cold function.
fn comes_to_cold(cfg: &Cfg, dfs: &Dfs, hints: &Hints) -> Vec<bool> {
    let mut cold = vec![false; cfg.block_count()];
    for block in &hints.cold {
        cold[block.index()] = true;
    }
    for &block in dfs.postorder() {
        let mut ways = cfg.succs(block).iter().filter(|&&way| !dfs.is_backedge(way)).peekable();
        cold[block.index()] |= ways.peek().is_some() && ways.all(|&way| cold[cfg.dst(way).index()]);
    }
    cold
}
