//! Vertex profiling with vertex counters, *Vprof(Vcnt)* (Knuth & Stevenson 1973).
//!
//! Ball & Larus give no algorithm for it, only the reference: "Optimal measurement points for program frequency
//! counts", BIT 13. Call two edges alike if they have the same source or the same target, and take the classes that
//! follow. All flow out of a block goes into the one class of its out-edges, all flow into it comes from the one class
//! of its in-edges: so each block is a link from its in-class to its out-class, Kirchhoff's law holds at every class,
//! and the argument of edge profiling applies to this quotient graph: blocks off a spanning tree determine the others.
//! (Knuth & Stevenson merge the *blocks* that share a predecessor; merging their in-sides is the same quotient.)
//!
//! EXIT is a link of the quotient too, its count is the number of entries, and no counter can stand there: it seeds the
//! tree. Only where the entry block is in a loop with a block that leads to EXIT can it fall off the tree; then the
//! edges to EXIT are counted instead. LLVM's entry blocks have no predecessors.

use super::error::CounterError;
use super::measured::Measured;
use super::readings::Readings;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::flow;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, Edge, IdMap};
use crate::place::placement::{Placer, add_block_counter, add_counter};
use crate::plan::CounterPlan;
use crate::profile::FunctionProfile;
use crate::weight::weighting::Weighting;

/// The quotient graph: per block (EXIT included) the classes of its in-edges and of its out-edges.
struct Quotient {
    /// Links (in-class, out-class), by block.
    links: IdMap<Block, (usize, usize)>,
    /// How many numbers are used for classes (not all of them need occur).
    classes: usize,
}

impl Quotient {
    fn new(cfg: &Cfg) -> Self {
        let (mut sides, blocks) = split_sides(cfg, cfg.edges());
        let links = (0..blocks).map(|b| (sides.find(b), sides.find(blocks + b))).collect();
        Self { links, classes: 2 * blocks }
    }
}

/// Joins, for each of the edges, the out-side of its source with the in-side of its target; block `b`'s in-side is
/// element `b`, its out-side element `blocks + b`. Gives the number of blocks (EXIT included) too.
pub(super) fn split_sides(cfg: &Cfg, edges: impl Iterator<Item = Edge>) -> (UnionFind, usize) {
    let blocks = cfg.block_count();
    let mut sides = UnionFind::new(2 * blocks);
    for edge in edges {
        sides.union(cfg.dst(edge).index(), blocks + cfg.src(edge).index());
    }
    (sides, blocks)
}

/// Counts entries into the blocks off a maximum spanning tree of the quotient graph.
#[must_use]
pub fn plan(function: &Function, cfg: &Cfg, weighting: &Weighting) -> CounterPlan {
    let quotient = Quotient::new(cfg);
    let mut joined = UnionFind::new(quotient.classes);
    let mut take = |block: Block| {
        let (from, to) = quotient.links[block];
        joined.union(from, to)
    };
    let exit_in_tree = take(cfg.exit());
    let mut offers: Vec<Block> = cfg.blocks().filter(|&b| b != cfg.exit()).collect();
    offers.sort_by(|&a, &b| weighting.block(b).total_cmp(&weighting.block(a)));
    let mut counted: Vec<Block> = offers.into_iter().filter(|&b| !take(b)).collect();
    counted.sort_unstable();

    let mut plan = CounterPlan::default();
    for block in counted {
        add_block_counter(&mut plan, block);
    }
    if !exit_in_tree {
        let placer = Placer::new(function, cfg);
        for &edge in cfg.preds(cfg.exit()) {
            add_counter(&mut plan, placer.counter(edge));
        }
    }
    plan
}

/// Propagates the counted blocks over the quotient graph.
///
/// # Errors
/// See [`CounterError`].
pub fn recover(cfg: &Cfg, measured: Measured<'_>) -> Result<FunctionProfile, CounterError> {
    let readings = Readings::new(cfg, measured)?;
    let quotient = Quotient::new(cfg);
    let exit = cfg.exit();

    // A link carries the entries into its block; of these, the early exits never reach the out-class. For EXIT the
    // opposite holds: it passes on more than its edges bring.
    let mut surplus = vec![0i128; quotient.classes];
    for (&(_, out), &early) in quotient.links.iter().zip(&readings.early) {
        surplus[out] -= early;
    }
    let mut entered = readings.blocks.clone();
    let returned: Option<i128> = cfg.preds(cfg.exit()).iter().map(|&e| readings.edges[e]).sum();
    // Without a counted edge to EXIT (or any such edge) its count is for the law of flow to find.
    entered.push(returned.filter(|_| !cfg.preds(cfg.exit()).is_empty()));

    let balanced = flow::propagate(&quotient.links, &mut entered, surplus)
        .map_err(|flow::Underdetermined| CounterError::Underdetermined)?;
    let mut blocks: IdMap<Block, i128> = entered.into_iter().map(|count| count.unwrap_or(0)).collect();
    let entries = blocks.split_off(exit.index())[0] - readings.early[exit];
    let consistent = readings.consistent && balanced && readings.admit(entries, &blocks);
    Ok(FunctionProfile::from_flows(entries, blocks, None, measured.early, consistent))
}
