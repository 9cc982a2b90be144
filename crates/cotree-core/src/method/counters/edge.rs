//! Edge profiling with edge counters, *Eprof(Ecnt)* (Knuth 1968; Ball & Larus 1994, §3.2).
//!
//! Counters on the chords of a spanning tree determine every edge by Kirchhoff's law, and no fewer can. A maximum
//! spanning tree leaves the cheapest chords. An activation that ends early at a call site of block *b* is an edge
//! *b*→EXIT whose count is known from elsewhere (Fig. 7); one that is revived there is the same, counted negatively.

use super::error::CounterError;
use super::measured::Measured;
use super::readings::Readings;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::flow;
use crate::ids::{Block, Edge, IdMap};
use crate::place::placement::{Placer, add_counter};
use crate::place::spanning::{Extreme, SpanningTree, TreePriority};
use crate::plan::{CounterKey, CounterPlan};
use crate::profile::{EarlyExits, FunctionProfile};
use crate::weight::weighting::Weighting;

/// Puts a counter on each chord of the maximum spanning tree.
#[must_use]
pub fn plan(function: &Function, cfg: &Cfg, weighting: &Weighting) -> CounterPlan {
    plan_extreme(function, cfg, weighting, Extreme::Maximum)
}

/// Puts a counter on each chord of the chosen spanning tree.
#[must_use]
pub fn plan_extreme(function: &Function, cfg: &Cfg, weighting: &Weighting, extreme: Extreme) -> CounterPlan {
    let placer = Placer::new(function, cfg);
    let tree = spanning_tree(&placer, cfg, weighting, extreme);
    plan_counters(&placer, tree.chords())
}

/// The spanning tree in which edges that can't carry a counter of their own come first.
pub fn spanning_tree(placer: &Placer, cfg: &Cfg, weighting: &Weighting, extreme: Extreme) -> SpanningTree {
    SpanningTree::new(cfg, weighting, extreme, |edge| priority(placer, edge))
}

pub(super) fn priority(placer: &Placer, edge: Edge) -> TreePriority {
    match placer.edge(edge) {
        placement if placement.if_taken => TreePriority::Forced,
        placement if placement.needs_jump() => TreePriority::Preferred,
        _ => TreePriority::Plain,
    }
}

/// One counter per edge, in order.
pub(super) fn plan_counters(placer: &Placer, edges: impl Iterator<Item = Edge>) -> CounterPlan {
    let mut plan = CounterPlan::default();
    for edge in edges {
        add_counter(&mut plan, placer.edge(edge));
    }
    plan
}

/// Propagates the chords' counts over the tree (Fig. 6).
///
/// # Errors
/// See [`CounterError`].
pub fn recover(cfg: &Cfg, measured: Measured<'_>) -> Result<FunctionProfile, CounterError> {
    recover_from(cfg, measured, None)
}

/// Recovers the profile of a function whose entries are known from elsewhere.
///
/// # Errors
/// See [`CounterError`].
pub fn recover_entered(cfg: &Cfg, measured: Measured<'_>, entries: i128) -> Result<FunctionProfile, CounterError> {
    recover_from(cfg, measured, Some(entries))
}

fn recover_from(cfg: &Cfg, measured: Measured<'_>, entries: Option<i128>) -> Result<FunctionProfile, CounterError> {
    let mut readings = Readings::new(cfg, measured)?;
    readings.edges_from_blocks(cfg);
    if let Some(entries) = entries {
        readings.entered(cfg, entries);
    }
    fix(cfg, measured.key, &mut readings)?;
    let balanced = propagate(cfg, &mut readings).map_err(|flow::Underdetermined| CounterError::Underdetermined)?;
    Ok(profile(cfg, &readings, balanced, true, measured.early))
}

/// The flows of the backedges that are so many times those of other edges ([`crate::place::affine::fixed`]).
pub(super) fn fix(cfg: &Cfg, key: &CounterKey, readings: &mut Readings) -> Result<(), CounterError> {
    for loops in key.fixed.chunk_by(|a, b| a.depth == b.depth) {
        let mut trial = readings.edges.clone();
        for fixed in &key.fixed {
            let slot = trial.get_mut(fixed.edge).ok_or(CounterError::ForeignGraph)?;
            slot.get_or_insert(0);
        }
        let early = &readings.early;
        law(cfg, &mut trial, early).map_err(|flow::Underdetermined| CounterError::Underdetermined)?;
        for fixed in loops {
            let of = trial.get(fixed.of).copied().flatten().ok_or(CounterError::ForeignGraph)?;
            readings.fixed(fixed, of);
        }
    }
    Ok(())
}

/// The counts of those blocks that the counters determine without the function's entries; signed, as flows are.
///
/// # Errors
/// See [`CounterError`].
pub fn foresee(cfg: &Cfg, measured: Measured<'_>) -> Result<IdMap<Block, Option<i128>>, CounterError> {
    let mut readings = Readings::new(cfg, measured)?;
    readings.edges_from_blocks(cfg);
    Ok(foreseen(cfg, &mut readings))
}

/// The counts of blocks that follow from these readings. What they leave open stays so.
pub(super) fn foreseen(cfg: &Cfg, readings: &mut Readings) -> IdMap<Block, Option<i128>> {
    let _open = propagate(cfg, readings);
    let inflow = |block| cfg.preds(block).iter().map(|&e| readings.edges[e]).sum::<Option<i128>>();
    cfg.blocks().filter(|&b| b != cfg.exit()).map(inflow).collect()
}

/// Applies the law of flow to the blocks of the graph; `false` if the counts break it.
pub(super) fn propagate(cfg: &Cfg, readings: &mut Readings) -> Result<bool, flow::Underdetermined> {
    law(cfg, &mut readings.edges, &readings.early)
}

fn law(cfg: &Cfg, edges: &mut [Option<i128>], early: &[i128]) -> Result<bool, flow::Underdetermined> {
    let links: Vec<(usize, usize)> = cfg.edges().map(|e| (cfg.src(e).index(), cfg.dst(e).index())).collect();
    let surplus = early.iter().map(|&early| -early).collect();
    flow::propagate(&links, edges, surplus)
}

/// The profile that follows from all edges' flows; edges are left out where only blocks are promised.
pub(super) fn profile(
    cfg: &Cfg,
    readings: &Readings,
    balanced: bool,
    with_edges: bool,
    early: &EarlyExits,
) -> FunctionProfile {
    let flow = |edge: Edge| readings.edges[edge].unwrap_or(0);
    let inflow = |b| cfg.preds(b).iter().map(|&e| flow(e)).sum::<i128>();
    let blocks: IdMap<Block, i128> = cfg.blocks().filter(|&b| b != cfg.exit()).map(inflow).collect();
    let entries = flow(cfg.exit_edge());
    let consistent = readings.consistent && balanced && readings.admit(entries, &blocks);
    let edges = with_edges.then(|| cfg.edges().filter(|&e| e != cfg.exit_edge()).map(flow).collect());
    FunctionProfile::from_flows(entries, blocks, edges, early, consistent)
}
