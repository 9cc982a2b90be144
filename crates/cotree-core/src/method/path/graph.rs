//! The acyclic graph whose paths from ENTRY to EXIT are the paths that are counted (Ball & Larus 1996, §3).
//!
//! Every block is two nodes, where it is entered and where it is left, with an *inside* edge between them: so a path
//! can end between a block's incoming edges and its body as well as on an edge. The graph is made acyclic by cuts:
//!
//! - A **cut edge** *v*→*w*, as each backedge of the paper, is replaced by a surrogate from *v* to EXIT, on which a
//!   path ends, and one from ENTRY to *w*, on which the next begins. The first is the edge's own, since how often it
//!   was taken must be known; the second is shared by all cut edges into *w* (§3: a path is told by the block at which
//!   it starts).
//! - A **cut block** loses its inside edge: paths end where it is entered and begin where its body does. That needs no
//!   probe on any edge, so it serves at branches whose edges can hold none.
//! - A **self-loop** is left out and counted by itself ("these edges are handled specially by adding a counter").
//!
//! Edges that no probe can be put on need care beyond that: [`super::classes`].

use super::classes::{Class, EdgeClasses};
use super::types::{Arc, Cuts};
use crate::facts::Function;
pub use crate::graph::arcs::Node;
use crate::graph::arcs::{ArcGraph, Groups};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge};
use std::ops::Deref;

/// What an edge of the path graph stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The edge itself.
    Real(Edge),
    /// The body of the block.
    Inside(Block),
    /// From a computed goto to its dispatch node.
    ToDispatch(Block),
    /// From a dispatch node to a target.
    FromDispatch(Block),
    /// Surrogate: a new activation.
    Enter,
    /// Surrogate: a path begins after a cut edge into the block.
    BeginAfterEdge(Block),
    /// Surrogate: a path begins with the body of a cut block.
    BeginAtBlock(Block),
    /// Surrogate: a path ends with a cut edge.
    EndOnEdge(Edge),
    /// Surrogate: a path ends where a cut block is entered.
    EndAtBlock(Block),
    /// Surrogate: a path around a loop ends with this backedge, and the next begins with [`Self::Again`].
    EndOfTurn(Edge),
    /// Surrogate: a path begins with the body of a loop-entry, but keeps the number of how the loop was reached
    /// ([`super::context`]). It is parallel to [`Self::Inside`].
    Again(Block),
    /// Surrogate: nothing follows this block (no function that LLVM accepts has one).
    DeadEnd(Block),
}

/// The path graph. The edge EXIT→ENTRY is not in it.
#[derive(Clone, Debug)]
pub struct PathGraph {
    blocks: usize,
    graph: ArcGraph<Role>,
    inward: Groups,
    /// Self-loops, each of which has a count of its own.
    self_loops: Vec<Edge>,
}

impl Deref for PathGraph {
    type Target = ArcGraph<Role>;

    fn deref(&self) -> &ArcGraph<Role> {
        &self.graph
    }
}

/// Where a block is entered.
pub fn entered(block: Block) -> Node {
    2 * block.index()
}

/// Where a block is left.
pub fn left(block: Block) -> Node {
    2 * block.index() + 1
}

/// A path graph with a direction: from ENTRY to EXIT, or backward.
#[derive(Clone, Copy, Debug)]
pub struct DirectedView<'a> {
    graph: &'a PathGraph,
    backward: bool,
}

impl<'a> DirectedView<'a> {
    /// From ENTRY, or backward from EXIT.
    #[must_use]
    pub fn new(graph: &'a PathGraph, backward: bool) -> Self {
        Self { graph, backward }
    }

    /// The node at which all paths start.
    #[must_use]
    pub fn start(self) -> Node {
        if self.backward { self.graph.exit() } else { self.graph.entry() }
    }

    /// The node to which all paths lead.
    #[must_use]
    pub fn end(self) -> Node {
        if self.backward { self.graph.entry() } else { self.graph.exit() }
    }

    /// The arcs that lead on from a node in this direction.
    #[must_use]
    pub fn next_arcs(self, node: Node) -> &'a [Arc] {
        if self.backward { self.graph.inward(node) } else { self.graph.out(node) }
    }

    /// The node to which such an arc leads.
    #[must_use]
    pub fn target(self, arc: Arc) -> Node {
        if self.backward { self.graph.src(arc) } else { self.graph.dst(arc) }
    }

    /// The nodes, each before all that its arcs lead to.
    #[must_use]
    pub fn order(self) -> impl DoubleEndedIterator<Item = Node> + 'a {
        let (order, backward) = (self.graph.topological_order(), self.backward);
        (0..order.len()).map(move |place| order[if backward { order.len() - 1 - place } else { place }])
    }

    /// Whether each arc is rare: it was chosen, or only rare arcs lead to it.
    #[must_use]
    pub fn all_rare(self, chosen: &[Arc]) -> Vec<bool> {
        let mut rare = vec![false; self.graph.arc_count()];
        for &arc in chosen.iter().filter(|&&arc| arc < self.graph.arc_count()) {
            rare[arc] = true;
        }
        let mut reached = vec![false; self.graph.node_count()];
        reached[self.start()] = true;
        for node in self.order() {
            for &arc in self.next_arcs(node) {
                rare[arc] |= !reached[node];
                reached[self.target(arc)] |= !rare[arc];
            }
        }
        rare
    }
}

impl PathGraph {
    /// Builds the graph. Cuts that name no block or edge of the function are ignored.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg, cuts: &Cuts) -> Self {
        let blocks = cfg.block_count() - 1;
        let edges = EdgeClasses::new(function, cfg);
        let mut cut_block = cfg.per_block(false);
        for &block in cuts.blocks.iter().filter(|b| b.index() < blocks) {
            cut_block[block] = true;
        }
        let mut cut_edge = cfg.per_edge(false);
        for &edge in cuts.edges.iter().filter(|e| e.index() < cfg.edge_count()) {
            cut_edge[edge] = true;
        }
        let mut turn = cfg.per_edge(false);
        for &edge in cuts.loops.iter().filter(|e| e.index() < cfg.edge_count()) {
            turn[edge] = !cut_block[cfg.dst(edge)];
        }
        let (entry, exit) = (2 * blocks, 2 * blocks + 1);
        let end = |block: Block| if block == cfg.exit() { exit } else { entered(block) };
        let dispatch = |number: u32| exit + 1 + number as usize;

        let mut arcs = vec![(entry, entered(cfg.entry()), Role::Enter)];
        let mut self_loops = Vec::new();
        for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
            if cut_block[block] {
                arcs.push((entered(block), exit, Role::EndAtBlock(block)));
                arcs.push((entry, left(block), Role::BeginAtBlock(block)));
            } else {
                arcs.push((entered(block), left(block), Role::Inside(block)));
                if cfg.preds(block).iter().any(|&e| turn[e]) {
                    arcs.push((entered(block), left(block), Role::Again(block)));
                }
            }
            if cfg.preds(block).iter().any(|&e| cut_edge[e]) {
                arcs.push((entry, entered(block), Role::BeginAfterEdge(block)));
            }
            let mut to_dispatch = false;
            let before = arcs.len();
            for &edge in cfg.succs(block) {
                let dst = cfg.dst(edge);
                if cut_edge[edge] {
                    arcs.push((left(block), exit, Role::EndOnEdge(edge)));
                } else if turn[edge] {
                    arcs.push((left(block), exit, Role::EndOfTurn(edge)));
                } else if dst == block && !cut_block[block] {
                    self_loops.push(edge);
                } else {
                    match edges.class(edge) {
                        Class::Placeable(_) | Class::Unplaceable => {
                            arcs.push((left(block), end(dst), Role::Real(edge)));
                        }
                        Class::Dispatched(number) if !to_dispatch => {
                            to_dispatch = true;
                            arcs.push((left(block), dispatch(number), Role::ToDispatch(block)));
                        }
                        Class::Dispatched(_) | Class::Hidden => {}
                    }
                }
            }
            if arcs.len() == before {
                arcs.push((left(block), exit, Role::DeadEnd(block)));
            }
        }
        for (block, number) in edges.dispatch_targets() {
            arcs.push((dispatch(number), entered(block), Role::FromDispatch(block)));
        }
        let nodes = exit + 1 + edges.dispatches();
        let graph = ArcGraph::new(nodes, arcs);
        Self { blocks, inward: graph.inward(), graph, self_loops }
    }

    /// Where all paths start.
    #[must_use]
    pub fn entry(&self) -> Node {
        2 * self.blocks
    }

    /// Where all paths end.
    #[must_use]
    pub fn exit(&self) -> Node {
        2 * self.blocks + 1
    }

    /// The arcs that enter the node.
    #[must_use]
    pub fn inward(&self, node: Node) -> &[Arc] {
        self.inward.of(node)
    }

    /// The self-loops that are in no path.
    #[must_use]
    pub fn self_loops(&self) -> &[Edge] {
        &self.self_loops
    }
}
