//! Event counts against the truth: on random programs of random graphs, with recursion, threads and all early endings; and
//! the worked figures of Ball 1994.

use crate::programs::{Life, Program, programs_of_llvm};
use crate::random;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{BlockFacts, Call, Callee, Function, InstructionCounts, Module, ProgramMap, Run};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::interpret::{Outcome, Step};
use cotree_core::method::events::{EventKinds, EventOptions, EventProfile, UnitEventPlan, counters_of, recover};
use cotree_core::method::{Method, MethodPlan};
use cotree_core::probe::{Place, Probe};
use cotree_core::unit::{Choices, Queries, UnitFacts, UnitPlan};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Gives blocks instructions, before, between and behind their calls.
fn with_events(function: &mut Function, seed: u64) {
    for block in 0..function.blocks.len() {
        let calls = function.calls.iter().filter(|call| call.block.index() == block).count();
        let ends = function.calls.iter().any(|call| call.block.index() == block && call.terminator);
        let run = |after: usize| {
            let draw = seed.rotate_left((7 * block + 13 * after) as u32 % 64) % 11;
            // A call is the last instruction of its run.
            let total = draw as u32 + u32::from(after < calls);
            let instructions = InstructionCounts { total, loads: total / 2, ..InstructionCounts::default() };
            Run { after_calls: after as u32, instructions, ..Run::default() }
        };
        let runs: Vec<Run> =
            (0..calls + usize::from(!ends)).map(run).filter(|run| run.instructions.total > 0).collect();
        let none = InstructionCounts::default();
        let instructions = runs.iter().fold(none, |sum, run| sum.plus(run.instructions));
        function.blocks[block] = BlockFacts { instructions, runs, ..std::mem::take(&mut function.blocks[block]) };
    }
}

/// The program with events and names: calls name their callee where there is only one.
fn named(mut program: Program, seed: u64) -> (Program, ProgramMap, Vec<bool>) {
    let count = program.functions.len();
    let mut known: Vec<bool> = program.roots.iter().map(|root| !root).collect();
    for number in 0..count {
        let names: Vec<Option<usize>> = (0..program.functions[number].calls.len())
            .map(|call| match program.callees(number, CallId::new(call)) {
                [callee] => Some(callee.index()),
                callees => {
                    callees.iter().for_each(|callee| known[callee.index()] = false);
                    None
                }
            })
            .collect();
        let function = &mut program.functions[number];
        function.symbol = format!("f{number}");
        function.calls.update(|call, facts| {
            facts.callee = match names[call.index()] {
                Some(callee) => Callee::Symbol(format!("f{callee}")),
                None => Callee::Indirect,
            };
        });
        with_events(function, seed.rotate_left(number as u32));
    }
    let module = Module { functions: program.functions.clone(), ..Module::default() };
    let map = ProgramMap { modules: vec![module], ..ProgramMap::default() };
    (program, map, known)
}

fn plan(map: &ProgramMap, known: &[bool], events: EventOptions, made: bool, flow: bool) -> UnitEventPlan {
    let facts = UnitFacts {
        callers_known: known.to_vec(),
        queries: Queries { made, ..Queries::default() },
        ..UnitFacts::new(map)
    };
    let choices = Choices { events, interprocedural_flow: flow, ..Choices::default() };
    match UnitPlan::of(&facts, Method::Events, choices, false).unwrap().method {
        MethodPlan::Events(plan) => plan,
        _ => panic!("another method's plan"),
    }
}

/// How many events the log has.
fn truth(outcome: &Outcome, program: &Program, kind: EventKind) -> u64 {
    let events: Vec<FunctionEvents> = program.functions.iter().map(|f| f.events(kind).unwrap()).collect();
    let mut at: BTreeMap<_, (Block, u64)> = BTreeMap::new();
    let mut total = 0;
    for &(activation, step) in outcome.truth.logs.iter().flatten() {
        let number = outcome.truth.activations[activation.index()].function.index();
        let (function, events) = (&program.functions[number], &events[number]);
        match step {
            Step::Enter(block) => drop(at.insert(activation, (block, 0))),
            Step::Revived(site) => {
                let call = function.calls.call_of(site.unwrap()).unwrap();
                at.insert(activation, (function.calls[call].block, events.through(call)));
            }
            Step::Call(call) => {
                let (_, done) = at.get_mut(&activation).unwrap();
                total += events.through(call) - *done;
                *done = events.through(call);
            }
            Step::Take(_) => {
                let (block, done) = at.get_mut(&activation).unwrap();
                total += events.block(*block) - *done;
                *done = events.block(*block);
            }
            Step::Begin | Step::Catch | Step::Abandoned(_) => {}
        }
    }
    total
}

fn recovered(outcome: &Outcome, plan: &UnitEventPlan) -> EventProfile {
    let mut counters = vec![0u64; 2 * plan.kinds.len()];
    let early: Vec<_> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
    for function in (0..plan.functions.len()).map(FunctionId::new) {
        for (sum, count) in counters.iter_mut().zip(outcome.counts(function).counters) {
            *sum = sum.wrapping_add(count);
        }
    }
    recover(plan, &counters, early.iter().map(Some)).unwrap()
}

fn kinds() -> EventKinds {
    [EventKind::Instructions, EventKind::Loads].into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Totals are those of the log, however activations end, with and without queries, and the naive way, too.
    #[test]
    fn totals_are_true(
        (program, seed) in programs_of_llvm(),
        threads in 1..4usize,
        made in any::<bool>(),
        naive in prop::bool::weighted(0.1),
        flow in any::<bool>(),
    ) {
        let (program, map, known) = named(program, seed);
        let Some(script) = program.script(seed, Life { threads, signals: false, jumps_anywhere: false }) else { return Ok(()) };
        let options = EventOptions { kinds: kinds(), naive, ..EventOptions::default() };
        let plan = plan(&map, &known, options, made, flow);
        let outcome = program.process().with_plans(&plan.functions).run(&script).unwrap();
        let expected: Vec<u64> = plan.kinds.iter().map(|&kind| truth(&outcome, &program, kind)).collect();
        let profile = recovered(&outcome, &plan);
        prop_assert_eq!(&profile.totals, &expected);
        prop_assert!(profile.flaws.iter().flatten().all(Vec::is_empty));
        prop_assert_eq!(profile.kinds, plan.kinds);
    }

    /// Handlers run anywhere: that leaves totals as true as they are.
    #[test]
    fn totals_are_true_where_handlers_run((program, seed) in programs_of_llvm(), flow in any::<bool>()) {
        let (program, map, known) = named(program, seed);
        let Some(script) = program.script(seed, Life { threads: 1, signals: true, jumps_anywhere: false }) else { return Ok(()) };
        let plan = plan(&map, &known, EventOptions { kinds: kinds(), ..EventOptions::default() }, false, flow);
        let outcome = program.process().with_plans(&plan.functions).run(&script).unwrap();
        // Who is interrupted just behind a call is still in it for the interpreter; the runtime flags whom that ends.
        if !outcome.truth.interrupted.is_empty() || !outcome.truth.early.is_empty() {
            return Ok(());
        }
        let expected: Vec<u64> = plan.kinds.iter().map(|&kind| truth(&outcome, &program, kind)).collect();
        prop_assert_eq!(recovered(&outcome, &plan).totals, expected);
    }

    /// Where a query may come, nothing is lacking: at calls through pointers and of code outside, at all that lead there,
    /// and where functions return that others may call.
    #[test]
    fn nothing_is_lacking_where_queries_may_come((program, seed) in programs_of_llvm()) {
        let (program, map, known) = named(program, seed);
        let plan = plan(&map, &known, EventOptions { kinds: kinds(), ..EventOptions::default() }, true, true);
        prop_assert!(plan.queried);
        // Which functions can reach one, found anew: by going on until nothing changes.
        let mut reaches = vec![false; program.functions.len()];
        let asks = |facts: &Call, reaches: &[bool]| match &facts.callee {
            Callee::Symbol(name) => facts.returns_twice || reaches[name[1..].parse::<usize>().unwrap()],
            _ => true,
        };
        loop {
            let any = |f: &Function| f.calls.iter().any(|call| asks(call, &reaches));
            let next: Vec<bool> = program.functions.iter().map(any).collect();
            if next == reaches {
                break;
            }
            reaches = next;
        }
        for (function, plan) in program.functions.iter().zip(&plan.functions) {
            for queries in &plan.queries {
                for (call, facts) in function.calls.numbered().filter(|(_, facts)| asks(facts, &reaches)) {
                    prop_assert!(queries.at_call(call) == 0 || facts.must_tail, "{call}");
                }
            }
        }
        for (number, plan) in plan.functions.iter().enumerate() {
            prop_assert!(known[number] || plan.queries.iter().all(|queries| queries.returned == 0));
        }
    }

    /// Keys and counts of files can be anything.
    #[test]
    fn hostile_keys_are_no_panic((program, seed) in programs_of_llvm(), counters in prop::collection::vec(any::<u64>(), 0..6), lacking in any::<i64>()) {
        let (program, map, known) = named(program, seed);
        let mut plan = plan(&map, &known, EventOptions { kinds: kinds(), ..EventOptions::default() }, false, true);
        for function in &mut plan.functions {
            function.key.at_sites = vec![vec![lacking; 3]; 2];
        }
        let early: Vec<_> = program.functions.iter().map(|_| cotree_core::profile::EarlyExits { at_site: vec![i64::MIN, 1, 7] }).collect();
        let profile = recover(&plan, &counters, early.iter().map(Some));
        prop_assert_eq!(profile.is_ok(), counters.len() == 4);
    }
}

/// The graph of Figs 1, 3 and 5 with events of the blocks' own, chosen so that every sum of them is another number.
#[test]
fn figure_1_increments_and_query_increments() {
    let names = ["P", "Q", "A", "B", "R", "C"];
    let block = |name: &str| Block::new(names.iter().position(|n| *n == name).unwrap_or(6));
    let edges = ["P Q", "P EXIT", "Q A", "Q B", "A R", "B R", "R C", "R EXIT", "C P"];
    let ends = |edge: &&str| {
        let (from, to) = edge.split_once(' ').unwrap();
        (block(from).index(), block(to).index(), true)
    };
    let list: Vec<_> = edges.iter().map(ends).collect();
    let mut function = random::function(6, &list, &[]);
    let events: BTreeMap<&str, i64> = names.iter().enumerate().map(|(i, &name)| (name, 10i64.pow(i as u32))).collect();
    for name in names {
        let instructions =
            InstructionCounts { total: u32::try_from(events[name]).unwrap(), ..InstructionCounts::default() };
        let runs = vec![Run { instructions, ..Run::default() }];
        function.blocks[block(name).index()] = BlockFacts { instructions, runs, ..BlockFacts::default() };
    }
    let module = Module { functions: vec![function.clone()], ..Module::default() };
    let map = ProgramMap { modules: vec![module], ..ProgramMap::default() };
    // Counts of an earlier run bring about the paper's tree: it is a maximum one for them.
    let counts = [105, 5, 53, 52, 53, 52, 100, 5, 100];
    let blocks = ["P", "Q", "A", "B", "R", "C"].map(|name| {
        edges.iter().zip(counts).filter(|(edge, _)| edge.starts_with(name)).map(|(_, count)| count).sum::<u64>()
    });
    let previous = cotree_core::profile::FunctionProfile {
        entries: 10,
        blocks: blocks.to_vec(),
        edges: Some(counts.to_vec()),
        early: Vec::new(),
        flaws: Vec::new(),
    };
    let facts = UnitFacts { previous: vec![Some(&previous)], ..UnitFacts::new(&map) };
    let MethodPlan::Events(plan) = UnitPlan::of(&facts, Method::Events, Choices::default(), false).unwrap().method
    else {
        panic!("another method's plan");
    };
    let [plan] = &plan.functions[..] else { panic!("one function") };
    let [up, down] = counters_of(0);
    let increments: BTreeMap<Place, i64> = plan
        .probes
        .iter()
        .map(|placed| match placed.probe {
            Probe::CountBy(counter, by) if counter == up => (placed.place, by as i64),
            Probe::CountBy(counter, by) if counter == down => (placed.place, -(by as i64)),
            other => panic!("{other:?}"),
        })
        .collect();
    let edge = |name: &str| Edge::new(edges.iter().position(|edge| *edge == name).unwrap());
    let sum = |blocks: &[&str]| blocks.iter().map(|name| events[name]).sum::<i64>();
    // A and B have one way out each, so x and y are counted where the blocks end. EXIT has no events here.
    let [w, z] = ["P EXIT", "R EXIT"].map(|name| Place::Edge(edge(name)));
    let [x, y] = ["A", "B"].map(|name| Place::End(block(name)));
    let expected = BTreeMap::from([
        (w, sum(&["P"])),
        (x, sum(&["P", "Q", "A", "R", "C"])),
        (y, sum(&["P", "Q", "B", "R", "C"])),
        (z, -sum(&["C"])),
    ]);
    assert_eq!(increments, expected);
    // The paper's query increments are those at the end of a block; ours are at its beginning.
    let queries = &plan.queries[0];
    let counted = |name: &str| increments.get(&Place::End(block(name))).copied().unwrap_or(0);
    let at_end = |name: &str| queries.at_block(block(name)) + events[name] - counted(name);
    assert_eq!(at_end("Q"), sum(&["P", "Q"]));
    assert_eq!(at_end("A"), -sum(&["R", "C"]));
    assert_eq!(at_end("B"), -sum(&["R", "C"]));
}
