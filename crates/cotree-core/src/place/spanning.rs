//! Maximum and minimum spanning trees of a weighted control-flow graph (Ball & Larus 1994, §2 and §3.2).
//!
//! Kruskal's algorithm over the undirected graph: edges are offered in order of weight, and each is taken unless it
//! would close a cycle. EXIT→entry is offered before all others, so that it never needs a counter ("the maximum
//! spanning tree algorithm can be seeded with the edge EXIT → root"). A graph in several pieces gets a spanning forest.

use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::{Edge, IdMap};
use crate::place::affine::fixed::FixedLoops;
use crate::weight::weighting::Weighting;
use std::cmp::Reverse;

/// Which tree is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Counters end up in the coldest places, as profiling wants.
    Maximum,
    /// Counters end up in the hottest places: the worst tree, for comparison (Ball & Larus 1994, Graph 4).
    Minimum,
}

/// How strongly an edge should be in the tree, weight aside. The order is that in which edges are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreePriority {
    /// Offered before every edge of a lesser priority, whatever its weight: a counter on it would be awkward.
    Forced,
    /// Offered before edges of the same weight: a counter on it would need a jump.
    Preferred,
    /// Only its weight counts.
    Plain,
}

/// A spanning tree (or forest); the edges off it are the chords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanningTree {
    in_tree: IdMap<Edge, bool>,
    /// Edges that are neither in the tree nor chords, in order.
    excluded: Vec<Edge>,
}

impl SpanningTree {
    /// The extreme tree. Deterministic: ties go to the stronger priority, then to the lower edge number.
    #[must_use]
    pub fn new(cfg: &Cfg, weighting: &Weighting, extreme: Extreme, priority: impl Fn(Edge) -> TreePriority) -> Self {
        Self::offered(cfg, weighting, extreme, priority, |_| Some(0), true)
    }

    /// The maximum tree that spans each of the loops separately, without their backedges: these are neither in the tree
    /// nor chords. With `entered`, neither is EXIT→entry, since its count is known from elsewhere.
    #[must_use]
    pub fn nested(
        cfg: &Cfg,
        weighting: &Weighting,
        entered: bool,
        priority: impl Fn(Edge) -> TreePriority,
        loops: &FixedLoops,
    ) -> Self {
        let mut excluded: Vec<Edge> = loops.edges.iter().map(|fixed| fixed.edge).collect();
        excluded.extend(entered.then(|| cfg.exit_edge()));
        excluded.sort_unstable();
        let depth = |edge| if excluded.binary_search(&edge).is_ok() { None } else { Some(loops.depth(edge)) };
        let tree = Self::offered(cfg, weighting, Extreme::Maximum, priority, depth, !entered);
        Self { excluded, ..tree }
    }

    /// Offers all edges but those without a depth, the deepest first; `seeded`: EXIT→entry before them all.
    fn offered(
        cfg: &Cfg,
        weighting: &Weighting,
        extreme: Extreme,
        priority: impl Fn(Edge) -> TreePriority,
        depth: impl Fn(Edge) -> Option<u32>,
        seeded: bool,
    ) -> Self {
        type Offer = (Reverse<u32>, TreePriority, f64, TreePriority, Edge);
        let offer = |e: Edge| -> Option<Offer> {
            let priority = priority(e);
            let rank = if priority == TreePriority::Forced { TreePriority::Forced } else { TreePriority::Plain };
            let weight = match extreme {
                Extreme::Maximum => -weighting.edge(e),
                Extreme::Minimum => weighting.edge(e),
            };
            Some((Reverse(depth(e)?), rank, weight, priority, e))
        };
        let mut offers: Vec<Offer> = cfg.edges().filter(|&e| e != cfg.exit_edge()).filter_map(offer).collect();
        offers.sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then((a.3, a.4).cmp(&(b.3, b.4)))
        });

        let mut joined = UnionFind::new(cfg.block_count());
        let mut in_tree = cfg.per_edge(false);
        let seed = seeded.then(|| cfg.exit_edge());
        for edge in seed.into_iter().chain(offers.into_iter().map(|offer| offer.4)) {
            in_tree[edge] = joined.union(cfg.src(edge).index(), cfg.dst(edge).index());
        }
        Self { in_tree, excluded: Vec::new() }
    }

    /// Is the edge in the tree?
    #[must_use]
    pub fn contains(&self, edge: Edge) -> bool {
        self.in_tree[edge]
    }

    /// The edges off the tree, in edge order.
    pub fn chords(&self) -> impl Iterator<Item = Edge> {
        let chords = self.in_tree.numbered().filter(|(_, inside)| !**inside).map(|(edge, _)| edge);
        chords.filter(|edge| self.excluded.binary_search(edge).is_err())
    }

    /// The sum of the chords' weights: the cost of counters on the chords.
    #[must_use]
    pub fn chord_cost(&self, weighting: &Weighting) -> f64 {
        self.chords().map(|e| weighting.edge(e)).sum()
    }
}
