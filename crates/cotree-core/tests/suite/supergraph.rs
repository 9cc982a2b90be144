//! Entries that follow from callers, against brute-force truth: random programs run, and every count must be recovered.

use crate::programs::{Life, Program, programs};
use crate::random;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, FunctionId};
use cotree_core::interpret::FunctionTruth;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::counters::entries::{Recovered, recover};
use cotree_core::method::counters::{self, CounterError, Measured, edge};
use cotree_core::place::affine::Replacements;
use cotree_core::place::supergraph::{Candidate, choose};
use cotree_core::plan::{CallPoint, CounterKey, CounterPlan, DerivedEntry, Measure};
use cotree_core::profile::{EarlyExits, FunctionProfile};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// Plans a program: the plans, and the functions without counters for their entries.
fn plan(
    method: ChordMethod,
    program: &Program,
    weight: impl Fn(usize) -> f64,
) -> (Vec<CounterPlan>, Vec<DerivedEntry>) {
    let weighting = |f: usize| {
        let graph = &program.graphs[f];
        Weighting::new(graph, graph.edges().map(|e| weight(f * 31 + e.index())).collect())
    };
    let candidate = |f: usize| {
        let (function, graph) = (&program.functions[f], &program.graphs[f]);
        let calls = program.callers(f);
        if program.roots[f] || calls.is_empty() {
            return None;
        }
        let (plan, saves) = method.plan_entered(function, graph, &weighting(f), &Replacements::default())?;
        Some((Candidate::new(method, function, graph, &plan, calls, saves)?, plan))
    };
    let candidates: Vec<_> = (0..program.functions.len()).map(candidate).collect();
    let (candidates, entered): (Vec<_>, Vec<_>) = candidates.into_iter().map(Option::unzip).unzip();
    let entries = choose(candidates);
    let own = |f: usize| match entered[f].clone().filter(|_| entries.iter().any(|e| e.function.index() == f)) {
        Some(plan) => plan,
        None => counters::plan(method.into(), &program.functions[f], &program.graphs[f], &weighting(f)),
    };
    ((0..program.functions.len()).map(own).collect(), entries)
}

struct Outcome {
    truth: Vec<FunctionProfile>,
    recovered: Vec<Recovered>,
    derived: usize,
    /// Derived ones that wait for themselves or each other, as far as whole functions go.
    tangled: usize,
    saved: i64,
}

fn outcome(method: ChordMethod, program: &Program, seed: u64) -> Option<Outcome> {
    let script = program.script(seed, Life { threads: 1 + seed as usize % 2, signals: false, jumps_anywhere: true })?;
    let (plans, entries) = plan(method, program, |n| (seed.rotate_left((n % 64) as u32) % 17) as f64);
    let run = program.process().with_plans(&plans).run(&script).unwrap();
    let promised = |truth: &FunctionTruth| {
        let truth = truth.profile();
        FunctionProfile { edges: truth.edges.clone().filter(|_| method == ChordMethod::Edge), ..truth }
    };
    let truth: Vec<_> = run.truth.functions.iter().map(promised).collect();
    let early: Vec<_> = run.truth.functions.iter().map(FunctionTruth::early).collect();
    let counts: Vec<_> = (0..plans.len()).map(|f| run.counts(FunctionId::new(f)).counters).collect();
    let saved = |f: usize| {
        let graph = &program.graphs[f];
        let alone = counters::plan(method.into(), &program.functions[f], graph, &Weighting::uniform(graph));
        alone.key.measures.len() as i64 - plans[f].key.measures.len() as i64
    };
    let saved = (0..plans.len()).map(saved).sum();
    let measured: Vec<_> = (0..program.functions.len())
        .map(|f| {
            Some(Measured { function: &program.functions[f], key: &plans[f].key, counts: &counts[f], early: &early[f] })
        })
        .collect();
    let recovered = recover(method, &measured, &entries);
    let derived = |f: FunctionId| entries.iter().any(|e| e.function == f);
    let tangled = entries.iter().filter(|e| e.calls.iter().any(|c| c.function == e.function && derived(e.function)));
    Some(Outcome { truth, recovered, derived: entries.len(), tangled: tangled.count(), saved })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn programs_are_recovered_from_fewer_counters((program, seed) in programs()) {
        for method in ChordMethod::ALL {
            let Some(outcome) = outcome(method, &program, seed) else { continue };
            let recovered: Vec<_> = outcome.recovered.into_iter().map(|r| r.unwrap().unwrap()).collect();
            prop_assert_eq!(recovered, outcome.truth);
            // Which chords need no counter depends on the tree where only blocks are wanted.
            if method == ChordMethod::Edge {
                prop_assert_eq!(outcome.saved, outcome.derived as i64, "one counter each");
            }
        }
    }

    /// What can't have been written by the planner is an error, and never a panic or an endless loop.
    #[test]
    fn nonsense_is_refused(
        (program, seed) in programs(),
        nonsense in prop::collection::vec((0u32..7, prop::collection::vec((0u32..7, 0usize..8, 0u32..4), 0..4)), 0..6),
    ) {
        let method = ChordMethod::ALL[seed as usize % 2];
        let (plans, _) = plan(method, &program, |n| n as f64);
        let counts: Vec<Vec<u64>> = plans.iter().map(|p| vec![seed % 7; p.key.measures.len()]).collect();
        let none = EarlyExits::default();
        let measured: Vec<_> = (0..program.functions.len())
            .map(|f| (f % 4 != 3).then(|| Measured { function: &program.functions[f], key: &plans[f].key, counts: &counts[f], early: &none }))
            .collect();
        let call = |(caller, block, after_sites)| CallPoint { function: FunctionId(caller), block: Block::new(block), after_sites };
        let entries: Vec<_> = nonsense
            .into_iter()
            .map(|(function, calls)| DerivedEntry { function: FunctionId(function), calls: calls.into_iter().map(call).collect() })
            .collect();
        let recovered = recover(method, &measured, &entries);
        prop_assert_eq!(recovered.len(), measured.len());
        for (f, (recovered, measured)) in recovered.iter().zip(&measured).enumerate() {
            let derived = entries.iter().any(|e| e.function.index() == f);
            prop_assert!(derived || recovered.is_some() == measured.is_some());
        }
    }
}

#[test]
fn random_programs_are_rich() {
    ChordMethod::ALL.into_iter().for_each(assert_rich);
}

fn assert_rich(method: ChordMethod) {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut runs, mut derived, mut tangled, mut entered, mut early, mut uncounted) = (0, 0, 0, 0, 0, 0);
    for _ in 0..1500 {
        let (program, seed) = programs().new_tree(&mut runner).unwrap().current();
        let Some(outcome) = outcome(method, &program, seed) else { continue };
        runs += 1;
        derived += outcome.derived;
        tangled += outcome.tangled;
        entered += (1..program.functions.len()).filter(|&f| !program.roots[f] && outcome.truth[f].entries > 1).count();
        early += outcome.truth.iter().filter(|p| p.early.iter().any(|&n| n != 0)).count();
        let (plans, entries) = plan(method, &program, |_| 1.0);
        uncounted += entries.iter().filter(|e| plans[e.function.index()].key.measures.is_empty()).count();
    }
    let seen = [runs, derived, tangled, entered, early, uncounted];
    assert!(seen.iter().all(|&n| n > 30), "{seen:?}");
}

/// main: b0 calls leaf twice in b1, once in b2 after `step`, which calls leaf, too.
#[test]
fn straight_line_leaves_cost_nothing() {
    let main = random::function(4, &[(0, 1, true), (0, 2, true), (1, 3, true), (2, 3, true), (3, 4, true)], &[]);
    let leaf = random::function(1, &[(0, 1, true)], &[]);
    let point =
        |caller, block, after_sites| CallPoint { function: FunctionId(caller), block: Block::new(block), after_sites };
    let calls = vec![point(0, 1, 0), point(0, 1, 0), point(0, 2, 0)];
    let graph = leaf.cfg().unwrap();
    let weighting = Weighting::expected(&leaf, &graph);
    let (plan, saves) = ChordMethod::Edge.plan_entered(&leaf, &graph, &weighting, &Replacements::default()).unwrap();
    assert!(plan.key.measures.is_empty() && plan.probes.is_empty() && saves > 0.0);
    let candidate = Candidate::new(ChordMethod::Edge, &leaf, &graph, &plan, calls.clone(), saves);
    let entries = choose(vec![None, candidate]);
    assert_eq!(entries, [DerivedEntry { function: FunctionId(1), calls }]);

    let counted = edge::plan(&main, &main.cfg().unwrap(), &Weighting::uniform(&main.cfg().unwrap()));
    let none = EarlyExits::default();
    let measured = [
        Some(Measured { function: &main, key: &counted.key, counts: &[3, 4], early: &none }),
        Some(Measured { function: &leaf, key: &plan.key, counts: &[], early: &none }),
    ];
    let recovered: Vec<_> =
        recover(ChordMethod::Edge, &measured, &entries).into_iter().map(|r| r.unwrap().unwrap()).collect();
    let in_block = |b: usize| recovered[0].blocks[Block::new(b)];
    assert_eq!((counted.key.measures.len(), recovered[1].entries), (2, 2 * in_block(1) + in_block(2)));
    assert!(in_block(1) > 0 && in_block(2) > 0);
    assert_eq!(recovered[1].blocks, [recovered[1].entries]);
}

/// In a ring of functions, each of which calls the next one on every activation, one keeps its counter: the coldest.
#[test]
fn rings_are_broken_where_it_is_cold() {
    let ring: Vec<Function> = (0..5).map(|_| random::function(1, &[(0, 1, true)], &[])).collect();
    let candidate = |f: u32| {
        let (function, graph) = (&ring[f as usize], ring[f as usize].cfg().unwrap());
        let (plan, _) = ChordMethod::Edge
            .plan_entered(function, &graph, &Weighting::uniform(&graph), &Replacements::default())
            .unwrap();
        let calls = vec![CallPoint { function: FunctionId((f + 4) % 5), block: Block(0), after_sites: 0 }];
        Candidate::new(ChordMethod::Edge, function, &graph, &plan, calls, f64::from((f + 3) % 5))
    };
    let entries = choose((0..5).map(candidate).collect());
    assert_eq!(entries.iter().map(|e| e.function.0).collect::<Vec<_>>(), [0, 1, 3, 4]);
}

/// Entries that wait for each other in a file are no entries.
#[test]
fn circles_are_underdetermined() {
    let function = random::function(1, &[(0, 1, true)], &[]);
    let plan = CounterPlan::default();
    let none = EarlyExits::default();
    let measured = [Some(Measured { function: &function, key: &plan.key, counts: &[], early: &none }); 2];
    let waits = |function: u32, caller| DerivedEntry {
        function: FunctionId(function),
        calls: vec![CallPoint { function: FunctionId(caller), block: Block(0), after_sites: 0 }],
    };
    let recovered = recover(ChordMethod::Edge, &measured, &[waits(0, 1), waits(1, 0)]);
    assert_eq!(recovered, vec![Some(Err(CounterError::Underdetermined)); 2]);
}

/// A caller whose counts can't be right does not lend them to others.
#[test]
fn failures_are_passed_on() {
    let function = random::function(1, &[(0, 1, true)], &[]);
    let (empty, odd) = (
        CounterPlan::default(),
        CounterPlan {
            key: CounterKey { measures: vec![Measure::Block(Block(7))], ..CounterKey::default() },
            ..CounterPlan::default()
        },
    );
    let none = EarlyExits::default();
    let measured = [
        Some(Measured { function: &function, key: &odd.key, counts: &[1], early: &none }),
        Some(Measured { function: &function, key: &empty.key, counts: &[], early: &none }),
    ];
    let calls = vec![CallPoint { function: FunctionId(0), block: Block(0), after_sites: 0 }];
    let recovered = recover(ChordMethod::Edge, &measured, &[DerivedEntry { function: FunctionId(1), calls }]);
    assert_eq!(recovered[1], Some(Err(CounterError::CallerUnknown(FunctionId(0)))));
}

/// Straight-line functions with these callers, planned and recovered after the first one was entered seven times.
fn straight_lines(callers: &[Vec<u32>]) -> (usize, Vec<Recovered>) {
    let function = random::function(1, &[(0, 1, true)], &[]);
    let graph = function.cfg().unwrap();
    let weighting = Weighting::uniform(&graph);
    let (entered, _) = ChordMethod::Edge.plan_entered(&function, &graph, &weighting, &Replacements::default()).unwrap();
    let alone = edge::plan(&function, &graph, &weighting);
    let candidate = |(number, callers): (usize, &Vec<u32>)| {
        let point = |&caller: &u32| CallPoint { function: FunctionId(caller), block: Block(0), after_sites: 0 };
        let calls: Vec<_> = callers.iter().map(point).collect();
        let saves = (number * 7919 % 1000) as f64;
        Candidate::new(ChordMethod::Edge, &function, &graph, &entered, calls, saves).filter(|_| !callers.is_empty())
    };
    let entries = choose(callers.iter().enumerate().map(candidate).collect());
    let mut plans = vec![&alone; callers.len()];
    for entry in &entries {
        plans[entry.function.index()] = &entered;
    }
    let none = EarlyExits::default();
    let measured: Vec<_> = plans
        .iter()
        .map(|plan| {
            let counts: &[u64] = if plan.key.measures.is_empty() { &[] } else { &[7] };
            Some(Measured { function: &function, key: &plan.key, counts, early: &none })
        })
        .collect();
    (entries.len(), recover(ChordMethod::Edge, &measured, &entries))
}

/// Calls may go as deep as a program is large, and everything may call everything.
#[test]
fn large_programs_take_neither_stack_nor_time() {
    let chain: Vec<Vec<u32>> = (0..100_000u32).map(|f| f.checked_sub(1).into_iter().collect()).collect();
    let (derived, recovered) = straight_lines(&chain);
    assert_eq!(derived, chain.len() - 1);
    assert!(recovered.iter().flatten().flatten().all(|profile| profile.entries == 7 && profile.flaws.is_empty()));

    let callers = |f: u32| {
        let mut callers: Vec<u32> = (1..12).map(|n| (f * 31 + n * n * 577) % 4000).collect();
        callers.sort_unstable();
        callers
    };
    let tangle: Vec<Vec<u32>> = (0..4000).map(callers).collect();
    let (derived, recovered) = straight_lines(&tangle);
    assert!(derived > 100, "{derived}");
    assert!(recovered.iter().flatten().all(Result::is_ok));
}
