//! Vertex profiling with edge counters, *Vprof(Ecnt)* (Ball & Larus 1994, §3.3).
//!
//! Block counts need fewer edge counters than edge counts do: a cycle of edges without counters does no harm if the
//! directions of its edges alternate all along it (a *pipeless* cycle). Then at each block, an excess on one edge
//! of the cycle cancels a deficit on another. The theorem of §3.3.1: the counters determine the blocks iff every
//! simple cycle of the other edges is pipeless.
//!
//! **The test.** Split every block into an in-side and an out-side, so that each edge joins the out-side of its source
//! to the in-side of its target. A pipeless cycle is still a cycle there, a pipe breaks it. So all simple cycles among
//! a set of edges are pipeless iff splitting loses no cycle, i.e. iff the edges' rank is the same in both graphs, i.e.
//! iff splitting `n` blocks adds exactly `n` components. Two passes of union-find decide this ([`determines_blocks`]).
//!
//! **The heuristic** is that of Fig. 11 without its marks. A chord of the maximum spanning tree needs no counter if
//! its fundamental cycle is pipeless, i.e. if the tree joins its two sides in the split graph. The paper then marks
//! the cycle's blocks and accepts no other cycle that touches them, lest two pipeless cycles combine into a simple
//! piped one. They can't: around a pipeless cycle the signed inflows of each block cancel, so they cancel in every
//! combination of such cycles, whereas at the pipe of a simple cycle one inflow stands alone. So all such chords are
//! freed at once, in any order.
//!
//! **Edges that follow from others.** The backedge of a loop of known length runs so many times as often as the edge by
//! which that loop is left ([`crate::place::affine::fixed`]), so the flow of *that* edge must be determined, and no
//! cycle may run through it. Cycles are combinations of the freed chords' fundamental cycles: it is enough that none of
//! these does. (Where all blocks can be reached, none could: the tree has no such backedge, so a cycle that leaves the
//! loop by its only exit comes back into the header and goes on by an edge out of it, and the header is a pipe.)

use super::edge;
use super::error::CounterError;
use super::measured::Measured;
use super::readings::Readings;
use super::vertex::split_sides;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::flow;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, Edge, IdMap};
use crate::place::placement::Placer;
use crate::place::spanning::{Extreme, SpanningTree};
use crate::plan::{CounterKey, CounterPlan, FixedEdge};
use crate::profile::FunctionProfile;
use crate::weight::weighting::Weighting;

/// Counts the chords of the maximum spanning tree, save those whose fundamental cycle is pipeless.
#[must_use]
pub fn plan(function: &Function, cfg: &Cfg, weighting: &Weighting) -> CounterPlan {
    let placer = Placer::new(function, cfg);
    let tree = edge::spanning_tree(&placer, cfg, weighting, Extreme::Maximum);
    edge::plan_counters(&placer, counted(cfg, &tree))
}

/// The chords that keep their counters.
pub fn counted<'a>(cfg: &'a Cfg, tree: &'a SpanningTree) -> impl Iterator<Item = Edge> + 'a {
    counted_with(cfg, tree, &[])
}

/// The chords that keep their counters where some edges follow from others ([`FixedEdge::of`]): no cycle of edges
/// without counters runs through those others, so that their own flow is determined.
pub(super) fn counted_with<'a>(
    cfg: &'a Cfg,
    tree: &'a SpanningTree,
    fixed: &'a [FixedEdge],
) -> impl Iterator<Item = Edge> + 'a {
    let told = move |edge| fixed.iter().any(|fixed| fixed.of == edge);
    let (mut sides, blocks) = split_sides(cfg, cfg.edges().filter(|&e| tree.contains(e) && !told(e)));
    let mut pipeless = move |e: Edge| sides.same(cfg.dst(e).index(), blocks + cfg.src(e).index());
    tree.chords().filter(move |&e| told(e) || !pipeless(e))
}

/// Is every simple cycle of these edges pipeless, so that counters on all the others determine every block?
#[must_use]
pub fn determines_blocks(cfg: &Cfg, uncounted: &[Edge]) -> bool {
    let (split, blocks) = split_sides(cfg, uncounted.iter().copied());
    let mut whole = UnionFind::new(blocks);
    for &edge in uncounted {
        whole.union(cfg.src(edge).index(), cfg.dst(edge).index());
    }
    split.sets() == whole.sets() + blocks
}

/// Breaks the cycles of uncounted edges and propagates (Fig. 8).
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
    break_cycles(cfg, measured.key, &mut readings, |_| true)?;
    edge::fix(cfg, measured.key, &mut readings)?;
    let balanced =
        edge::propagate(cfg, &mut readings).map_err(|flow::Underdetermined| CounterError::Underdetermined)?;
    Ok(edge::profile(cfg, &readings, balanced, false, measured.early))
}

/// The counts of those blocks that the counters determine without the function's entries; signed, as flows are.
///
/// # Errors
/// See [`CounterError`].
pub fn foresee(cfg: &Cfg, measured: Measured<'_>) -> Result<IdMap<Block, Option<i128>>, CounterError> {
    let mut readings = Readings::new(cfg, measured)?;
    readings.edges_from_blocks(cfg);
    // Cycles through EXIT→entry may have pipes. They stay, and no block on them is foreseen.
    break_cycles(cfg, measured.key, &mut readings, |edge| edge != cfg.exit_edge())?;
    Ok(edge::foreseen(cfg, &mut readings))
}

/// Gives one edge of each cycle of uncounted edges the flow 0. Any flow would do: it shifts the flows of the cycle's
/// other edges, but not the counts of blocks. (So a negative flow in the cycle is no sign of trouble; only blocks are
/// looked at.) Edges that follow from others are not of the cycles, nor are those that are not `considered`.
fn break_cycles(
    cfg: &Cfg,
    key: &CounterKey,
    readings: &mut Readings,
    considered: impl Fn(Edge) -> bool,
) -> Result<(), CounterError> {
    let follows = |edge: Edge| key.fixed.iter().any(|fixed| fixed.edge == edge);
    let unknown = |e: &Edge| readings.edges[*e].is_none() && considered(*e) && !follows(*e);
    let uncounted: Vec<Edge> = cfg.edges().filter(unknown).collect();
    if !determines_blocks(cfg, &uncounted) {
        return Err(CounterError::Underdetermined);
    }
    // The edges that others follow from come last: on no cycle, each joins what was apart.
    let told = |edge: Edge| key.fixed.iter().any(|fixed| fixed.of == edge);
    let (last, first): (Vec<Edge>, Vec<Edge>) = uncounted.into_iter().partition(|&edge| told(edge));
    let mut joined = UnionFind::new(cfg.block_count());
    for edge in first {
        if !joined.union(cfg.src(edge).index(), cfg.dst(edge).index()) {
            readings.edges[edge] = Some(0);
        }
    }
    for edge in last {
        if !joined.union(cfg.src(edge).index(), cfg.dst(edge).index()) {
            return Err(CounterError::Underdetermined);
        }
    }
    Ok(())
}
