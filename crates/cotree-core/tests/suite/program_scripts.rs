//! The interpreter of whole programs, action by action.

use crate::random;
use Action::{EndThread, Enter, Exit, Fork, Take};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, Counter, Edge, FunctionId, Site, Table};
use cotree_core::interpret::{Action, ActionError, Activation, Outcome, Process, Step, Thread};
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use std::collections::BTreeMap;

const MAIN: Thread = Thread(0);
const F: FunctionId = FunctionId(0);
const G: FunctionId = FunctionId(1);

/// 0→1, 1→EXIT, 1→0; the calls are call0 in 0, and call1 that ends 1.
fn function() -> (Function, Cfg) {
    let mut function = random::function(2, &[(0, 1, true), (1, 2, true), (1, 0, true)], &[(0, false), (1, true)]);
    function.calls.update(|id, call| call.returns_twice = id == CallId(0));
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

fn plan(probes: &[(Place, Probe)]) -> CounterPlan {
    CounterPlan {
        probes: probes.iter().map(|&(place, probe)| PlacedProbe { place, probe }).collect(),
        key: CounterKey { measures: vec![Measure::Block(Block(0)); 2], ..CounterKey::default() },
    }
}

/// The path sum is 5 after block 0, 7 along 0→1, and counted on the edge to EXIT.
fn path() -> CounterPlan {
    plan(&[
        (Place::Start(Block(0)), Probe::Set(Reg::PathSum, 4)),
        (Place::Start(Block(0)), Probe::Add(Reg::PathSum, 1)),
        (Place::Edge(Edge(0)), Probe::Add(Reg::PathSum, 2)),
        (Place::Start(Block(1)), Probe::Count(Counter(0))),
        (Place::Edge(Edge(1)), Probe::CountPath(Table(0), Reg::PathSum, 0)),
    ])
}

/// Runs two functions of that shape.
fn run(script: &[Action]) -> Result<Outcome, ActionError> {
    let functions = [function(), function()];
    let script: Vec<_> = script.iter().map(|&action| (MAIN, action)).collect();
    Process::new(functions.iter().map(|(f, cfg)| (f, cfg))).with_plans(&[path(), path()]).run(&script)
}

fn paths(outcome: &Outcome, function: FunctionId) -> BTreeMap<i64, u64> {
    outcome.counts(function).paths.iter().map(|(&(_, path), &count)| (path, count)).collect()
}

fn call(call: u32, callee: Option<FunctionId>) -> Action {
    Action::Call { call: CallId(call), callee }
}

/// Wherever it begins, a handler has registers of its own.
#[test]
fn handlers_run_between_any_two_probes() {
    let mut begun = Vec::new();
    for (steps, probes) in (0..9).flat_map(|steps| [(steps, 0), (steps, 1), (steps, 2)]) {
        let signal = Action::Signal { handler: F, steps, probes };
        let outcome = run(&[Enter(F), Take(Edge(0)), signal, Take(Edge(0)), Take(Edge(1)), Take(Edge(1))]).unwrap();
        assert_eq!(paths(&outcome, F), BTreeMap::from([(7, 2)]), "{steps} {probes}");
        assert_eq!(outcome.counts(F).counters, [2, 0]);
        assert_eq!((outcome.truth.functions[0].entries, outcome.alive.len()), (2, 0));
        begun
            .push(outcome.truth.logs[Thread(0)].iter().position(|step| *step == (Activation(1), Step::Begin)).unwrap());
    }
    assert!(begun.is_sorted() && begun[0] < begun[begun.len() - 1], "{begun:?}");
}

#[test]
fn what_a_handler_ends_is_interrupted() {
    let ends = |steps| {
        let signal = Action::Signal { handler: G, steps, probes: 1 };
        run(&[Enter(F), Take(Edge(0)), signal, call(0, None), Exit]).unwrap().truth
    };
    let truth = ends(1);
    assert_eq!((truth.interrupted, &truth.functions[1].at_site), (vec![(F, Block(0))], &vec![1, 0].into()));
    // In a call, it is where it can be seen.
    let signal = Action::Signal { handler: G, steps: 0, probes: 0 };
    let truth = run(&[Enter(F), call(0, None), signal, call(0, None), Exit]).unwrap().truth;
    assert!(truth.interrupted.is_empty() && truth.functions.iter().all(|f| f.at_site == [1, 0]));
}

/// A path that begins in the block of a `setjmp` begins when that returns once more.
#[test]
fn jumps_go_to_call_sites() {
    let back = Action::Jump { depth: 0, site: Site(0) };
    let outcome =
        run(&[Enter(F), Take(Edge(0)), call(1, Some(G)), call(0, None), back, Take(Edge(0)), Take(Edge(1))]).unwrap();
    let truth = &outcome.truth;
    assert_eq!((&truth.functions[0].at_site, &truth.functions[1].at_site), (&vec![-1, 1].into(), &vec![1, 0].into()));
    assert_eq!((&truth.functions[0].blocks, &truth.functions[0].edges), (&vec![1, 2].into(), &vec![2, 1, 0].into()));
    assert_eq!(truth.functions[0].calls, [1, 2]);
    // Only the `Set` is made anew, as the back end has it.
    assert_eq!(paths(&outcome, F), BTreeMap::from([(6, 1)]));
    let early: Vec<_> =
        truth.early.iter().map(|e| (e.function, e.site, e.registers.get(Reg::PathSum), e.count)).collect();
    assert_eq!(early, [(G, Site(0), 5, 1), (F, Site(1), 7, 1), (F, Site(0), 7, -1)]);
}

#[test]
fn exceptions_are_caught_by_calls_that_end_blocks() {
    let deep = [Enter(F), Take(Edge(0)), call(1, Some(G)), call(0, Some(G)), call(0, None)];
    let outcome =
        run(&[&deep[..], &[Action::Throw { depth: 0 }, Take(Edge(2)), Take(Edge(0)), Take(Edge(1))]].concat());
    let truth = outcome.unwrap().truth;
    assert_eq!((&truth.functions[0].at_site, &truth.functions[1].at_site), (&vec![0, 0].into(), &vec![2, 0].into()));
    assert_eq!((truth.functions[0].entries, &truth.functions[0].blocks), (1, &vec![2, 2].into()));
    assert!(truth.logs[Thread(0)].contains(&(Activation(0), Step::Catch)));
    let uncaught = run(&[&deep[..], &[Action::Throw { depth: 1 }]].concat());
    assert_eq!(uncaught.unwrap_err(), ActionError::NotCaught);
}

/// The frame of a `musttail` call is gone: it neither dies nor comes to life.
#[test]
fn tail_calls_leave_no_frame() {
    let mut caller = random::function(1, &[(0, 1, true)], &[(0, false)]);
    caller.calls.update(|_, call| (call.must_tail, call.is_site) = (true, false));
    let functions = [caller, function().0];
    let graphs = functions.each_ref().map(|f| f.cfg().unwrap());
    let script = [Enter(F), call(0, Some(G)), call(0, None), EndThread].map(|action| (MAIN, action));
    let truth = Process::new(functions.iter().zip(&graphs)).run(&script).unwrap().truth;
    assert_eq!((truth.functions[0].entries, &truth.functions[0].edges), (1, &vec![1].into()));
    assert_eq!(truth.functions[1].at_site, [1, 0]);
    assert_eq!(truth.callees, BTreeMap::from([((F, CallId(0), G), 1)]));
}

/// The child of a fork has done nothing, but has activations under way, and their registers.
#[test]
fn forks_begin_with_nothing() {
    let outcome = run(&[
        Enter(F),
        Take(Edge(0)),
        call(1, Some(G)),
        call(0, None),
        Fork,
        Take(Edge(0)),
        Take(Edge(1)),
        Take(Edge(1)),
    ]);
    let outcome = outcome.unwrap();
    let truth = &outcome.truth;
    assert_eq!((truth.functions[0].entries, truth.functions[1].entries), (0, 0));
    assert_eq!((&truth.functions[0].at_site, &truth.functions[1].at_site), (&vec![0, -1].into(), &vec![-1, 0].into()));
    assert_eq!((&truth.functions[0].edges, &truth.functions[1].edges), (&vec![0, 1, 0].into(), &vec![1, 1, 0].into()));
    assert_eq!((paths(&outcome, F), paths(&outcome, G)), (BTreeMap::from([(7, 1)]), BTreeMap::from([(7, 1)])));
    assert_eq!(truth.activations[Activation(1)].caller, Some((Activation(0), CallId(1))));
}

/// Each thread writes to its own; `exit` ends them all.
#[test]
fn threads_have_their_own_counters() {
    let functions = [function(), function()];
    let other = Thread(1);
    let script = [
        (MAIN, Enter(F)),
        (other, Enter(F)),
        (MAIN, Take(Edge(0))),
        (other, call(0, None)),
        (MAIN, call(1, None)),
        (MAIN, Exit),
    ];
    let process = Process::new(functions.iter().map(|(f, cfg)| (f, cfg))).with_plans(&[path(), path()]);
    let outcome = process.run(&script).unwrap();
    let counted: Vec<_> = outcome.threads.iter().map(|thread| thread.functions[0].counters[0]).collect();
    assert_eq!((counted, outcome.counts(F).counters), (vec![1, 0], vec![1, 0]));
    assert_eq!((&outcome.truth.functions[0].at_site, outcome.alive.len()), (&vec![1, 1].into(), 0));
    assert_eq!(run(&[Enter(F), call(0, None), Exit, Enter(F)]).unwrap_err(), ActionError::Over);
}

/// Who is cut off is still there.
#[test]
fn activations_may_be_left_alive() {
    assert_eq!(run(&[Enter(F), call(0, Some(G))]).unwrap().alive, [F, G]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let refused = |script: &[Action]| run(script).unwrap_err();
    assert_eq!(refused(&[Enter(FunctionId(2))]), ActionError::NoSuchFunction(FunctionId(2)));
    assert_eq!(refused(&[Take(Edge(0))]), ActionError::NoActivation);
    assert_eq!(refused(&[Enter(F), Enter(G)]), ActionError::NotCalling);
    assert_eq!(refused(&[Enter(F), Exit]), ActionError::NotCalling);
    assert_eq!(refused(&[Enter(F), Take(Edge(1))]), ActionError::Detached(Edge(1), Block(0)));
    assert_eq!(refused(&[Enter(F), call(1, None)]), ActionError::NoSuchCall(CallId(1), Block(0)));
    assert_eq!(refused(&[Enter(F), call(0, None), call(0, None)]), ActionError::NoSuchCall(CallId(0), Block(0)));
    let jump = |depth, site| Action::Jump { depth, site: Site(site) };
    assert_eq!(refused(&[Enter(F), call(0, None), jump(1, 0)]), ActionError::NoTarget);
    assert_eq!(refused(&[Enter(F), call(0, None), jump(0, 2)]), ActionError::NoTarget);
}
