//! The paths across functions of a run, and what they add up, by the run's log.

use crate::programs::Program;
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::interpret::{Activation, Step as Done, Truth};
use cotree_core::method::ipath::decode::Step;
use cotree_core::method::ipath::graph::Role;
use cotree_core::method::ipath::numbering::Numbering;
use cotree_core::method::ipath::{AtCall, UnitIpathPlan};
use cotree_core::method::path::classes::{Class, EdgeClasses};
use std::collections::BTreeMap;

/// The paths of a run, found by following its log step by step and without numbers.
pub struct Enumeration<'a> {
    program: &'a Program,
    plan: &'a UnitIpathPlan,
    numbering: &'a Numbering,
    classes: Vec<EdgeClasses>,
    pub paths: BTreeMap<Vec<Step>, u64>,
    /// What each added up.
    pub sums: BTreeMap<Vec<Step>, i64>,
    /// The events of all threads so far: a thread is followed from its beginning to its end.
    reported: i64,
    /// Paths that ended in a call.
    pub ended: BTreeMap<Vec<Step>, i64>,
    /// Paths up to the calls in which activations ended.
    pub so_far: BTreeMap<(FunctionId, CallId, Vec<Step>), i64>,
}

/// An activation that has not ended.
#[derive(Clone, Default)]
struct Unfinished {
    function: FunctionId,
    /// The path so far, and that with which the activation was called, if it was.
    path: Vec<Step>,
    /// The events when it began.
    began: i64,
    called: Option<Vec<Step>>,
    /// Whether the caller's path comes back from it.
    crossed: bool,
    /// The call under way, and the path with which its callee has returned.
    calling: Option<CallId>,
    returned: Option<(Vec<Step>, i64)>,
    /// The path of the callee that the activation counts when the call comes back, and when that began.
    others: Option<(Vec<Step>, i64)>,
}

impl Enumeration<'_> {
    pub fn new<'a>(program: &'a Program, plan: &'a UnitIpathPlan, numbering: &'a Numbering) -> Enumeration<'a> {
        let classes = program.functions.iter().zip(&program.graphs).map(|(f, cfg)| EdgeClasses::new(f, cfg)).collect();
        Enumeration {
            program,
            plan,
            numbering,
            classes,
            paths: BTreeMap::new(),
            sums: BTreeMap::new(),
            reported: 0,
            ended: BTreeMap::new(),
            so_far: BTreeMap::new(),
        }
    }

    /// Follows the logs of all threads.
    pub fn run(&mut self, truth: &Truth) {
        let mut all: BTreeMap<Activation, Unfinished> = BTreeMap::new();
        for &(activation, step) in truth.logs.iter().flatten() {
            let facts = truth.activations[activation];
            let mut at = all.remove(&activation).unwrap_or_default();
            at.function = facts.function;
            match step {
                Done::Begin => {
                    let caller = facts.caller.and_then(|(caller, call)| Some((all.get(&caller)?, call)));
                    at.called = caller.and_then(|(caller, call)| {
                        let step = match self.at(caller.function, call)? {
                            AtCall::Cross(callee) => Step::Call(caller.function, call, callee),
                            AtCall::Descend(callee) => Step::Descend(caller.function, call, callee),
                            AtCall::Reach(group) if self.plan.groups.members(group).contains(&at.function) => {
                                Step::Descend(caller.function, call, at.function)
                            }
                            _ => return None,
                        };
                        Some([&caller.path[..], &[step]].concat())
                    });
                    at.crossed = matches!(at.called.as_deref(), Some([.., Step::Call(..)]));
                    at.began = caller_of(&at, &all, facts.caller.map(|caller| caller.0)).unwrap_or(self.reported);
                    at.path = at.called.clone().unwrap_or_else(|| vec![Step::Start(at.function, true)]);
                    self.push(&mut at, Role::Enter);
                }
                Done::Enter(block) => {
                    if self.push(&mut at, Role::EndAtBlock(block)) {
                        self.count(&mut at);
                        self.begin(&mut at, Role::BeginAtBlock(block));
                    } else {
                        self.push(&mut at, Role::Inside(block));
                    }
                }
                Done::Call(call) => {
                    self.come_back(&mut at);
                    if self.at(at.function, call) == Some(AtCall::Cut) {
                        assert!(self.push(&mut at, Role::EndAtCall(call)));
                        self.count(&mut at);
                    }
                    at.calling = Some(call);
                }
                Done::Take(edge) => {
                    let kind = self.program.functions[at.function.index()].edges[edge].kind;
                    if kind == EdgeKind::InvokeUnwind {
                        self.catch(&mut at, edge);
                    } else {
                        self.come_back(&mut at);
                        self.take(&mut at, edge);
                    }
                    at.calling = None;
                    if self.program.graphs[at.function.index()].dst(edge) == self.exit(at.function) {
                        let caller = facts.caller.and_then(|(caller, call)| Some((all.get_mut(&caller)?, call)));
                        match caller {
                            Some((caller, _)) if at.crossed => caller.returned = Some((at.path.clone(), at.began)),
                            Some((caller, call)) if self.counts_for(at.function, (caller.function, call)) => {
                                caller.others = Some((at.path.clone(), at.began));
                            }
                            _ => self.count(&mut at),
                        }
                    }
                }
                // The edge is taken next.
                Done::Catch => {}
                Done::Revived(site) => {
                    let calls = &self.program.functions[at.function.index()].calls;
                    (at.calling, at.returned) = (site.and_then(|site| calls.call_of(site)), None);
                }
                Done::Abandoned(site) => {
                    let calls = &self.program.functions[at.function.index()].calls;
                    let call = site.and_then(|site| calls.call_of(site));
                    if let Some(call) = call.filter(|&call| self.at(at.function, call) != Some(AtCall::Cut)) {
                        *self.so_far.entry((at.function, call, at.path.clone())).or_default() += 1;
                    }
                    if let Some(call) = call.filter(|&call| self.at(at.function, call).is_some_and(AtCall::runs_on)) {
                        assert!(self.push(&mut at, Role::EndAtCall(call)));
                        *self.ended.entry(at.path.clone()).or_default() += 1;
                    }
                }
                Done::Access(..) => {}
                Done::Report(more) => {
                    // What a block reports that ends in a call is part of the call.
                    let calls = &self.program.functions[at.function.index()].calls;
                    if at.calling.is_some_and(|call| !calls[call].terminator) {
                        self.come_back(&mut at);
                    }
                    self.reported += more;
                }
            }
            all.insert(activation, at);
        }
    }

    fn exit(&self, function: FunctionId) -> Block {
        self.program.graphs[function.index()].exit()
    }

    pub fn at(&self, function: FunctionId, call: CallId) -> Option<AtCall> {
        let calls = &self.plan.functions[function.index()].key.calls;
        calls.iter().find(|at| at.0 == call).map(|at| at.1)
    }

    /// Goes along the arc, if the function has it.
    fn push(&self, at: &mut Unfinished, role: Role) -> bool {
        let graph = &self.numbering.of(at.function).unwrap().graph;
        let arc = (0..graph.arc_count()).find(|&arc| graph.role(arc) == role);
        at.path.extend(arc.map(|arc| Step::Along(at.function, arc)));
        arc.is_some()
    }

    fn begin(&self, at: &mut Unfinished, role: Role) {
        let entry = || at.called.clone().unwrap_or_else(|| vec![Step::Start(at.function, true)]);
        at.path = if self.numbering.piecewise { vec![Step::Start(at.function, false)] } else { entry() };
        assert!(self.push(at, role));
    }

    /// The call under way returns.
    fn come_back(&mut self, at: &mut Unfinished) {
        if let Some((path, began)) = at.others.take() {
            self.add(path, began);
        }
        let Some(call) = at.calling.take() else { return };
        match self.at(at.function, call) {
            Some(AtCall::Cross(_)) => {
                (at.path, at.began) = at.returned.take().unwrap();
                at.path.push(Step::Return(at.function, call));
            }
            Some(AtCall::Cut) if self.program.functions[at.function.index()].calls[call].comes_back() => {
                self.begin(at, Role::BeginAfterCall(call));
                at.began = self.reported;
            }
            _ => {}
        }
    }

    fn take(&mut self, at: &mut Unfinished, edge: Edge) {
        let cfg = &self.program.graphs[at.function.index()];
        let (src, dst) = (cfg.src(edge), cfg.dst(edge));
        if self.push(at, Role::EndOnEdge(edge)) {
            self.count(at);
            self.begin(at, Role::BeginAfterEdge(dst));
        } else if !self.push(at, Role::Real(edge)) && !self.push(at, Role::Return(edge)) {
            assert!(matches!(self.classes[at.function.index()].class(edge), Class::Dispatched(_) | Class::Hidden));
            assert!(self.push(at, Role::ToDispatch(src)) && self.push(at, Role::FromDispatch(dst)));
        }
    }

    /// The exception that comes out of the call under way leads along the edge.
    fn catch(&self, at: &mut Unfinished, edge: Edge) {
        match at.calling.and_then(|call| self.at(at.function, call)) {
            Some(AtCall::Pass | AtCall::Begin(_) | AtCall::Descend(_) | AtCall::Reach(_)) => {
                assert!(self.push(at, Role::Real(edge)))
            }
            Some(AtCall::Cross(_)) if !self.numbering.piecewise => {
                assert!(self.push(at, Role::BeginOnEdge(edge)));
                at.began = self.reported;
            }
            _ => {
                self.begin(at, Role::BeginOnEdge(edge));
                at.began = self.reported;
            }
        }
    }

    /// The activation's path ends, and another one begins.
    fn count(&mut self, at: &mut Unfinished) {
        self.add(at.path.clone(), at.began);
        at.began = self.reported;
    }

    /// A path ends that began then.
    fn add(&mut self, path: Vec<Step>, began: i64) {
        *self.paths.entry(path.clone()).or_default() += 1;
        *self.sums.entry(path).or_default() += self.reported - began;
    }

    /// Does the caller count the path with which the callee returns?
    fn counts_for(&self, callee: FunctionId, (caller, call): (FunctionId, CallId)) -> bool {
        match self.at(caller, call) {
            Some(AtCall::Begin(_) | AtCall::Descend(_)) => true,
            Some(AtCall::Reach(group)) => self.plan.groups.members(group).contains(&callee),
            _ => false,
        }
    }
}

/// The events when the path began that the activation goes on with, if its caller has crossed into it.
fn caller_of(at: &Unfinished, all: &BTreeMap<Activation, Unfinished>, caller: Option<Activation>) -> Option<i64> {
    Some(all.get(&caller.filter(|_| at.crossed)?)?.began)
}
