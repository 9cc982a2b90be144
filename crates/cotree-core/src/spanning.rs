//! Maximum and minimum spanning trees of a weighted control-flow graph (Ball & Larus 1994, §2 and §3.2).
//!
//! Kruskal's algorithm over the undirected graph: edges are offered in order of weight, and each is taken unless it
//! would close a cycle. EXIT→entry is offered before all others, so that it never needs a counter ("the maximum
//! spanning tree algorithm can be seeded with the edge EXIT → root"). A graph in several pieces gets a spanning forest.

use crate::cfg::Cfg;
use crate::ids::Edge;
use crate::union_find::UnionFind;
use crate::weighting::Weighting;

/// Which tree is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Counters end up in the coldest places: what profiling wants.
    Maximum,
    /// Counters end up in the hottest places: the worst tree, for comparison (Ball & Larus 1994, Graph 4).
    Minimum,
}

/// How strongly an edge wants to be in the tree, weight aside. Ordered by the order in which edges are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Offered before every edge of a lesser claim, whatever its weight: a counter on it would be awkward.
    Forced,
    /// Offered before edges of the same weight: a counter on it would need a jump.
    Preferred,
    /// Nothing but its weight speaks for it.
    Plain,
}

/// A spanning tree (or forest); the edges off it are the chords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanningTree {
    in_tree: Vec<bool>,
    /// An edge that is neither in the tree nor a chord.
    known: Option<Edge>,
}

impl SpanningTree {
    /// The extreme tree. Deterministic: ties go to the stronger claim, then to the lower edge number.
    #[must_use]
    pub fn new(cfg: &Cfg, weighting: &Weighting, extreme: Extreme, claim: impl Fn(Edge) -> Claim) -> Self {
        Self::seeded(cfg, weighting, extreme, claim, Some(cfg.exit_edge()))
    }

    /// The extreme tree of the graph without EXIT→entry, which is not in the tree and no chord: how often it runs is known
    /// from elsewhere.
    #[must_use]
    pub fn entered(cfg: &Cfg, weighting: &Weighting, extreme: Extreme, claim: impl Fn(Edge) -> Claim) -> Self {
        Self { known: Some(cfg.exit_edge()), ..Self::seeded(cfg, weighting, extreme, claim, None) }
    }

    fn seeded(
        cfg: &Cfg,
        weighting: &Weighting,
        extreme: Extreme,
        claim: impl Fn(Edge) -> Claim,
        seed: Option<Edge>,
    ) -> Self {
        let mut offers: Vec<(Claim, f64, Claim, Edge)> = cfg
            .edges()
            .filter(|&e| e != cfg.exit_edge())
            .map(|e| {
                let claim = claim(e);
                let rank = if claim == Claim::Forced { Claim::Forced } else { Claim::Plain };
                let weight = match extreme {
                    Extreme::Maximum => -weighting.edge(e),
                    Extreme::Minimum => weighting.edge(e),
                };
                (rank, weight, claim, e)
            })
            .collect();
        offers.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3)));

        let mut joined = UnionFind::new(cfg.block_count());
        let mut in_tree = vec![false; cfg.edge_count()];
        for edge in seed.into_iter().chain(offers.into_iter().map(|offer| offer.3)) {
            in_tree[edge.index()] = joined.union(cfg.src(edge).index(), cfg.dst(edge).index());
        }
        Self { in_tree, known: None }
    }

    /// Is the edge in the tree?
    #[must_use]
    pub fn contains(&self, edge: Edge) -> bool {
        self.in_tree[edge.index()]
    }

    /// The edges off the tree, in edge order.
    pub fn chords(&self) -> impl Iterator<Item = Edge> {
        let chords = self.in_tree.iter().enumerate().filter(|(_, inside)| !**inside).map(|(i, _)| Edge::new(i));
        chords.filter(|&edge| Some(edge) != self.known)
    }

    /// The sum of the chords' weights: what counters on the chords cost.
    #[must_use]
    pub fn chord_cost(&self, weighting: &Weighting) -> f64 {
        self.chords().map(|e| weighting.edge(e)).sum()
    }
}
