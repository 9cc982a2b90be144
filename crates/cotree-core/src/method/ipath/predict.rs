//! The path that counts of edges and calls predict from where paths begin: what an edge profile tells of paths across
//! functions (Ball & Larus 1996, §7, on the supergraph of Melski & Reps 1998).
//!
//! The prediction follows the edge that ran most often out of each block, goes into each call that paths cross and
//! comes back from it, and ends where a path does. Counts know no context: where the path comes to the return of a
//! function in which it began, they don't say who called. The prediction goes on behind the crossed call that was made
//! most often, or ends there if most activations were called otherwise.

use super::decode::{MOST_STEPS, Step, active_suffix};
use super::graph::{Arc, ENTRY, EXIT, GEXIT, Node, Role};
use super::numbering::{FunctionNumbers, Numbering, Return, Shape};
use crate::facts::EdgeKind;
use crate::ids::{CallId, Edge, FunctionId};
use crate::method::path::numbering::branch;
use std::cmp::Reverse;

/// What an edge profile tells of a unit.
pub trait EdgeCounts {
    /// How often the function was entered.
    fn entries(&self, function: FunctionId) -> u64;
    /// How often the edge ran.
    fn edge(&self, function: FunctionId, edge: Edge) -> u64;
    /// How often the call was made.
    fn call(&self, function: FunctionId, call: CallId) -> u64;
}

/// Predicts paths.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a, C> {
    /// The paths of the unit.
    pub numbering: &'a Numbering,
    /// The functions of the unit.
    pub shapes: &'a [Option<Shape<'a>>],
    /// What is known of the run.
    pub counts: &'a C,
}

/// A way on from a node: an arc, for a computed goto also that from its dispatch node, and the edge that it stands for.
type Way = (Arc, Option<Arc>, Edge);

impl<C: EdgeCounts> Predictor<'_, C> {
    /// The path that begins with an arc: that of an entry, or a surrogate with which a path begins. It has the form of
    /// [`executed_steps`].
    #[must_use]
    pub fn follow(&self, mut function: FunctionId, first: Arc) -> Vec<Step> {
        let mut steps = vec![Step::Along(function, first)];
        let mut open: Vec<(FunctionId, CallId, Node)> = Vec::new();
        let Some(mut at) = self.numbering.of(function) else { return steps };
        // Such a path ends with the activation that began it.
        let at_entry = at.graph.role(first) == Role::Enter;
        let mut node = at.graph.dst(first);
        // Neither arcs nor crossed calls form a cycle, but paths can be longer than anybody wants to see.
        while node != GEXIT && steps.len() < MOST_STEPS {
            let step = if node == EXIT {
                let unmatched = || self.likeliest_return(function, at).filter(|_| !at_entry);
                let back = open.pop().or_else(|| unmatched().map(|back| (back.caller, back.call, back.node)));
                let Some((caller, call, behind)) = back else { break };
                (function, node) = (caller, behind);
                Step::Return(caller, call)
            } else {
                let Some((arc, dispatched)) = self.likeliest(function, at, node) else { break };
                match (at.graph.role(arc), dispatched) {
                    (Role::Cross(call, callee), _) => {
                        open.push((function, call, at.graph.dst(arc)));
                        let step = Step::Call(function, call, callee);
                        (function, node) = (callee, ENTRY);
                        step
                    }
                    (_, Some(target)) => {
                        steps.push(Step::Along(function, arc));
                        node = at.graph.dst(target);
                        Step::Along(function, target)
                    }
                    _ => {
                        node = at.graph.dst(arc);
                        Step::Along(function, arc)
                    }
                }
            };
            steps.push(step);
            let Some(next) = self.numbering.of(function) else { break };
            at = next;
        }
        steps
    }

    /// The arc on from a node, for a computed goto with that from its dispatch node.
    fn likeliest(&self, function: FunctionId, at: &FunctionNumbers, node: Node) -> Option<(Arc, Option<Arc>)> {
        let Shape { function: facts, cfg } = (*self.shapes.get(function.index())?)?;
        let graph = &at.graph;
        let mut ways: Vec<Way> = Vec::new();
        let mut ends_in_call = None;
        for &arc in graph.out(node) {
            match graph.role(arc) {
                // Nothing else can be next but an exception out of the call, which leaves it within the callee.
                Role::Enter | Role::Inside(_) | Role::EndAtBlock(_) | Role::Cross(..) => return Some((arc, None)),
                Role::Real(edge) | Role::Return(edge) | Role::EndOnEdge(edge) => ways.push((arc, None, edge)),
                Role::ToDispatch(block) => {
                    for &next in graph.out(graph.dst(arc)) {
                        let Role::FromDispatch(target) = graph.role(next) else { continue };
                        ways.extend(branch(cfg, block, target).map(|edge| (arc, Some(next), edge)));
                    }
                }
                Role::EndAtCall(_) => ends_in_call = Some((arc, None)),
                Role::FromDispatch(_)
                | Role::Descend(..)
                | Role::BeginAfterEdge(_)
                | Role::BeginAtBlock(_)
                | Role::BeginAfterCall(_)
                | Role::BeginOnEdge(_) => {}
            }
        }
        let taken = |edge: Edge| facts.edges.get(edge).is_some_and(|edge| edge.kind == EdgeKind::True);
        let likeliest =
            ways.into_iter().max_by_key(|&(.., edge)| (self.counts.edge(function, edge), taken(edge), Reverse(edge)));
        // A path ends in a call where no path runs on past it.
        likeliest.map(|(arc, target, _)| (arc, target)).or(ends_in_call)
    }

    /// Where the path goes on behind the return of a function, where it is not known who called that; `None` if it ends
    /// there.
    fn likeliest_return<'a>(&self, function: FunctionId, at: &'a FunctionNumbers) -> Option<&'a Return> {
        let made = |back: &Return| self.counts.call(back.caller, back.call);
        let crossed = at.returns.iter().map(made).fold(0, u64::saturating_add);
        let back = at.returns.iter().max_by_key(|back| (made(back), Reverse((back.caller, back.call))))?;
        let called_otherwise = self.counts.entries(function).saturating_sub(crossed);
        // A piece may only end there if some activation begins one.
        let must = self.numbering.piecewise && !at.entry.begins();
        (must || made(back) > called_otherwise).then_some(back)
    }
}

/// What a path executes: the steps of its active suffix, from the arc with which that begins.
#[must_use]
pub fn executed_steps<'a>(numbering: &Numbering, steps: &'a [Step]) -> &'a [Step] {
    let active = &steps[active_suffix(numbering, steps).min(steps.len())..];
    match active {
        [Step::Start(..) | Step::Descend(..), rest @ ..] => rest,
        _ => active,
    }
}

/// The arcs with which paths begin in a function: that of its entry, and the surrogates.
pub fn beginnings(numbers: &FunctionNumbers) -> impl Iterator<Item = Arc> + '_ {
    let graph = &numbers.graph;
    (0..graph.arc_count()).filter(|&arc| graph.role(arc) == Role::Enter || graph.role(arc).begins())
}
