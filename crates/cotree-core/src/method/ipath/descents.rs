//! Chooses the calls by which paths only descend: those that are not crossed, the most frequent first, as long as there
//! are numbers for all paths. One call of a function with many branches may take more numbers than a thousand others.
//! So those that take few come before those that take more.
//!
//! Where a path descends, the number of paths from the caller grows by that of the callee times the number of paths to
//! the call. It does not multiply what is behind the call, as crossing does. So there is room for many more calls.

use super::graph::{ENTRY, FlowGraph, Role};
use super::psi_rho::{MOST_LENGTH, PsiRho};
use super::types::{AtCall, Groups, Target};
use crate::ids::{CallId, FunctionId};
use std::collections::BTreeMap;

/// Each call is tried with these shares of all numbers: that is how many it may take.
const SHARES: [f64; 4] = [1e-9, 1e-6, 1e-3, 1.0];

/// A function with the calls that are crossed.
pub(super) struct Caller {
    /// The graph of the function, in which paths descend by all calls that they may.
    pub graph: FlowGraph,
    /// The ψ and ρ of the function where paths descend by none.
    pub linear: PsiRho,
}

/// A call by which numbers and lengths of paths go from a callee to its caller.
#[derive(Clone, Copy)]
struct Link {
    caller: FunctionId,
    /// How many paths lead to the call.
    prefixes: f64,
    /// How many arcs the longest of them has.
    length: u64,
}

/// What is known of a function while calls are chosen.
#[derive(Clone, Copy, Default)]
struct State {
    /// How many paths lead on from where it is entered.
    paths: f64,
    /// How many arcs the longest of them has.
    length: u64,
}

/// Per function, the calls by which paths descend, in order. `order` has callees first, `limit` is the most paths of
/// the unit.
pub(super) fn choose(
    callers: &[Option<Caller>],
    (order, groups): (&[FunctionId], &Groups),
    weight: impl Fn(FunctionId, CallId) -> f64,
    limit: u64,
) -> Vec<Vec<(CallId, AtCall)>> {
    let mut chosen: Vec<Vec<(CallId, AtCall)>> = vec![Vec::new(); callers.len()];
    let mut unit = Unit::new(callers, (order, groups), limit);
    let mut candidates: Vec<(f64, FunctionId, CallId, Target, Link)> = Vec::new();
    for (number, caller) in callers.iter().enumerate() {
        let Some(Caller { graph, linear }) = caller else { continue };
        let id = FunctionId::new(number);
        let reach = Reach::new(graph, |callee| times(callers, callee));
        unit.state[number] = State { paths: linear.psi[ENTRY].at(1) as f64, length: linear.longest };
        for (arc, _, callee) in graph.crossings() {
            unit.links[callee.index()].push(reach.link(id, graph.src(arc)));
        }
        for (arc, call, target) in graph.descents() {
            candidates.push((weight(id, call), id, call, target, reach.link(id, graph.src(arc))));
        }
    }
    unit.total = unit.state.iter().map(|state| state.paths).sum();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for share in SHARES {
        unit.share = limit as f64 * share;
        candidates.retain(|&(_, caller, call, target, link)| {
            let descends = unit.descend(link, target);
            let at = match target {
                Target::Function(callee) => AtCall::Descend(callee),
                Target::Group(group) => AtCall::Reach(group),
            };
            chosen[caller.index()].extend(descends.then_some((call, at)));
            !descends
        });
    }
    chosen.iter_mut().for_each(|calls| calls.sort_unstable_by_key(|at| at.0));
    chosen
}

/// By how much a call multiplies paths that cross it.
fn times(callers: &[Option<Caller>], callee: FunctionId) -> f64 {
    callers[callee.index()].as_ref().map_or(1.0, |callee| callee.linear.psi[ENTRY].times as f64)
}

/// How many paths lead to each node from where the function is entered, and how long they are.
struct Reach(Vec<State>);

impl Reach {
    fn new(graph: &FlowGraph, times: impl Fn(FunctionId) -> f64) -> Self {
        let mut reach = vec![State::default(); graph.node_count()];
        reach[ENTRY].paths = 1.0;
        for &node in graph.topological_order() {
            for &arc in graph.out(node) {
                let by = match graph.role(arc) {
                    Role::Cross(_, callee) => times(callee),
                    _ => 1.0,
                };
                let (here, next) = (reach[node], &mut reach[graph.dst(arc)]);
                next.paths += here.paths * by;
                next.length = next.length.max(here.length + 1);
            }
        }
        Self(reach)
    }

    fn link(&self, caller: FunctionId, node: usize) -> Link {
        let State { paths, length } = self.0[node];
        Link { caller, prefixes: paths, length }
    }
}

struct Unit<'a> {
    groups: &'a Groups,
    state: Vec<State>,
    /// Per function, the calls of it by which its numbers reach callers.
    links: Vec<Vec<Link>>,
    /// Per function, its place in the order that has callees first.
    place: Vec<usize>,
    order: Vec<FunctionId>,
    /// The paths of all functions.
    total: f64,
    limit: f64,
    /// How many paths a call may add.
    share: f64,
}

impl<'a> Unit<'a> {
    fn new(callers: &[Option<Caller>], (order, groups): (&[FunctionId], &'a Groups), limit: u64) -> Self {
        let mut place = vec![0; callers.len()];
        order.iter().enumerate().for_each(|(at, function)| place[function.index()] = at);
        Self {
            groups,
            state: vec![State::default(); callers.len()],
            links: vec![Vec::new(); callers.len()],
            place,
            order: order.to_vec(),
            total: 0.0,
            // Numbers are exact, and these sums are not.
            limit: limit as f64 * 0.99,
            share: 0.0,
        }
    }

    /// Has paths descend by a call, if there are numbers for that.
    fn descend(&mut self, link: Link, target: Target) -> bool {
        let below = self.groups.functions(target).fold(State::default(), |all, callee| {
            let State { paths, length } = self.state[callee.index()];
            State { paths: all.paths + paths, length: all.length.max(length) }
        });
        // By how much the paths of the callers grow, callees first.
        let mut open: BTreeMap<usize, State> = BTreeMap::new();
        let mut changed: Vec<(FunctionId, State)> = Vec::new();
        let more = |link: Link, State { paths, length }: State| State {
            paths: link.prefixes * paths,
            length: link.length.saturating_add(length),
        };
        open.insert(self.place[link.caller.index()], more(link, below));
        let mut total = self.total;
        while let Some((place, by)) = open.pop_first() {
            let function = self.order[place];
            let before = self.state[function.index()];
            let after = State { paths: before.paths + by.paths, length: before.length.max(by.length) };
            total += by.paths;
            let many = total > self.limit || total - self.total > self.share;
            if total.is_nan() || many || after.length > MOST_LENGTH {
                return false;
            }
            changed.push((function, after));
            for &link in &self.links[function.index()] {
                let by = more(link, State { paths: by.paths, length: after.length });
                let slot = open.entry(self.place[link.caller.index()]).or_default();
                slot.paths += by.paths;
                slot.length = slot.length.max(by.length);
            }
        }
        for (function, state) in changed {
            self.state[function.index()] = state;
        }
        self.groups.functions(target).for_each(|callee| self.links[callee.index()].push(link));
        self.total = total;
        true
    }
}
