//! The `pow` program of Melski & Reps 1998: Figs 4 to 9 and 14 to 17, and further cases by hand.

use cotree_core::facts::{BlockFacts, Call, Callee, EdgeFacts, EdgeKind, Function};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::interpret::{Action, Process, Thread};
use cotree_core::method::ipath::graph::{ENTRY, EXIT, GENTRY, Role};
use cotree_core::method::ipath::numbering::{FunctionNumbers, Numbering, Shape};
use cotree_core::method::ipath::psi_rho::Linear;
use cotree_core::method::ipath::supergraph::FunctionInput;
use cotree_core::method::ipath::{self, AtCall, Ended, Entry, Hybrid, IpathMethod, IpathOptions, NOTED, UnitIpathPlan};
use cotree_core::weight::weighting::Weighting;
use std::collections::BTreeMap;

pub const MAIN: FunctionId = FunctionId(0);
pub const POW: FunctionId = FunctionId(1);

fn function(blocks: usize, edges: &[(u32, u32)], calls: &[u32]) -> Function {
    let edge = |&(src, dst): &(u32, u32)| EdgeFacts {
        src: Block(src),
        dst: Block(dst),
        kind: if dst as usize == blocks { EdgeKind::Return } else { EdgeKind::Jump },
        successor: 0,
    };
    let call = |&block: &u32| Call { block: Block(block), callee: Callee::Symbol("callee".into()), ..Call::default() };
    Function {
        blocks: vec![BlockFacts::default(); blocks].into(),
        edges: edges.iter().map(edge).collect(),
        calls: calls.iter().map(call).collect(),
        ..Function::default()
    }
}

/// `main`: v1 to v3, v4, v5, v6 to v8 with a call, v9, v10 to v12 with a call, v13, v15.
pub fn main_function() -> Function {
    let edges = [(0, 1), (1, 2), (1, 7), (2, 3), (2, 4), (3, 4), (4, 5), (4, 6), (5, 6), (6, 1), (7, 8)];
    function(8, &edges, &[3, 5])
}

/// `pow`: u1 and u2, u3, u4 and u5, u7.
pub fn pow_function() -> Function {
    function(4, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)], &[])
}

pub fn plan(functions: &[Function], callers: &[&[(u32, u32)]], method: IpathMethod) -> UnitIpathPlan {
    plan_with(functions, callers, |_| true, method)
}

fn plan_with(
    functions: &[Function],
    callers: &[&[(u32, u32)]],
    only_callers: impl Fn(u32) -> bool,
    method: IpathMethod,
) -> UnitIpathPlan {
    plan_by(functions, callers, only_callers, (method, IpathOptions::default()))
}

fn plan_by(
    functions: &[Function],
    callers: &[&[(u32, u32)]],
    only_callers: impl Fn(u32) -> bool,
    (method, options): (IpathMethod, IpathOptions),
) -> UnitIpathPlan {
    let input = |((number, function), callers): ((u32, &'static Function), &&[(u32, u32)])| {
        let cfg = function.cfg().unwrap();
        let weighting = Weighting::uniform(&cfg);
        let callers = callers.iter().map(|&(function, call)| (FunctionId(function), CallId(call))).collect();
        let only_callers = only_callers(number);
        let (pointed, pointers) = (None, Vec::new());
        Some(FunctionInput { function, cfg, weighting, module: 0, callers, only_callers, pointed, pointers })
    };
    let functions: &'static [Function] = functions.to_vec().leak();
    let inputs: Vec<_> = (0..).zip(functions).zip(callers).map(input).collect();
    ipath::plan(&inputs, method, options).unwrap()
}

pub fn numbering(functions: &[Function], plan: &UnitIpathPlan) -> Numbering {
    let cfgs: Vec<_> = functions.iter().map(|f| f.cfg().unwrap()).collect();
    let shapes: Vec<_> = functions.iter().zip(&cfgs).map(|(function, cfg)| Some(Shape { function, cfg })).collect();
    Numbering::new(&shapes, &plan.keys(), plan.method.is_piecewise()).unwrap()
}

/// Runs the program of Fig. 4 with the plan's probes.
fn run(functions: &[Function], plan: &UnitIpathPlan) -> Vec<(u64, u64)> {
    let cfgs: Vec<_> = functions.iter().map(|f| f.cfg().unwrap()).collect();
    let mut process = Process::new(functions.iter().zip(&cfgs)).with_plans(&plan.functions);
    let mut act = |action| process.act(Thread(0), action).unwrap();
    let take = |edge| Action::Take(Edge(edge));
    act(Action::Enter(MAIN));
    act(take(0));
    for i in 1..=18 {
        act(take(1));
        for (divisor, first) in [(2, 3), (3, 6)] {
            if i % divisor != 0 {
                act(take(first + 1));
                continue;
            }
            act(take(first));
            act(Action::Call { call: CallId(divisor - 2), callee: Some(POW) });
            act(take(0));
            for _ in 0..2 {
                act(take(1));
                act(take(3));
            }
            act(take(2));
            act(take(4));
            act(take(first + 2));
        }
        act(take(9));
    }
    act(take(2));
    act(take(10));
    let outcome = process.finish();
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for function in [MAIN, POW] {
        for (&(_, number), &count) in &outcome.counts(function).paths {
            *counts.entry(number.cast_unsigned()).or_default() += count;
        }
    }
    let counts: Vec<(u64, u64)> = counts.into_iter().collect();

    // The counts of blocks and edges are the truth.
    let shapes: Vec<_> = functions.iter().zip(&cfgs).map(|(function, cfg)| Some(Shape { function, cfg })).collect();
    let profile = ipath::recover(&shapes, plan, &counts, &[], &[]).unwrap();
    for (recovered, truth) in profile.functions.iter().zip(&outcome.truth.functions) {
        assert_eq!(recovered.as_ref(), Some(&truth.profile()));
    }
    counts
}

fn rho(numbers: &FunctionNumbers, role: Role) -> Linear {
    let arc = (0..numbers.graph.arc_count()).find(|&arc| numbers.graph.role(arc) == role).unwrap();
    numbers.linear.rho[arc]
}

fn linear(times: u128, plus: u128) -> Linear {
    Linear { times, plus }
}

#[test]
fn figures_4_to_9_context_paths_of_pow() {
    let functions = [main_function(), pow_function()];
    let plan = plan(&functions, &[&[], &[(0, 0), (0, 1)]], IpathMethod::Context);
    assert_eq!(plan.paths, 36);
    let numbering = numbering(&functions, &plan);
    let (main, pow) = (numbering.of(MAIN).unwrap(), numbering.of(POW).unwrap());
    assert_eq!(pow.linear.psi[ENTRY], linear(2, 2));
    assert_eq!(main.linear.psi[ENTRY].at(1), 36);
    // Fig. 7: the six edges that have a function other than ⟨0,0⟩.
    assert_eq!(rho(pow, Role::BeginAfterEdge(Block(1))), linear(1, 1), "u1→u3");
    assert_eq!(rho(pow, Role::Real(Edge(2))), linear(0, 1), "u3→u7");
    assert_eq!(rho(main, Role::BeginAfterEdge(Block(1))), linear(1, 17), "v1→v4");
    assert_eq!(rho(main, Role::Real(Edge(2))), linear(0, 17), "v4→v15");
    assert_eq!(rho(main, Role::Real(Edge(4))), linear(0, 12), "v5→v9");
    assert_eq!(rho(main, Role::Real(Edge(7))), linear(0, 4), "v9→v13");
    // Fig. 6: the two copies of pow, with 5 and 1 paths on from their EXITs.
    let behind: Vec<u128> =
        main.graph.crossings().map(|(arc, ..)| main.linear.psi[main.graph.dst(arc)].at(1)).collect();
    assert_eq!(behind, [5, 1]);
    assert_eq!(pow.linear.psi[ENTRY].at(5), 12);
    assert_eq!(pow.linear.psi[ENTRY].at(1), 4);
    assert_eq!(
        run(&functions, &plan),
        [(16, 1), (18, 9), (24, 9), (25, 3), (27, 3), (28, 3), (29, 6), (30, 3), (32, 3), (33, 3), (34, 5), (35, 1)]
    );
    assert_eq!(numbering.max_enters(&plan.keys()), [1, 2]);
}

#[test]
fn figures_14_to_17_piecewise_paths_of_pow() {
    let functions = [main_function(), pow_function()];
    let plan = plan(&functions, &[&[], &[(0, 0), (0, 1)]], IpathMethod::Piecewise);
    assert_eq!(plan.paths, 21);
    let numbering = numbering(&functions, &plan);
    let (main, pow) = (numbering.of(MAIN).unwrap(), numbering.of(POW).unwrap());
    assert_eq!(pow.linear.psi[ENTRY], linear(1, 1));
    assert_eq!(pow.paths_from_exit, 4);
    assert_eq!((main.from_entry, main.from_gentry, pow.from_gentry), (Some(0), Some(8), Some(16)));
    assert_eq!(main.linear.psi[ENTRY].at(1), 8);
    assert_eq!(main.linear.psi[GENTRY].at(1), 8);
    assert_eq!(pow.linear.psi[GENTRY].at(4), 5);
    let values: Vec<u64> = pow.returns.iter().map(|back| back.value).collect();
    assert_eq!(values, [0, 3], "u8→v7 and u8→v11");
    assert_eq!(main.linear.psi[EXIT], Linear::IDENTITY);
    assert_eq!(
        run(&functions, &plan),
        [(6, 1), (8, 9), (12, 3), (14, 5), (15, 1), (16, 15), (17, 3), (19, 6), (20, 6)]
    );
}

/// The piecewise paths of `pow` where only the first of its two calls is crossed.
#[test]
fn hybrid_piecewise_paths_of_pow() {
    let functions = [main_function(), pow_function()];
    let callers: [&[(u32, u32)]; 2] = [&[], &[(0, 0), (0, 1)]];
    // With both calls main has 8 paths from its entry and 8 from its loop, with one of them 6 and 6.
    let one_call = IpathOptions { function: 15, ..IpathOptions::default() };
    let plan = plan_by(&functions, &callers, |_| true, (IpathMethod::Piecewise, one_call));
    assert_eq!(at_calls(&plan), [vec![AtCall::Cross(POW), AtCall::Begin(POW)], vec![]]);
    assert_eq!(plan.paths, 18);
    let numbering = numbering(&functions, &plan);
    let (main, pow) = (numbering.of(MAIN).unwrap(), numbering.of(POW).unwrap());
    assert_eq!((main.from_entry, pow.from_entry), (Some(0), Some(6)));
    assert_eq!((main.from_gentry, pow.from_gentry), (Some(8), Some(14)));
    // Behind EXIT it ends, as the second call began it, or goes on behind the first call in two ways.
    assert_eq!(pow.paths_from_exit, 3);
    let values: Vec<u64> = pow.returns.iter().map(|back| back.value).collect();
    assert_eq!(values, [1], "u8→v7");
    assert_eq!(
        run(&functions, &plan),
        [(4, 1), (6, 6), (8, 9), (11, 3), (12, 5), (13, 1), (14, 15), (15, 6), (16, 3), (17, 6)]
    );
    for number in 0..plan.paths {
        assert_eq!(numbering.number(&numbering.path(number).unwrap()), Some(number));
    }
}

/// `main` calls `f`, which may call `g`, which calls nothing: pieces cross the call of the leaf only.
#[test]
fn hybrid_pieces_cross_calls_of_leaves_only() {
    let branch = |calls: &[u32]| function(3, &[(0, 1), (0, 2), (1, 2), (2, 3)], calls);
    let functions = [function(1, &[(0, 1)], &[0]), branch(&[1]), branch(&[])];
    let callers: [&[(u32, u32)]; 3] = [&[], &[(0, 0)], &[(1, 0)]];
    let plan = plan_by(&functions, &callers, |_| true, (IpathMethod::Piecewise, Hybrid::Leaf.into()));
    assert_eq!(at_calls(&plan), [vec![], vec![AtCall::Cross(FunctionId(2))], vec![]]);
    // One of main; of f two through g, and one past it; g begins none.
    assert_eq!(plan.paths, 4);
    let take = |edge| Action::Take(Edge(edge));
    let run = |inside: &[Action]| {
        let script = [&[Action::Enter(MAIN), call(0, 1)], inside, &[take(3), take(0)]].concat();
        counts_of(&functions, &plan, &script)
    };
    assert_eq!(run(&[take(1)]), [(0, 1), (3, 1)]);
    assert_eq!(run(&[take(0), call(0, 2), take(1), take(3), take(2)]), [(0, 1), (2, 1)]);
    assert_eq!(run(&[take(0), call(0, 2), take(0), take(2), take(3), take(2)]), [(0, 1), (1, 1)]);
}

#[test]
fn every_number_is_a_path_and_back() {
    let functions = [main_function(), pow_function()];
    for method in [IpathMethod::Context, IpathMethod::Piecewise] {
        let plan = plan(&functions, &[&[], &[(0, 0), (0, 1)]], method);
        let numbering = numbering(&functions, &plan);
        let mut seen = std::collections::HashSet::new();
        for number in 0..plan.paths {
            let path = numbering.path(number).unwrap();
            assert_eq!(numbering.number(&path), Some(number), "{path:?}");
            assert!(seen.insert(format!("{path:?}")));
        }
        assert_eq!(numbering.path(plan.paths), None);
    }
}

/// Runs a script; gives the counts of paths, once the counts of blocks and edges have been compared with the truth.
fn counts_of(functions: &[Function], plan: &UnitIpathPlan, script: &[Action]) -> Vec<(u64, u64)> {
    let (counts, ended) = all_counts_of(functions, plan, script);
    assert_eq!(ended, []);
    counts
}

/// Numbers of paths with their counts.
type Counts = Vec<(u64, u64)>;

/// The counts of paths, as [`counts_of`] gives them, and those of paths that ended in calls.
fn all_counts_of(functions: &[Function], plan: &UnitIpathPlan, script: &[Action]) -> (Counts, Vec<(u64, i64)>) {
    let cfgs: Vec<_> = functions.iter().map(|f| f.cfg().unwrap()).collect();
    let script: Vec<_> = script.iter().map(|&action| (Thread(0), action)).collect();
    let outcome = Process::new(functions.iter().zip(&cfgs)).with_plans(&plan.functions).run(&script).unwrap();
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for function in (0..functions.len()).map(FunctionId::new) {
        for (&(_, number), &count) in &outcome.counts(function).paths {
            *counts.entry(number.cast_unsigned()).or_default() += count;
        }
    }
    let counts: Vec<(u64, u64)> = counts.into_iter().collect();
    let shapes: Vec<_> = functions.iter().zip(&cfgs).map(|(function, cfg)| Some(Shape { function, cfg })).collect();
    let early: Vec<_> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
    let ended = outcome.truth.early.iter().map(|exit| Ended {
        function: exit.function,
        site: exit.site,
        number: Some(exit.registers.get(NOTED)),
        count: exit.count,
    });
    let profile = ipath::recover(&shapes, plan, &counts, &early, &ended.collect::<Vec<_>>()).unwrap();
    for (recovered, truth) in profile.functions.iter().zip(&outcome.truth.functions) {
        assert_eq!(recovered.as_ref(), Some(&truth.profile()));
    }
    (counts, profile.ended)
}

fn call(call: u32, callee: u32) -> Action {
    Action::Call { call: CallId(call), callee: Some(FunctionId(callee)) }
}

fn at_calls(plan: &UnitIpathPlan) -> Vec<Vec<AtCall>> {
    plan.functions.iter().map(|plan| plan.key.calls.iter().map(|call| call.1).collect()).collect()
}

/// `main` calls `f`, and `f`: if (b0) `f` again (b1); return (b2).
#[test]
fn a_recursive_call_begins_a_path_and_the_caller_s_runs_on() {
    let main = function(1, &[(0, 1)], &[0]);
    let f = function(3, &[(0, 1), (0, 2), (1, 2), (2, 3)], &[1]);
    let functions = [main, f];
    let plan = plan(&functions, &[&[], &[(0, 0), (1, 0)]], IpathMethod::Context);
    let f = FunctionId(1);
    assert_eq!(at_calls(&plan), [vec![AtCall::Cross(f)], vec![AtCall::Begin(f)]]);
    // 2 · x with x = 1 on from main, and once more from Entry_global.
    assert_eq!(plan.paths, 4);
    let take = |edge| Action::Take(Edge(edge));
    let script = [
        Action::Enter(MAIN),
        call(0, 1),
        take(0),
        call(0, 1),
        take(0),
        call(0, 1),
        take(1),
        take(3),
        take(2),
        take(3),
        take(2),
        take(3),
        take(0),
    ];
    assert_eq!(counts_of(&functions, &plan, &script), [(0, 1), (2, 1), (3, 1)]);
}

/// One call is not crossed of three functions that call each other in a circle, and which one follows from where the
/// search begins.
#[test]
fn a_cycle_of_calls_is_opened_once() {
    let one = || function(1, &[(0, 1)], &[0]);
    let functions = [one(), one(), one(), one()];
    let plan = plan(&functions, &[&[], &[(0, 0), (3, 0)], &[(1, 0)], &[(2, 0)]], IpathMethod::Piecewise);
    let cross = |f| vec![AtCall::Cross(FunctionId(f))];
    assert_eq!(at_calls(&plan), [cross(1), cross(2), cross(3), vec![AtCall::Begin(FunctionId(1))]]);
}

/// `main` invokes `f`, which calls something that may throw.
#[test]
fn an_exception_ends_a_path_and_begins_one_behind_it() {
    let mut main = function(3, &[(0, 1), (0, 2), (1, 3), (2, 3)], &[0]);
    (main.edges[Edge(0)].kind, main.edges[Edge(1)].kind) = (EdgeKind::InvokeNormal, EdgeKind::InvokeUnwind);
    main.calls.update(|_, call| (call.is_site, call.terminator) = (true, true));
    let mut f = function(1, &[(0, 1)], &[0]);
    f.calls.update(|_, call| call.is_site = true);
    let functions = [main, f];
    let plan = plan(&functions, &[&[], &[(0, 0)]], IpathMethod::Context);
    assert_eq!(at_calls(&plan), [vec![AtCall::Cross(FunctionId(1))], vec![AtCall::Pass]]);
    // Up to the call that throws; behind it, back through main; from the landing pad, behind the call of main.
    assert_eq!(plan.paths, 3);
    let take = |edge| Action::Take(Edge(edge));
    let begin = [Action::Enter(MAIN), call(0, 1), Action::Call { call: CallId(0), callee: None }];
    let returns = [&begin[..], &[take(0), take(0), take(2)]].concat();
    assert_eq!(counts_of(&functions, &plan, &returns), [(1, 1)]);
    let throws = [&begin[..], &[Action::Throw { depth: 0 }, take(1), take(3)]].concat();
    assert_eq!(all_counts_of(&functions, &plan, &throws), (vec![(2, 1)], vec![(0, 1)]));
}

/// A handler interrupts `main` between the words that it writes for `f` and `f`, which reads them, and calls `f`, too.
#[test]
fn a_handler_that_is_the_callee_begins_a_path() {
    let functions = [function(1, &[(0, 1)], &[0]), function(3, &[(0, 1), (0, 2), (1, 2), (2, 3)], &[])];
    let take = |edge| Action::Take(Edge(edge));
    for method in [IpathMethod::Context, IpathMethod::Piecewise] {
        let plan = plan_with(&functions, &[&[], &[(0, 0)]], |function| function == 0, method);
        assert_eq!(plan.functions[1].key.entry, Entry::Open);
        // By b1 in the handler, past it in the call of main.
        let handler = [take(0), take(2), take(3)];
        let called = [take(1), take(3), take(0)];
        let begin = [Action::Enter(MAIN), call(0, 1)];
        let alone = counts_of(&functions, &plan, &[&[Action::Enter(FunctionId(1))], &handler[..]].concat());
        let undisturbed = counts_of(&functions, &plan, &[&begin[..], &called].concat());
        let mut expected = [alone, undisturbed].concat();
        expected.sort_unstable();
        for (steps, probes) in (0..8).flat_map(|steps| (0..16).map(move |probes| (steps, probes))) {
            let signal = [Action::Signal { handler: FunctionId(1), steps, probes }];
            let counts = counts_of(&functions, &plan, &[&begin[..], &signal, &handler, &called].concat());
            assert_eq!(counts, expected, "{method:?} after {steps} steps and {probes} probes");
        }
    }
}
