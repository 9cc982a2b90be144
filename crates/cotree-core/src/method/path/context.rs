//! Paths with context, which says how the loop was reached (Melski & Reps 1998, §7).
//!
//! A plain path that begins after a backedge has forgotten all before. Here each loop-entry *v* is two nodes
//! (Transformation 1: where *v* is entered and where it is left) with two edges between them: the block itself, and a
//! surrogate for every turn but the first. A path that begins after a backedge *w*→*v* has the number of some path from
//! ENTRY to *v*, then the surrogate, then the path around the loop: a *context-prefix* and an *active suffix*. Only the
//! suffix has been executed anew, so only it counts for blocks and edges.
//!
//! The register's value at each loop-entry is kept in a register of its own (`pathNumOnEntryToV`) on the edges that
//! enter the loop, and after a backedge the path register is that value plus the surrogate's increment. So the loop
//! must have been entered through its header: a function with an irreducible loop has no context profile
//! ([`PathError::Irreducible`]).
//!
//! Self-loops are counted separately, as in plain path profiles. A loop has no context if some computed goto enters its
//! header on an edge that can hold no probe, because its header is then a cut block. The few loops in which paths are
//! cut because of their number have no context either.

use super::classes::{Class, EdgeClasses};
use super::cuts;
use super::error::PathError;
use super::graph::{PathGraph, Role};
use super::increments::Increments;
use super::numbering::Numbering;
use super::types::Cuts;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap};
use crate::probe::{Place, PlacedProbe, Probe, Reg};

/// The cuts that any numbering with context needs.
///
/// # Errors
/// [`PathError::Irreducible`].
pub fn necessary(function: &Function, cfg: &Cfg, classes: &EdgeClasses) -> Result<Cuts, PathError> {
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    if let Some(irreducible) = loops.loops().find(|&l| loops.is_irreducible(l)) {
        return Err(PathError::Irreducible(loops.header(irreducible)));
    }
    let mut cuts = cuts::necessary(function, cfg, classes);
    let unplaceable = |e: &Edge| !matches!(classes.class(*e), Class::Placeable(_));
    let blind = |l: Block| cfg.preds(l).iter().any(|e| *e != cfg.exit_edge() && unplaceable(e));
    cuts.blocks.extend(loops.loops().map(|l| loops.header(l)).filter(|&header| blind(header)));
    cuts.blocks.sort_unstable();
    cuts.blocks.dedup();
    let edges = std::mem::take(&mut cuts.edges);
    cuts.loops = edges.into_iter().filter(|&e| cuts.blocks.binary_search(&cfg.dst(e)).is_err()).collect();
    Ok(cuts)
}

/// Where the path register is kept, and where it is taken up again.
pub(super) fn copies(
    cfg: &Cfg,
    numbering: &Numbering,
    increments: &Increments,
    classes: &EdgeClasses,
) -> Vec<PlacedProbe> {
    let graph: &PathGraph = numbering.graph();
    // Per loop-entry, what its surrogate adds.
    let mut surrogate: IdMap<Block, Option<i64>> = cfg.per_block(None);
    let mut turn = cfg.per_edge(false);
    for arc in 0..graph.arc_count() {
        match graph.role(arc) {
            Role::Again(block) => surrogate[block] = Some(increments.increment[arc]),
            Role::EndOfTurn(edge) => turn[edge] = true,
            _ => {}
        }
    }
    let copy = |edge: Edge| {
        let header = cfg.dst(edge);
        let again = surrogate[header]?;
        let context = Reg::LoopContext(header);
        // At least two edges enter a loop-entry, so this is never its start.
        let place @ (Place::End(_) | Place::Edge(_)) = placeable(classes, edge)? else { return None };
        let probe = if turn[edge] {
            Probe::copy(Reg::PathSum, context, again)
        } else if cfg.src(edge) == header {
            return None;
        } else {
            Probe::copy(context, Reg::PathSum, 0)
        };
        Some(PlacedProbe { place, probe })
    };
    cfg.edges().filter(|&e| e != cfg.exit_edge()).filter_map(copy).collect()
}

fn placeable(classes: &EdgeClasses, edge: Edge) -> Option<Place> {
    match classes.class(edge) {
        Class::Placeable(place) => Some(place),
        _ => None,
    }
}
