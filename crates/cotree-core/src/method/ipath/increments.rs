//! Fewer and smaller updates of the sum along a path: chords of a spanning tree instead of all arcs (Melski & Reps
//! 1998, §5.5.1; Ball 1994, §3).
//!
//! The value of an arc is ρ at numValidCompsFromExit, which an activation does not change. So the sum along a path is a
//! multiple of that number and a constant; both are sums of their own, and each moves to the chords by potentials, as
//! in [`crate::method::path::increments`]. The multiplication is made where the number is needed: before a call that
//! the path crosses, before a return, where a path ends. In functions that always begin paths of their own
//! numValidCompsFromExit is 1, and there is one sum.
//!
//! Where paths begin and end, and around calls that they cross, the sums are set or used up, so updates cost nothing
//! there: these arcs are offered to the tree last.

use super::graph::{Arc, ENTRY, EXIT, GENTRY, GEXIT, Node, Role};
use super::numbering::FunctionNumbers;
use super::types::Entry;
use crate::graph::union_find::UnionFind;
use crate::method::path::classes::{Class, EdgeClasses};
use crate::weight::weighting::Weighting;

/// What is added to the sums, or has been by some place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The factor of which numValidCompsFromExit is a multiple.
    pub factor: i64,
    /// The constant.
    pub constant: i64,
}

impl Sums {
    /// Wraps.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        let (factor, constant) = (self.factor.wrapping_add(other.factor), self.constant.wrapping_add(other.constant));
        Self { factor, constant }
    }

    /// Wraps.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        let (factor, constant) = (self.factor.wrapping_sub(other.factor), self.constant.wrapping_sub(other.constant));
        Self { factor, constant }
    }
}

/// What the sums do on each arc.
#[derive(Clone, Debug)]
pub struct Increments {
    /// Per arc; nothing on the tree.
    pub arcs: Vec<Sums>,
    /// Per node: what is to be added to the sums there to have those of the values so far.
    pub query: Vec<Sums>,
}

#[allow(clippy::cast_possible_truncation, reason = "plans have no larger numbers")]
const fn word(number: u128) -> i64 {
    number as i64
}

/// The value of an arc.
pub(super) fn value(numbers: &FunctionNumbers, arc: Arc) -> Sums {
    let rho = numbers.linear.rho[arc];
    match numbers.entry {
        Entry::Called { .. } | Entry::Open => Sums { factor: word(rho.times), constant: word(rho.plus) },
        Entry::Alone | Entry::Unmeasured => Sums { factor: 0, constant: word(rho.at(1)) },
    }
}

impl Increments {
    /// Places the increments of a function with its numbers.
    #[must_use]
    pub fn new(numbers: &FunctionNumbers, classes: &EdgeClasses, weighting: &Weighting) -> Self {
        let graph = &numbers.graph;
        let hub = |node: Node| if matches!(node, GENTRY | EXIT | GEXIT) { ENTRY } else { node };
        // An arc, or one of the two halves of a call.
        let ends = |arc: Arc| {
            let (src, dst) = (hub(graph.src(arc)), hub(graph.dst(arc)));
            match graph.role(arc) {
                Role::Cross(..) => vec![(src, ENTRY), (ENTRY, dst)],
                _ => vec![(src, dst)],
            }
        };
        let offer = |arc: Arc| match graph.role(arc) {
            Role::ToDispatch(_) | Role::FromDispatch(_) => (0u8, 0.0),
            Role::Real(edge) if matches!(classes.class(edge), Class::Unplaceable) => (0, 0.0),
            Role::Real(edge) => (1, -weighting.edge(edge)),
            Role::Inside(block) => (1, -weighting.block(block)),
            Role::Return(edge) | Role::EndOnEdge(edge) => (2, -weighting.edge(edge)),
            // Where it ends at a call is a value that is noted, whatever it is.
            Role::EndAtCall(_) | Role::Descend(..) => (4, 0.0),
            _ => (3, 0.0),
        };
        let mut order: Vec<(u8, f64, Arc)> = (0..graph.arc_count())
            .map(|arc| {
                let (rank, weight) = offer(arc);
                (rank, weight, arc)
            })
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut sets = UnionFind::new(graph.node_count());
        // The tree: per node its neighbours, and by what their potentials are higher.
        let mut tree: Vec<Vec<(Node, Sums)>> = vec![Vec::new(); graph.node_count()];
        for (_, _, arc) in order {
            let value = if matches!(graph.role(arc), Role::Cross(..)) { Sums::default() } else { value(numbers, arc) };
            for (src, dst) in ends(arc) {
                if sets.union(src, dst) {
                    tree[src].push((dst, value));
                    tree[dst].push((src, Sums::default().minus(value)));
                }
            }
        }
        let mut query: Vec<Option<Sums>> = vec![None; graph.node_count()];
        for root in 0..graph.node_count() {
            if query[root].is_some() || hub(root) != root {
                continue;
            }
            query[root] = Some(Sums::default());
            let mut open = vec![root];
            while let Some(node) = open.pop() {
                let here = query[node].unwrap_or_default();
                for &(next, by) in &tree[node] {
                    if query[next].is_none() {
                        query[next] = Some(here.plus(by));
                        open.push(next);
                    }
                }
            }
        }
        let query: Vec<Sums> = query.into_iter().map(Option::unwrap_or_default).collect();
        let increment = |arc: Arc| query[graph.src(arc)].plus(value(numbers, arc)).minus(query[graph.dst(arc)]);
        let arcs = (0..graph.arc_count()).map(increment).collect();
        Self { arcs, query }
    }
}
