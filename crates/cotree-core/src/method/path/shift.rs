//! Makes increments small where path numbers are large.
//!
//! If there are many paths, those that begin at a loop's header may have numbers of forty bits. The register may begin
//! with such an offset (a `Set` is there anyway), or get it later, on an arc out of the loop's body. The sums along
//! paths are the same, but a constant beyond 32 bits takes three instructions to add instead of one. So where a
//! beginning is on the spanning tree, we move the potentials of all nodes that hang on it by one amount, if that makes
//! the increments between them and the rest cheaper. The beginning leaves the tree, and the arc whose increment becomes
//! zero takes its place.

use super::graph::{Node, PathGraph};
use super::types::Arc;
use std::collections::BTreeMap;

/// Where there are many paths, numbers may differ by more than an instruction's constant can hold between where paths
/// begin and where they end. If the beginning is on the tree, the register holds what the path's number is above the
/// first one of its beginning, which mostly is little. That is worth part of an increment on the arc into the loop.
pub(super) const FAR_BEGIN: f64 = 0.5;

/// What updates of the register cost on an arc.
#[derive(Clone, Copy, Debug)]
pub(super) enum Price {
    /// No probe can be there, or none should be: the increment stays what it is.
    Never,
    /// An addition of its own, so many times.
    Addition(f64),
    /// The value is part of a `Set` that may be there anyway.
    Beginning(f64),
    /// The value is part of the path's number when that is counted.
    End(f64),
}

impl Price {
    fn of(self, increment: i64) -> f64 {
        let long = i32::try_from(increment).is_err();
        match self {
            Price::Never if increment == 0 => 0.0,
            Price::Never => f64::INFINITY,
            Price::Addition(_) | Price::Beginning(_) if increment == 0 => 0.0,
            Price::Addition(times) => times * if long { 3.0 } else { 1.0 },
            Price::Beginning(times) => times * FAR_BEGIN,
            Price::End(times) => times * if long { 2.0 } else { 0.0 },
        }
    }
}

/// Beginnings that are looked at, and the amounts tried for each: those that make the most expensive arcs free.
const MOST_BEGINNINGS: usize = 64;
const MOST_AMOUNTS: usize = 6;

/// A spanning tree, as the arcs at each node, and the potentials by which it leaves increments to the other arcs.
pub(super) struct Shift<'a> {
    pub(super) graph: &'a PathGraph,
    pub(super) value: &'a dyn Fn(Arc) -> i64,
    pub(super) price: &'a dyn Fn(Arc) -> Price,
    pub(super) tree: Vec<Vec<Arc>>,
    pub(super) potential: Vec<i64>,
}

impl Shift<'_> {
    fn increment(&self, arc: Arc) -> i64 {
        let (src, dst) = (self.graph.src(arc), self.graph.dst(arc));
        self.potential[src].wrapping_add((self.value)(arc)).wrapping_sub(self.potential[dst])
    }

    /// Moves what pays, and gives the potentials.
    pub(super) fn potentials(mut self) -> Vec<i64> {
        let graph = self.graph;
        let mut beginnings: Vec<(f64, Arc)> = self.tree[graph.entry()]
            .iter()
            .filter_map(|&arc| match (self.price)(arc) {
                Price::Beginning(times) => Some((times, arc)),
                _ => None,
            })
            .collect();
        beginnings.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, beginning) in beginnings.into_iter().take(MOST_BEGINNINGS) {
            self.consider(beginning);
        }
        self.potential
    }

    /// The nodes that hang on a beginning.
    fn behind(&self, beginning: Arc) -> Vec<bool> {
        let graph = self.graph;
        let mut behind = vec![false; graph.node_count()];
        behind[graph.dst(beginning)] = true;
        let mut open = vec![graph.dst(beginning)];
        while let Some(node) = open.pop() {
            for &arc in self.tree[node].iter().filter(|&&arc| arc != beginning) {
                let next = graph.src(arc) ^ graph.dst(arc) ^ node;
                if !behind[next] {
                    behind[next] = true;
                    open.push(next);
                }
            }
        }
        behind
    }

    fn consider(&mut self, beginning: Arc) {
        let graph = self.graph;
        let behind = self.behind(beginning);
        if behind[graph.entry()] || behind[graph.exit()] {
            return;
        }
        // By how much an arc's increment grows if everything behind the beginning is moved by one.
        let sign = |arc: Arc| i64::from(behind[graph.src(arc)]) - i64::from(behind[graph.dst(arc)]);
        let crossing: Vec<Arc> = (0..graph.arc_count()).filter(|&arc| sign(arc) != 0).collect();
        let cost = |by: i64| -> f64 {
            let moved = |arc: Arc| self.increment(arc).wrapping_add(sign(arc).wrapping_mul(by));
            crossing.iter().map(|&arc| (self.price)(arc).of(moved(arc))).sum()
        };
        let mut amounts: BTreeMap<i64, (f64, Arc)> = BTreeMap::new();
        for &arc in crossing.iter().filter(|&&arc| arc != beginning) {
            let increment = self.increment(arc);
            let by = sign(arc).wrapping_mul(increment).wrapping_neg();
            if by != 0 {
                amounts.entry(by).or_insert((0.0, arc)).0 += (self.price)(arc).of(increment);
            }
        }
        let mut amounts: Vec<(i64, (f64, Arc))> = amounts.into_iter().collect();
        amounts.sort_unstable_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
        let tried = amounts.into_iter().take(MOST_AMOUNTS).map(|(by, (_, arc))| (cost(by), by, arc));
        let Some((best, by, arc)) = tried.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        if best >= cost(0) {
            return;
        }
        for (potential, _) in self.potential.iter_mut().zip(&behind).filter(|(_, behind)| **behind) {
            *potential = potential.wrapping_add(by);
        }
        let ends = |arc: Arc| -> [Node; 2] { [graph.src(arc), graph.dst(arc)] };
        for end in ends(beginning) {
            self.tree[end].retain(|&other| other != beginning);
        }
        for end in ends(arc) {
            self.tree[end].push(arc);
        }
    }
}
