//! Fewer and smaller updates: chords of a spanning tree instead of all arcs (Ball & Larus 1996, §3.3; Ball 1994, §3).
//!
//! The values along a cycle are the same if each chord *f* of a spanning tree carries
//! Increment(*f*) = Σ Events(*e*) · Dir(*e*, *f*) over its fundamental cycle, and the tree carries nothing. The
//! depth-first search of Ball 1994, Fig. 4, visits each chord from both ends and takes a difference. Here that
//! difference is written down: with a *potential* per node that grows by an arc's value along each arc of the tree, the
//! increment of *u*→*v* is potential(*u*) + value − potential(*v*). (So the chord whose ends are one node needs no
//! special case, which `Dir` as printed would get wrong.) The arc EXIT→ENTRY, of value 0, closes the cycles and is in
//! the tree.
//!
//! The potential of a node is also its query increment (Ball 1994, §3.3): added to the register there, it gives the sum
//! of the values along the path from ENTRY.
//!
//! Blocks whose last call may be a tail call, or never return, get no increment behind it: the edge out of them is
//! offered to the tree first, so that the path can be counted before the call. The count has to stand somewhere, and
//! takes the increment with it.
//!
//! Numbers are machine words and wrap; sums along whole paths are small again.

use super::classes::{Class, EdgeClasses};
use super::graph::{PathGraph, Role};
use super::numbering::Numbering;
use super::shift::{FAR_BEGIN, Price, Shift};
use super::types::Arc;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, IdMap};
use crate::place::placement::Placer;
use crate::probe::Place;
use crate::weight::weighting::Weighting;

/// What the register does on each arc.
#[derive(Clone, Debug)]
pub struct Increments {
    /// Per arc; 0 on the tree.
    pub increment: Vec<i64>,
    /// Per node: register + query = the sum of the values so far.
    pub query: Vec<i64>,
}

/// How often paths begin at each block.
fn begins(cfg: &Cfg, graph: &PathGraph, weighting: &Weighting) -> IdMap<Block, f64> {
    let mut begins = cfg.per_block(0.0);
    for arc in 0..graph.arc_count() {
        match graph.role(arc) {
            Role::EndOnEdge(edge) => begins[cfg.dst(edge)] += weighting.edge(edge),
            Role::EndAtBlock(block) => begins[block] += weighting.block(block),
            _ => {}
        }
    }
    begins
}

/// The facts that decide when an arc is offered to the tree.
struct Offers<'a> {
    cfg: &'a Cfg,
    graph: &'a PathGraph,
    classes: &'a EdgeClasses,
    weighting: &'a Weighting,
    placer: Placer<'a>,
    /// Blocks in which a probe would run again with each turn of a loop.
    looped: IdMap<Block, bool>,
    /// How often paths begin at each block, if that matters.
    begins: Option<IdMap<Block, f64>>,
}

impl Offers<'_> {
    /// What an update costs on an arc, of a function with many paths.
    fn price(&self, arc: Arc) -> Price {
        let begins = |block: Block| self.begins.as_ref().map_or(0.0, |begins| begins[block]);
        match self.graph.role(arc) {
            _ if self.of(arc).0 < 2 => Price::Never,
            Role::Real(edge) => Price::Addition(self.weighting.edge(edge)),
            Role::Inside(block) => Price::Addition(self.weighting.block(block)),
            Role::BeginAfterEdge(block) | Role::BeginAtBlock(block) => Price::Beginning(begins(block)),
            Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => Price::End(self.weighting.edge(edge)),
            Role::EndAtBlock(block) => Price::End(self.weighting.block(block)),
            Role::DeadEnd(_) => Price::End(0.0),
            Role::Enter | Role::ToDispatch(_) | Role::FromDispatch(_) | Role::Again(_) => Price::Never,
        }
    }

    /// When an arc is offered: rank first, then weight, then how awkward a probe would be.
    fn of(&self, arc: Arc) -> (u8, f64, u8) {
        let Self { cfg, graph, classes, weighting, placer, looped, begins } = self;
        match graph.role(arc) {
            // No probe can be there.
            Role::Enter | Role::ToDispatch(_) | Role::FromDispatch(_) => (0, 0.0, 0),
            // A probe would run again with each turn of the loop.
            Role::Inside(block) if looped[block] => (0, 0.0, 0),
            Role::Inside(block) if placer.is_bare_return(block) => (1, 0.0, 0),
            Role::Inside(block) => (2, -weighting.block(block), 1),
            Role::Real(edge) => match classes.class(edge) {
                Class::Placeable(_) if placer.follows_tail_call(edge) || placer.is_bare_return(cfg.src(edge)) => {
                    (1, 0.0, 0)
                }
                Class::Placeable(Place::Edge(_)) => (2, -weighting.edge(edge), 0),
                Class::Placeable(_) => (2, -weighting.edge(edge), 2),
                _ => (0, 0.0, 0),
            },
            Role::BeginAfterEdge(block) | Role::BeginAtBlock(block) if begins.is_some() => {
                (2, begins.as_ref().map_or(0.0, |begins| -begins[block] * FAR_BEGIN), 3)
            }
            // "Edge increment combined with code added to loop backedge": free, so best off the tree.
            Role::BeginAfterEdge(_)
            | Role::BeginAtBlock(_)
            | Role::EndOnEdge(_)
            | Role::EndOfTurn(_)
            | Role::Again(_)
            | Role::EndAtBlock(_)
            | Role::DeadEnd(_) => (3, 0.0, 0),
        }
    }
}

/// A potential per node that grows by an arc's value along each arc of the tree; EXIT→ENTRY, of value 0, is in it.
fn potentials(graph: &PathGraph, tree: &[Vec<Arc>], value: &dyn Fn(Arc) -> i64) -> Vec<i64> {
    let mut potential: Vec<Option<i64>> = vec![None; graph.node_count()];
    for root in [graph.entry(), graph.exit()].into_iter().chain(0..graph.node_count()) {
        if potential[root].is_some() {
            continue;
        }
        potential[root] = Some(0);
        let mut open = vec![(root, 0i64)];
        while let Some((node, here)) = open.pop() {
            for &arc in &tree[node] {
                let forward = graph.src(arc) == node;
                let (next, step) =
                    if forward { (graph.dst(arc), value(arc)) } else { (graph.src(arc), value(arc).wrapping_neg()) };
                if potential[next].is_none() {
                    let there = here.wrapping_add(step);
                    potential[next] = Some(there);
                    open.push((next, there));
                }
            }
        }
    }
    potential.into_iter().map(Option::unwrap_or_default).collect()
}

impl Increments {
    /// A maximum spanning tree, and the updates that it leaves to other arcs.
    #[must_use]
    pub fn new(
        function: &Function,
        cfg: &Cfg,
        numbering: &Numbering,
        classes: &EdgeClasses,
        weighting: &Weighting,
        array: u64,
    ) -> Self {
        let graph = numbering.graph();
        let placer = Placer::new(function, cfg);
        let mut looped = cfg.per_block(false);
        for &edge in graph.self_loops() {
            looped[cfg.src(edge)] = true;
        }
        for arc in 0..graph.arc_count() {
            if let Role::Again(block) = graph.role(arc) {
                looped[block] = true;
            }
        }
        let many = numbering.paths() > array;
        let begins = many.then(|| begins(cfg, graph, weighting));
        let offer = Offers { cfg, graph, classes, weighting, placer, looped, begins };
        let mut offers: Vec<_> = (0..graph.arc_count()).map(|arc| (offer.of(arc), arc)).collect();
        offers.sort_unstable_by(|(a, i), (b, j)| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).then(i.cmp(j))
        });

        let mut joined = UnionFind::new(graph.node_count());
        joined.union(graph.entry(), graph.exit());
        let mut tree: Vec<Vec<Arc>> = vec![Vec::new(); graph.node_count()];
        for &(_, arc) in &offers {
            let (src, dst) = (graph.src(arc), graph.dst(arc));
            if joined.union(src, dst) {
                tree[src].push(arc);
                tree[dst].push(arc);
            }
        }
        let value = |arc: Arc| numbering.value(arc).cast_signed();
        let mut query = potentials(graph, &tree, &value);
        if many {
            let price = |arc: Arc| offer.price(arc);
            query = Shift { graph, value: &value, price: &price, tree, potential: query }.potentials();
        }
        let increment = (0..graph.arc_count())
            .map(|arc| query[graph.src(arc)].wrapping_add(value(arc)).wrapping_sub(query[graph.dst(arc)]))
            .collect();
        Self { increment, query }
    }
}
