//! The interpreter of whole programs, and every method against its truth: on random graphs, irreducible ones too, that
//! call each other at random.

use crate::programs::{Life, Program, programs, programs_of_llvm};
use cotree_core::facts::{Call, Function};
use cotree_core::ids::{Block, CallId, Counter, Edge, FunctionId, IdMap, Site};
use cotree_core::interpret::{Action, Outcome, Step, observe};
use cotree_core::method::counters::{CounterMethod, Measured, plan, recover};
use cotree_core::method::path::{self, Abandoned, PathMethod, PathOptions, PathPlan};
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn lives() -> impl Strategy<Value = Life> {
    (1..4usize, any::<bool>()).prop_map(|(threads, signals)| Life { threads, signals, jumps_anywhere: false })
}

fn weighting(program: &Program, function: usize, seed: u64) -> Weighting {
    let graph = &program.graphs[function];
    let weight = |e: Edge| (seed.rotate_left(((function * 31 + e.index()) % 64) as u32) % 17) as f64;
    Weighting::new(graph, graph.edges().map(weight).collect())
}

/// What the log says of a function: entries, blocks, edges, calls, early exits.
type Tally = (u64, IdMap<Block, u64>, IdMap<Edge, u64>, IdMap<CallId, u64>, IdMap<Site, i64>);

fn tally(outcome: &Outcome, program: &Program, function: FunctionId) -> Tally {
    let facts = &program.functions[function.index()];
    let mut tally = (
        0,
        IdMap::filled(0, facts.blocks.len()),
        IdMap::filled(0, facts.edges.len()),
        IdMap::filled(0, facts.calls.len()),
        IdMap::filled(0, facts.sites().len()),
    );
    for &(activation, step) in outcome.truth.logs.iter().flatten() {
        if outcome.truth.activations[activation].function != function {
            continue;
        }
        match step {
            Step::Begin => tally.0 += 1,
            Step::Enter(block) => tally.1[block] += 1,
            Step::Take(edge) => tally.2[edge] += 1,
            Step::Call(call) => tally.3[call] += 1,
            Step::Abandoned(site) => tally.4[site.unwrap()] += 1,
            Step::Revived(site) => tally.4[site.unwrap()] -= 1,
            Step::Catch | Step::Access(..) | Step::Report(_) => {}
        }
    }
    tally
}

/// How often an exception ended each call and was caught by its caller.
fn caught(outcome: &Outcome, program: &Program) -> BTreeMap<(FunctionId, CallId), i64> {
    let (mut under_way, mut caught) = (BTreeMap::new(), BTreeMap::new());
    for &(activation, step) in outcome.truth.logs.iter().flatten() {
        let function = outcome.truth.activations[activation].function;
        let calls = &program.functions[function.index()].calls;
        match step {
            Step::Call(call) => drop(under_way.insert(activation, call)),
            Step::Revived(site) => drop(under_way.insert(activation, calls.call_of(site.unwrap()).unwrap())),
            Step::Catch => *caught.entry((function, under_way[&activation])).or_default() += 1,
            _ => {}
        }
    }
    caught
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The truth obeys the law of flow, early exits included, and functions are entered as often as they are called.
    #[test]
    fn truth_is_consistent((program, seed) in programs(), mut life in lives(), anywhere in any::<bool>()) {
        life.jumps_anywhere = anywhere;
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let outcome = program.process().run(&script).unwrap();
        let truth = &outcome.truth;
        prop_assert!(outcome.alive.is_empty() && truth.interrupted.is_empty());
        for number in 0..program.functions.len() {
            let (id, facts, graph) = (FunctionId::new(number), &program.functions[number], &program.graphs[number]);
            let own = &truth.functions[number];
            let profile = own.profile();
            for block in (0..facts.blocks.len()).map(Block::new) {
                let along = |edges: &[Edge]| edges.iter().map(|&e| own.edges.get(e).map_or(own.entries, |&n| n) as i64).sum::<i64>();
                let early: i64 = facts.sites_of(block).map(|(site, _)| own.at_site[site]).sum();
                prop_assert_eq!(along(graph.preds(block)), own.blocks[block] as i64);
                prop_assert_eq!(along(graph.preds(block)) - early, along(graph.succs(block)), "{:?}", block);
            }
            let called: u64 = truth.callees.iter().filter(|(call, _)| call.2 == id).map(|(_, &count)| count).sum();
            prop_assert!(called <= own.entries && (program.roots[number] || called == own.entries));
            prop_assert_eq!(tally(&outcome, &program, id), (own.entries, own.blocks.clone(), own.edges.clone(), own.calls.clone(), own.at_site.clone()));
            let (observed, early) = observe(facts, graph, &own.walks).unwrap();
            prop_assert_eq!((observed, early), (profile, own.early()));
        }
        for &(caller, call, callee) in truth.callees.keys() {
            let count: u64 = truth.callees.range((caller, call, FunctionId(0))..=(caller, call, FunctionId(u32::MAX))).map(|(_, n)| n).sum();
            prop_assert!(count <= truth.functions[caller.index()].calls[call], "{:?}", callee);
        }
    }

    /// Counters of all threads together give the profile of every function.
    #[test]
    fn counters_tell_the_truth((program, seed) in programs(), mut life in lives(), anywhere in any::<bool>()) {
        life.jumps_anywhere = anywhere;
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        for method in CounterMethod::ALL {
            let plans: Vec<CounterPlan> = (0..program.functions.len())
                .map(|f| plan(method, &program.functions[f], &program.graphs[f], &weighting(&program, f, seed)))
                .collect();
            let outcome = program.process().with_plans(&plans).run(&script).unwrap();
            for (f, plan) in plans.iter().enumerate() {
                let (id, truth) = (FunctionId::new(f), &outcome.truth.functions[f]);
                let mut expected = truth.profile();
                if matches!(method, CounterMethod::Vertex | CounterMethod::VertexEdge) {
                    expected.edges = None;
                }
                let counts = outcome.counts(id).counters;
                let recovered = recover(method, &program.graphs[f], Measured { function: &program.functions[f], key: &plan.key, counts: &counts, early: &truth.early() });
                prop_assert_eq!(recovered.unwrap(), expected, "{:?} of {:?}", method, id);
            }
        }
    }

    /// Counters before calls count calls: also those that do not return, and those that leave no frame.
    #[test]
    fn probes_run_before_calls((program, seed) in programs(), life in lives()) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let count = |f: &Function| {
            let before = |(call, facts): (CallId, &Call)| {
                let probe = Probe::Count(Counter::new(call.index()));
                (PlacedProbe { place: Place::Call(call), probe }, Measure::Block(facts.block))
            };
            let (probes, measures) = f.calls.numbered().map(before).unzip();
            CounterPlan { probes, key: CounterKey { measures, ..CounterKey::default() } }
        };
        let plans: Vec<CounterPlan> = program.functions.iter().map(count).collect();
        let outcome = program.process().with_plans(&plans).run(&script).unwrap();
        for (f, truth) in outcome.truth.functions.iter().enumerate() {
            prop_assert_eq!(&outcome.counts(FunctionId::new(f)).counters, &truth.calls);
        }
    }

    /// Counters behind calls count those that returned normally.
    #[test]
    fn probes_run_behind_calls_that_return((program, seed) in programs_of_llvm(), life in lives()) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let count = |f: &Function| {
            let behind = |(call, facts): (CallId, &Call)| {
                let probe = Probe::Count(Counter::new(call.index()));
                (facts.comes_back().then_some(PlacedProbe { place: Place::After(call), probe }), Measure::Block(facts.block))
            };
            let (probes, measures): (Vec<_>, _) = f.calls.numbered().map(behind).unzip();
            CounterPlan { probes: probes.into_iter().flatten().collect(), key: CounterKey { measures, ..CounterKey::default() } }
        };
        let plans: Vec<CounterPlan> = program.functions.iter().map(count).collect();
        let outcome = program.process().with_plans(&plans).run(&script).unwrap();
        let caught = caught(&outcome, &program);
        for (f, truth) in outcome.truth.functions.iter().enumerate() {
            let facts = &program.functions[f];
            let counted = &outcome.counts(FunctionId::new(f)).counters;
            for (call, _) in facts.calls.numbered().filter(|(_, facts)| facts.comes_back()) {
                let early = facts.calls.site_of(call).map_or(0, |site| truth.at_site[site]);
                let caught = caught.get(&(FunctionId::new(f), call)).copied().unwrap_or(0);
                prop_assert_eq!(counted[call.index()] as i64, truth.calls[call] as i64 - early - caught, "{}", call);
            }
        }
    }

    /// Path tables and the path registers of abandoned activations give the profile of every function.
    #[test]
    fn paths_tell_the_truth(
        (program, seed) in programs_of_llvm(),
        life in lives(),
        limit in prop_oneof![Just(u64::MAX), Just(1u64), 2..40u64],
        array in prop_oneof![Just(PathOptions::default().array), 0..20u64],
    ) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let options = PathOptions { limit, array, window: array, ..PathOptions::default() };
        for method in [PathMethod::Plain, PathMethod::Context] {
            let plans: Vec<PathPlan> = (0..program.functions.len())
                .map(|f| path::plan_as(method, &program.functions[f], &program.graphs[f], &weighting(&program, f, seed), options).unwrap())
                .collect();
            let outcome = program.process().with_plans(&plans).run(&script).unwrap();
            for (f, plan) in plans.iter().enumerate() {
                let (id, facts, graph) = (FunctionId::new(f), &program.functions[f], &program.graphs[f]);
                let early = outcome.truth.early.iter().filter(|exit| exit.function == id);
                let abandoned: Vec<Abandoned> = early
                    .map(|exit| Abandoned { site: exit.site, register: Some(exit.registers.get(Reg::PathSum)), count: exit.count })
                    .collect();
                let counts = outcome.counts(id);
                let mut table: BTreeMap<u64, u64> = BTreeMap::new();
                for (&(_, number), &count) in &counts.paths {
                    *table.entry(number.cast_unsigned()).or_default() += count;
                }
                let table: Vec<(u64, u64)> = table.into_iter().collect();
                let recovered = path::recover(facts, graph, &plan.key, &counts.counters, &table, &abandoned).unwrap();
                prop_assert_eq!(recovered.counts, outcome.truth.functions[f].profile(), "{:?} of {:?}", method, id);
            }
        }
    }
}

/// The generator makes what the tests above claim to cover.
#[test]
fn random_runs_are_rich() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..4000 {
        let ((program, seed), life) = (programs_of_llvm(), lives()).new_tree(&mut runner).unwrap().current();
        let Some(script) = program.script(seed, life) else { continue };
        let outcome = program.process().run(&script).unwrap();
        for (_, action) in &script {
            let what = match action {
                Action::Enter(_) => "enter",
                Action::Call { callee: Some(_), .. } => "call",
                Action::Call { callee: None, .. } => "call of others",
                Action::Take(_) => "take",
                Action::Signal { .. } => "signal",
                Action::Jump { .. } => "jump",
                Action::Throw { .. } => "throw",
                Action::EndThread => "end of a thread",
                Action::Exit => "exit",
                Action::Fork => "fork",
            };
            *seen.entry(what).or_default() += 1;
        }
        let recursive =
            outcome.truth.activations.iter().filter(|a| {
                a.caller.is_some_and(|(caller, _)| outcome.truth.activations[caller].function == a.function)
            });
        *seen.entry("runs").or_default() += 1;
        *seen.entry("recursive calls").or_default() += recursive.count();
        *seen.entry("threads at once").or_default() +=
            usize::from(outcome.truth.logs.iter().filter(|log| !log.is_empty()).count() > 1);
        *seen.entry("revived").or_default() += outcome.truth.early.iter().filter(|exit| exit.count < 0).count();
    }
    assert!(seen.len() == 14 && seen.values().all(|&n| n > 100), "{seen:?}");
}
