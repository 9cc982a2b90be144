//! Loops of known length, which always go around equally often: their backedges need neither counter nor variable.
//!
//! If a loop goes around *n* times each time that it is entered, and is left by its only exit, its backedge runs *n*
//! times as often as the exit. That is one more equation beside flow conservation, and saves one counter. To keep
//! recovery simple, the spanning tree spans each such loop separately, without its backedge. So the flow that is
//! assumed for the backedge changes no flow outside of the loop. We first assume zero for all backedges. Flow
//! conservation then gives the true flow of the exits of the outermost loops, and these give their backedges. The next
//! round does the same for the loops inside, and so on, one round for each depth of nesting.

use super::region::LoopRegion;
use crate::graph::cfg::Cfg;
use crate::graph::loops::LoopForest;
use crate::ids::{Edge, IdMap, Loop};
use crate::plan::{FixedEdge, MOST_FIXED_DEPTH};
use std::collections::BTreeMap;

/// The loops of one function that always go around equally often.
#[derive(Clone, Debug, Default)]
pub struct FixedLoops {
    /// Their backedges, those of outer loops first.
    pub edges: Vec<FixedEdge>,
    /// Per edge, in how many of the loops it lies; empty if there are none.
    depths: IdMap<Edge, u32>,
}

impl FixedLoops {
    /// Sorts out the loops that are said to go around equally often: `rounds` has them with their surveys.
    pub(super) fn new(cfg: &Cfg, loops: &LoopForest, rounds: &BTreeMap<Loop, (u64, &LoopRegion)>) -> Self {
        let mut edges = Vec::new();
        let mut depths: IdMap<Loop, u32> = IdMap::filled(0, loops.len());
        for l in loops.loops() {
            let around = loops.parent(l).map_or(0, |outer| depths[outer]);
            depths[l] = around;
            let Some(&(times, region)) = rounds.get(&l).filter(|_| around < MOST_FIXED_DEPTH) else { continue };
            let mut back = region.edges().filter(|&e| cfg.dst(e) == loops.header(l));
            if let (Some(edge), None, &[(of, _)]) = (back.next(), back.next(), &region.exits[..]) {
                edges.push(FixedEdge { edge, times, of, depth: around });
                depths[l] = around + 1;
            }
        }
        if edges.is_empty() {
            return Self::default();
        }
        edges.sort_by_key(|fixed| (fixed.depth, fixed.edge));
        let depth = |e: Edge| loops.common(cfg.src(e), cfg.dst(e)).map_or(0, |l| depths[l]);
        let depths = cfg.edges().map(|e| if e == cfg.exit_edge() { 0 } else { depth(e) }).collect();
        Self { edges, depths }
    }

    /// In how many of the loops the edge lies.
    #[must_use]
    pub fn depth(&self, edge: Edge) -> u32 {
        self.depths.get(edge).copied().unwrap_or(0)
    }
}
