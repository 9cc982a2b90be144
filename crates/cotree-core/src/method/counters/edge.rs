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
use crate::place::affine::{AffineVariable, Replacements};
use crate::place::placement::{Placer, add_block_counter, add_counter};
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

/// The plan for fast code: a counter on each chord of the spanning tree that is greatest under
/// [`Placer::prices`], with affine variables in place of counters wherever that is cheaper (Frenot & Pereira 2024).
/// For `recover` the two are the same.
#[must_use]
pub fn plan_affine(function: &Function, cfg: &Cfg, weighting: &Weighting, variables: &[AffineVariable]) -> CounterPlan {
    plan_with_replacements(function, cfg, weighting, &Replacements::new(function, cfg, weighting, variables))
}

/// Plans as [`plan`] does, for loop variables that have been judged.
#[must_use]
pub fn plan_with_replacements(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    replacements: &Replacements,
) -> CounterPlan {
    Chords::new(function, cfg, weighting, replacements).plan(false).0
}

/// The plan of a function whose entries are known from elsewhere, with what it saves per run; `None` if it would
/// not save a counter (a function that never returns).
#[must_use]
pub fn plan_entered(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    replacements: &Replacements,
) -> Option<(CounterPlan, f64)> {
    plan_both(function, cfg, weighting, replacements).1
}

/// The plan of a function whose code counts its entries in any case: that counter is the last one, and one of the
/// others is saved.
#[must_use]
pub fn plan_counting_entries(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    replacements: &Replacements,
) -> CounterPlan {
    let (alone, entered) = plan_both(function, cfg, weighting, replacements);
    match entered {
        Some((mut plan, _)) if cfg.preds(Block(0)) == [cfg.exit_edge()] => {
            add_block_counter(&mut plan, Block(0));
            plan
        }
        _ => alone,
    }
}

/// [`plan_with_replacements`] and [`plan_entered`] at once.
#[must_use]
pub fn plan_both(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    replacements: &Replacements,
) -> (CounterPlan, Option<(CounterPlan, f64)>) {
    let chords = Chords::new(function, cfg, weighting, replacements);
    let (alone, cost) = chords.plan(false);
    let (entered, less) = chords.plan(true);
    let entered = (entered.key.measures.len() < alone.key.measures.len()).then_some((entered, cost - less));
    (alone, entered)
}

/// The input of a plan for fast code.
struct Chords<'a> {
    cfg: &'a Cfg,
    replacements: &'a Replacements,
    placer: Placer<'a>,
    prices: Weighting,
}

impl<'a> Chords<'a> {
    fn new(function: &'a Function, cfg: &'a Cfg, weighting: &Weighting, replacements: &'a Replacements) -> Self {
        let placer = Placer::new(function, cfg);
        let prices = replacements.prices(cfg, &placer.prices(cfg, weighting));
        Self { cfg, replacements, placer, prices }
    }

    /// A counter or a variable for each chord, with what they cost; `entered`: entries are known.
    fn plan(&self, entered: bool) -> (CounterPlan, f64) {
        let Self { cfg, replacements, placer, prices } = self;
        let tree = SpanningTree::nested(cfg, prices, entered, |edge| priority(placer, edge), &replacements.fixed);
        let mut plan = CounterPlan::default();
        plan.key.fixed.clone_from(&replacements.fixed.edges);
        for edge in tree.chords() {
            match replacements.of(edge) {
                Some((_, replacement)) => replacement.add(&mut plan),
                None => add_counter(&mut plan, placer.edge(edge)),
            }
        }
        (plan, tree.chord_cost(prices))
    }
}

/// The spanning tree in which edges that can't carry a counter of their own come first.
pub fn spanning_tree(placer: &Placer, cfg: &Cfg, weighting: &Weighting, extreme: Extreme) -> SpanningTree {
    SpanningTree::new(cfg, weighting, extreme, |edge| priority(placer, edge))
}

fn priority(placer: &Placer, edge: Edge) -> TreePriority {
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
fn fix(cfg: &Cfg, key: &CounterKey, readings: &mut Readings) -> Result<(), CounterError> {
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
    // What the counters leave open stays so.
    let _open = propagate(cfg, &mut readings);
    let inflow = |block| cfg.preds(block).iter().map(|&e| readings.edges[e]).sum::<Option<i128>>();
    Ok(cfg.blocks().filter(|&b| b != cfg.exit()).map(inflow).collect())
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
