//! Finds cold counter blocks, which a code generator should keep out of line.
//!
//! A counter on an edge may need a block of its own ([`Place::Edge`]). The code generator does not know what the block
//! is for. Without other information it takes both edges of the branch to be equally likely, and the other edge may
//! have to jump around the block. In a tight loop that costs more than the counter does. The code generator keeps the
//! block out of line if branch weights say that the other edge is taken more than four times in five, as LLVM's layout
//! of blocks does.
//!
//! If the guess is wrong, the counter's edge costs one more jump. So we guess only where a branch is predicted with
//! some certainty, and only in loops, since it gained nothing elsewhere.

use crate::facts::hints::Hints;
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap};
use crate::plan::FunctionPlan;
use crate::probe::{Place, PlacedProbe, Probe};
use crate::weight::prediction;

/// The greatest predicted share of a cold counter's edge. (With 0.2 there is no gain at all; from 0.35 on, which
/// includes tests of pointers and optional calls, SQLite takes 2 % more instructions.)
const MOST: f64 = 1.0 / 3.0;

/// The least share: rarer edges mostly lead to panics and exceptions, which code generators see themselves.
const LEAST: f64 = 1.0 / 32.0;

/// The edges with a cold counter block that a code generator would not recognise by itself, in edge order.
/// Each is one edge of a conditional branch within a loop. No edge of the branch leaves a loop, goes back to the
/// header, or certainly comes to a call of a cold function: code generators recognise these, however far away they are.
#[must_use]
pub fn edges_to_cold_counters<'p>(
    function: &Function,
    cfg: &Cfg,
    hints: &Hints,
    plan: impl Into<FunctionPlan<'p>>,
) -> Vec<Edge> {
    let conditional = |edge: Edge| {
        let kind = function.edges.get(edge).map(|facts| facts.kind);
        matches!(kind, Some(EdgeKind::True | EdgeKind::False)) && cfg.succs(cfg.src(edge)).len() == 2
    };
    // A copy is where a loop is entered, and code generators recognise loops.
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
    let mut weighted = cfg.per_edge(false);
    for &(edge, _) in &hints.weights {
        weighted[edge] = true;
    }
    edges.retain(|&edge| {
        let edges = cfg.succs(cfg.src(edge));
        let border = |&edge: &Edge| loops.outermost_left(edge).is_some() || dfs.is_backedge(edge);
        let known = |&edge: &Edge| cold[cfg.dst(edge)] || weighted[edge];
        let all: f64 = edges.iter().map(|&edge| likelihoods[edge]).sum();
        let share = likelihoods[edge] / all;
        loops.innermost(cfg.src(edge)).is_some()
            && !edges.iter().any(|edge| border(edge) || known(edge))
            && (LEAST..=MOST).contains(&share)
    });
    edges
}

/// Per block, whether all paths on from it, turns of loops aside, come to a call of a cold function.
fn comes_to_cold(cfg: &Cfg, dfs: &Dfs, hints: &Hints) -> IdMap<Block, bool> {
    let mut cold = cfg.per_block(false);
    for &block in &hints.cold {
        cold[block] = true;
    }
    for &block in dfs.postorder() {
        let mut edges = cfg.succs(block).iter().filter(|&&edge| !dfs.is_backedge(edge)).peekable();
        cold[block] |= edges.peek().is_some() && edges.all(|&edge| cold[cfg.dst(edge)]);
    }
    cold
}
