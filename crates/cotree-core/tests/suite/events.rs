//! Event counts against the truth: on random programs of random graphs, with recursion, threads and all early endings;
//! with queries in between.

use crate::programs::{Life, Program, programs_of_llvm};
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{BlockFacts, Call, Callee, Function, InstructionCounts, Module, ProgramMap, Run};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::interpret::{Outcome, Step, Thread};
use cotree_core::method::events::{EarlyEvents, EventKinds, EventOptions, EventProfile, UnitEventPlan, recover};
use cotree_core::method::{Method, MethodPlan};
use cotree_core::unit::{Choices, UnitFacts, UnitPlan};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Gives blocks instructions, before, between and behind their calls.
pub fn with_events(function: &mut Function, seed: u64) {
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
        function.blocks[Block::new(block)] =
            BlockFacts { instructions, runs, ..std::mem::take(&mut function.blocks[Block::new(block)]) };
    }
}

/// The program with events and names: calls name their callee where there is only one.
pub fn named(mut program: Program, seed: u64) -> (Program, ProgramMap, Vec<bool>) {
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

pub fn plan(map: &ProgramMap, known: &[bool], events: EventOptions, made: bool, flow: bool) -> UnitEventPlan {
    plan_by(Method::Events, map, known, events, made, flow)
}

pub fn plan_by(
    method: Method,
    map: &ProgramMap,
    known: &[bool],
    events: EventOptions,
    made: bool,
    flow: bool,
) -> UnitEventPlan {
    let facts = UnitFacts { callers_known: known.to_vec(), queried: made, ..UnitFacts::new(map) };
    plan_of(method, &facts, events, flow)
}

pub fn plan_of(method: Method, facts: &UnitFacts<'_>, events: EventOptions, flow: bool) -> UnitEventPlan {
    let choices = Choices { events, interprocedural_flow: flow, ..Choices::default() };
    match UnitPlan::of(facts, method, choices, false).unwrap().method {
        MethodPlan::Events(plan) => plan,
        _ => panic!("another method's plan"),
    }
}

/// How many events the log has.
pub fn truth(outcome: &Outcome, program: &Program, kind: EventKind) -> u64 {
    let events: Vec<FunctionEvents> = program.functions.iter().map(|f| f.events(kind)).collect();
    let mut at: BTreeMap<_, (Block, u64)> = BTreeMap::new();
    let mut total = 0;
    for &(activation, step) in outcome.truth.logs.iter().flatten() {
        let number = outcome.truth.activations[activation].function.index();
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
            Step::Begin | Step::Access(..) | Step::Report(_) | Step::Catch | Step::Abandoned(_) => {}
        }
    }
    total
}

fn recovered(outcome: &Outcome, map: &ProgramMap, plan: &UnitEventPlan) -> EventProfile {
    let mut counters = vec![0u64; 2 * plan.kinds.len()];
    let early: Vec<_> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
    let early = EarlyEvents { exits: early.iter().map(Some).collect(), ..EarlyEvents::default() };
    for function in (0..plan.functions.len()).map(FunctionId::new) {
        for (sum, count) in counters.iter_mut().zip(outcome.counts(function).counters) {
            *sum = sum.wrapping_add(count);
        }
    }
    recover(plan, map, &counters, &early).unwrap()
}

pub fn kinds() -> EventKinds {
    [EventKind::Instructions, EventKind::Loads].into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Totals are those of the log, however activations end, with and without queries, and by the naive plan, too.
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
        let profile = recovered(&outcome, &map, &plan);
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
        prop_assert_eq!(recovered(&outcome, &map, &plan).totals, expected);
    }

    /// Where a query may come, nothing is lacking: at calls through pointers and of code outside, at all that lead
    /// there, and where functions return that others may call.
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

    /// Wherever a program stands in a call, the counter and what calls lack is the truth; and where a query may come,
    /// the counter alone is, whatever activations have ended early before.
    #[test]
    fn queries_are_answered_in_programs((program, seed) in programs_of_llvm(), made in any::<bool>(), flow in any::<bool>()) {
        let (program, map, known) = named(program, seed);
        let Some(script) = program.script(seed, Life { threads: 1, signals: false, jumps_anywhere: false }) else { return Ok(()) };
        let plan = plan(&map, &known, EventOptions { kinds: kinds(), ..EventOptions::default() }, made, flow);
        let step = 1 + script.len() / 12;
        for length in (0..script.len()).step_by(step) {
            let script = &script[..length];
            let mut process = program.process().with_plans(&plan.functions);
            script.iter().for_each(|&(thread, action)| process.act(thread, action).unwrap());
            process.settle(Thread(0));
            // What each activation lacks while it is in its call.
            let lacking: Vec<Vec<i64>> = process.positions(Thread(0)).map(|at| {
                let queries = &plan.functions[at.function.index()].queries;
                queries.iter().map(|queries| at.calling.map_or(0, |call| queries.at_call(call))).collect()
            }).collect();
            // Code outside of the program runs in the innermost call: it may ask.
            let asks = process.positions(Thread(0)).next_back().is_some_and(|at| {
                let call = at.calling.map(|call| &program.functions[at.function.index()].calls[call]);
                call.is_some_and(|call| matches!(call.callee, Callee::Indirect) && !call.must_tail)
            });
            if !asks {
                continue;
            }
            let outcome = process.finish();
            for (number, &kind) in plan.kinds.iter().enumerate() {
                let counted = |counter: usize| -> u64 {
                    let of = |f| outcome.counts(FunctionId::new(f)).counters.get(counter).copied().unwrap_or(0);
                    (0..plan.functions.len()).map(of).fold(0, u64::wrapping_add)
                };
                let counted = counted(2 * number).wrapping_sub(counted(2 * number + 1));
                let missing: i64 = lacking.iter().map(|kinds| kinds[number]).sum();
                let gone: i64 = (0..plan.functions.len()).map(|f| {
                    let early = outcome.truth.functions[f].early();
                    let lacking = &plan.functions[f].key.at_sites[number];
                    lacking.iter().zip(&early.at_site).map(|(&lacking, &ends)| lacking * ends).sum::<i64>()
                }).sum();
                let expected = truth(&outcome, &program, kind);
                prop_assert_eq!(counted.wrapping_add_signed(missing + gone), expected);
                if made {
                    prop_assert_eq!(counted, expected);
                }
            }
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
        let early: Vec<_> = program.functions.iter().map(|_| cotree_core::profile::EarlyExits { at_site: vec![i64::MIN, 1, 7].into() }).collect();
        let early = EarlyEvents { exits: early.iter().map(Some).collect(), ..EarlyEvents::default() };
        let profile = recover(&plan, &map, &counters, &early);
        prop_assert_eq!(profile.is_ok(), counters.len() == 4);
    }
}
