//! The acyclic graph of one function in the supergraph (Melski & Reps 1998, §3.2 and §6).
//!
//! A block is a node, or a chain of several: the path may end and begin anew where it is entered, and at its calls.
//! Each call that paths cross is an arc from its call vertex to its return-site vertex, which stands for all paths
//! through the callee.
//!
//! Besides the blocks there are four nodes, the same in all functions: ENTRY, where activations begin; EXIT, where they
//! return; GEXIT, to which surrogates lead where a path ends elsewhere (Transformation 1); and GENTRY, from which
//! surrogates lead where a path begins elsewhere (Transformation 0). In context profiles, where a path that begins in a
//! function keeps the path to its entry, these surrogates leave ENTRY instead.
//!
//! Cut edges (Transformation 2) are those of intraprocedural paths ([`crate::method::path::cuts`]), self-loops
//! included. Paths run on past calls that they do not cross: these are part of their block, a summary edge
//! (Transformation 3) of length 0. At each such call an activation may end. So there is a surrogate to GEXIT, the
//! first of the arcs of its node: the number of the path that ends there is the sum of the values so far.
//!
//! Crossing multiplies: each path to a call goes on by each path of the callee and each path behind the call. Where
//! that is too much, paths only *descend*: the path to the call is the context of the callee's paths, and these end
//! with the callee. The caller's path runs on past the call. Then a call adds paths, and does not multiply those behind
//! it.
//!
//! An exception takes the path along the edge to the landing pad if it comes out of a call that was not crossed. If the
//! call was crossed, what was executed before it belongs to paths of callees, which have been counted (§9.2.2): a path
//! begins on the edge, and what led to the call is its context-prefix.

use super::types::{AtCall, FunctionKey, Target};
use crate::facts::stretches::{Stretch, stretches};
use crate::facts::{EdgeKind, Function};
use crate::graph::arcs::ArcGraph;
pub use crate::graph::arcs::{Arc, Node};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap};
use crate::method::path::classes::{Class, EdgeClasses};
use std::ops::Deref;

/// Where activations begin.
pub const ENTRY: Node = 0;
/// Where paths begin in a function without its entry.
pub const GENTRY: Node = 1;
/// Where activations return.
pub const EXIT: Node = 2;
/// Where paths end that do not follow their activation to its return.
pub const GEXIT: Node = 3;
/// Where the first block is entered; those of others follow.
const FIRST_BLOCK: Node = 4;

/// What an arc stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An activation begins.
    Enter,
    /// The edge itself.
    Real(Edge),
    /// The body of a block that an edge enters on which no probe can be put.
    Inside(Block),
    /// A `ret`, to EXIT.
    Return(Edge),
    /// The call, from its call vertex to its return-site vertex, and whom it calls.
    Cross(CallId, FunctionId),
    /// From the call to GEXIT: the path is the context of those of the callee.
    Descend(CallId, Target),
    /// From a computed goto to its dispatch node.
    ToDispatch(Block),
    /// From a dispatch node to a target.
    FromDispatch(Block),
    /// Surrogate: a path begins behind a cut edge into the block.
    BeginAfterEdge(Block),
    /// Surrogate: a path begins with the body of a cut block.
    BeginAtBlock(Block),
    /// Surrogate: a path begins behind a cut call.
    BeginAfterCall(CallId),
    /// Surrogate: a path begins with an edge to a landing pad.
    BeginOnEdge(Edge),
    /// Surrogate: a path ends with an edge: a cut one, or one that leaves the function without a return.
    EndOnEdge(Edge),
    /// Surrogate: a path ends where a cut block is entered.
    EndAtBlock(Block),
    /// Surrogate: a path ends before a cut call, or in a call past which others run on.
    EndAtCall(CallId),
}

impl Role {
    /// Is it a surrogate with which a path begins?
    #[must_use]
    pub const fn begins(self) -> bool {
        matches!(self, Self::BeginAfterEdge(_) | Self::BeginAtBlock(_) | Self::BeginAfterCall(_) | Self::BeginOnEdge(_))
    }
}

/// The graph.
#[derive(Clone, Debug)]
pub struct FlowGraph(ArcGraph<Role>);

impl Deref for FlowGraph {
    type Target = ArcGraph<Role>;

    fn deref(&self) -> &ArcGraph<Role> {
        &self.0
    }
}

/// The graph while it is made.
struct Builder {
    arcs: Vec<(Node, Node, Role)>,
    nodes: usize,
    /// From where surrogates lead at which paths begin.
    beginning: Node,
}

impl Builder {
    fn node(&mut self) -> Node {
        self.nodes += 1;
        self.nodes - 1
    }

    fn arc(&mut self, src: Node, dst: Node, role: Role) {
        self.arcs.push((src, dst, role));
    }
}

impl FlowGraph {
    /// The graph of a function with these cuts and calls. What the key says that the function does not have is left
    /// out.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg, classes: &EdgeClasses, key: &FunctionKey, piecewise: bool) -> Self {
        let blocks = function.blocks.len();
        let mut cut_block = IdMap::filled(false, blocks);
        key.cuts.blocks.iter().filter(|b| b.index() < blocks).for_each(|&b| cut_block[b] = true);
        let mut cut_edge = cfg.per_edge(false);
        key.cuts.edges.iter().filter(|e| e.index() < cfg.edge_count()).for_each(|&e| cut_edge[e] = true);

        let mut builder =
            Builder { arcs: Vec::new(), nodes: FIRST_BLOCK, beginning: if piecewise { GENTRY } else { ENTRY } };
        let entered: IdMap<Block, Node> = (0..blocks).map(|_| builder.node()).collect();
        let dispatches: Vec<Node> = (0..classes.dispatches()).map(|_| builder.node()).collect();
        if let Some(&first) = entered.first() {
            builder.arc(ENTRY, first, Role::Enter);
        }
        let mut calls = key.calls.iter().copied().peekable();
        for (block, &node) in entered.numbered() {
            let mut here = node;
            // From where exceptions of the call that ends the block lead, and whether another path begins then.
            let mut caught: Option<(Node, bool)> = None;
            if cfg.preds(block).iter().any(|&e| cut_edge[e]) {
                builder.arc(builder.beginning, here, Role::BeginAfterEdge(block));
            }
            if cut_block[block] {
                builder.arc(here, GEXIT, Role::EndAtBlock(block));
                here = builder.node();
                builder.arc(builder.beginning, here, Role::BeginAtBlock(block));
            } else if cfg.preds(block).iter().any(|&e| classes.class(e) == Class::Unplaceable) {
                let inside = builder.node();
                builder.arc(here, inside, Role::Inside(block));
                here = inside;
            }
            while let Some((call, at)) =
                calls.next_if(|&(call, _)| function.calls.get(call).is_none_or(|c| c.block <= block))
            {
                let Some(facts) = function.calls.get(call).filter(|facts| facts.block == block) else { continue };
                let mut behind = || std::mem::replace(&mut here, builder.node());
                match at {
                    AtCall::Cross(callee) => {
                        let before = behind();
                        caught = (facts.terminator && !piecewise).then_some((before, true));
                        builder.arc(before, here, Role::Cross(call, callee));
                    }
                    AtCall::Descend(_) | AtCall::Reach(_) | AtCall::Begin(_) | AtCall::Pass => {
                        caught = facts.terminator.then_some((here, false));
                        if facts.is_site {
                            builder.arc(here, GEXIT, Role::EndAtCall(call));
                        }
                        if let Some(target) = at.entered() {
                            builder.arc(here, GEXIT, Role::Descend(call, target));
                        }
                    }
                    AtCall::Cut => {
                        let before = behind();
                        builder.arc(before, GEXIT, Role::EndAtCall(call));
                        if facts.comes_back() {
                            builder.arc(builder.beginning, here, Role::BeginAfterCall(call));
                        }
                    }
                }
            }
            let mut to_dispatch = false;
            for &edge in cfg.succs(block) {
                let dst = cfg.dst(edge);
                let kind = function.edges.get(edge).map(|facts| facts.kind);
                let target = entered.get(dst).copied();
                match (kind, target, classes.class(edge)) {
                    (Some(EdgeKind::InvokeUnwind), Some(pad), _) => match caught {
                        Some((from, false)) => builder.arc(from, pad, Role::Real(edge)),
                        Some((from, true)) => builder.arc(from, pad, Role::BeginOnEdge(edge)),
                        None => builder.arc(builder.beginning, pad, Role::BeginOnEdge(edge)),
                    },
                    (Some(EdgeKind::Resume | EdgeKind::Unreachable), ..) => {
                        builder.arc(here, GEXIT, Role::EndOnEdge(edge));
                    }
                    (_, None, _) => builder.arc(here, EXIT, Role::Return(edge)),
                    _ if cut_edge[edge] => builder.arc(here, GEXIT, Role::EndOnEdge(edge)),
                    (_, Some(next), Class::Placeable(_) | Class::Unplaceable) => {
                        builder.arc(here, next, Role::Real(edge));
                    }
                    (_, _, Class::Dispatched(number)) if !to_dispatch => {
                        to_dispatch = true;
                        builder.arc(here, dispatches[number as usize], Role::ToDispatch(block));
                    }
                    (_, _, Class::Dispatched(_) | Class::Hidden) => {}
                }
            }
        }
        for (block, number) in classes.dispatch_targets() {
            if let Some(&target) = entered.get(block) {
                builder.arc(dispatches[number as usize], target, Role::FromDispatch(block));
            }
        }
        Self(ArcGraph::new(builder.nodes, builder.arcs))
    }

    /// The nodes of the stretches of the function's blocks ([`crate::facts::stretches`]), in order.
    #[must_use]
    pub fn nodes_of_stretches(&self, function: &Function) -> Vec<Node> {
        let mut bodies: IdMap<Block, Node> = (0..function.blocks.len()).map(|block| FIRST_BLOCK + block).collect();
        let mut behind: IdMap<CallId, Option<Node>> = IdMap::filled(None, function.calls.len());
        for arc in 0..self.arc_count() {
            match self.role(arc) {
                Role::Inside(block) | Role::BeginAtBlock(block) => bodies[block] = self.dst(arc),
                Role::Cross(call, _) | Role::BeginAfterCall(call) => behind[call] = Some(self.dst(arc)),
                _ => {}
            }
        }
        let mut here = ENTRY;
        let node = |Stretch { block, behind: call, .. }: Stretch| {
            match call {
                None => here = bodies[block],
                Some(call) => here = behind[call].unwrap_or(here),
            }
            here
        };
        stretches(function).map(node).collect()
    }

    /// The calls at which paths become the context of the callee's: the arc, the call, and whom it enters.
    pub fn descents(&self) -> impl Iterator<Item = (Arc, CallId, Target)> {
        (0..self.arc_count()).filter_map(|arc| match self.role(arc) {
            Role::Descend(call, target) => Some((arc, call, target)),
            _ => None,
        })
    }

    /// The calls that paths cross: the arc, the call, and the callee.
    pub fn crossings(&self) -> impl Iterator<Item = (Arc, CallId, FunctionId)> {
        (0..self.arc_count()).filter_map(|arc| match self.role(arc) {
            Role::Cross(call, callee) => Some((arc, call, callee)),
            _ => None,
        })
    }
}
