//! Traces: executions are regenerated from them exactly.

use crate::programs::{Life, Program, programs_to_trace};
use cotree_core::ids::{CallId, FunctionId, Site};
use cotree_core::interpret::{Action, Activation, Frames, Outcome, Step};
use cotree_core::method::trace::{CallKind, Event, Reader, Tables, TraceCalls, TracePlan, plan_functions};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// What is known of the calls of a program: some that could be by name are through pointers.
fn calls(program: &Program, seed: u64) -> Vec<TraceCalls> {
    let mut calls = vec![TraceCalls::default(); program.functions.len()];
    for (function, root) in program.roots.iter().enumerate() {
        calls[function].announces |= root;
    }
    for function in 0..program.functions.len() {
        for call in 0..program.functions[function].calls.len() {
            let Some(&callee) = program.callees(function, CallId::new(call)).first() else { continue };
            if (seed >> ((function + call) % 60)) & 3 == 0 {
                calls[callee.index()].announces = true;
            } else {
                calls[function].kinds.push((CallId::new(call), CallKind::Direct(callee)));
            }
        }
    }
    calls
}

fn plan(program: &Program, calls: Vec<TraceCalls>) -> Vec<TracePlan> {
    let functions = program.functions.iter().zip(&program.graphs);
    let weighted: Vec<_> = functions.map(|(f, cfg)| (f, cfg, Weighting::expected(f, cfg))).collect();
    plan_functions(&weighted, calls).unwrap()
}

fn tables(program: &Program, plans: &[TracePlan]) -> Vec<Option<Tables>> {
    let tables = program.functions.iter().zip(plans).map(|(f, plan)| Some(Tables::new(f, &plan.key).unwrap()));
    tables.collect()
}

/// A thread's log in the words of events.
fn log(program: &Program, outcome: &Outcome, thread: usize) -> Vec<(FunctionId, Step)> {
    let function = |activation: Activation| outcome.truth.activations[activation.index()].function;
    let _ = program;
    outcome
        .truth
        .logs
        .get(thread)
        .into_iter()
        .flatten()
        .map(|&(activation, step)| (function(activation), step))
        .collect()
}

fn steps(program: &Program, event: Event) -> Vec<(FunctionId, Step)> {
    let site = |function: FunctionId, call: CallId| -> Option<Site> {
        program.functions[function.index()].calls.site_of(call)
    };
    match event {
        Event::Begin(function) => vec![(function, Step::Begin)],
        Event::Block { function, block, edge } => {
            let mut steps = vec![(function, Step::Enter(block))];
            steps.splice(0..0, edge.map(|edge| (function, Step::Take(edge))));
            steps
        }
        Event::Call { function, call } => vec![(function, Step::Call(call))],
        Event::Leave { function, edge } => vec![(function, Step::Take(edge))],
        Event::Abandoned(function, call) => {
            vec![(function, Step::Abandoned(call.and_then(|call| site(function, call))))]
        }
        Event::Catch(function, _) => vec![(function, Step::Catch)],
        Event::Revived(calling) => {
            vec![(calling.function, Step::Revived(site(calling.function, calling.call)))]
        }
        _ => vec![],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Each thread's trace is its log.
    #[test]
    fn executions_are_regenerated((program, seed) in programs_to_trace(), threads in 1..3usize) {
        let life = Life { threads, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, calls(&program, seed));
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        for (thread, state) in outcome.threads.iter().enumerate() {
            let mut reader = Reader::new(&tables, &state.trace[..], Frames);
            let (mut found, mut lengths) = (Vec::new(), vec![0]);
            loop {
                match reader.next() {
                    Ok(Some(event)) => {
                        found.extend(steps(&program, event));
                        lengths.push(found.len());
                    }
                    Ok(None) => break,
                    Err(error) => {
                        let truth = log(&program, &outcome, thread);
                        prop_assert!(false, "{error}\n{:?}\n{found:?}\n{truth:?}\n{plans:#?}", state.trace);
                    }
                }
            }
            let truth = log(&program, &outcome, thread);
            if matches!(script.last(), Some(&(by, Action::Exit)) if by.index() != thread) {
                // It was stopped from outside, wherever it was.
                let certain = &found[..lengths[reader.checkpoint().certain() as usize]];
                prop_assert!(truth.starts_with(certain), "{certain:?}\n{truth:?}");
            } else {
                prop_assert_eq!(found, truth, "{:?} {:?}", state.trace, plans);
            }
            prop_assert_eq!(reader.checkpoint().position(), state.trace.len() as u64);
        }
    }
}
