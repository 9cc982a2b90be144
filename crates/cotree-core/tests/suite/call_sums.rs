//! Events of functions and calls against a shadow stack: on random programs of random graphs, with recursion, threads,
//! handlers and all early endings.

use crate::events::{kinds, named, plan_by};
use crate::programs::{Life, Program, programs_to_trace};
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{Callee, EdgeKind, ProgramMap};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::interpret::{Activation, Outcome, Step};
use cotree_core::method::Method;
use cotree_core::method::events::call_sums::CallForm;
use cotree_core::method::events::{EarlyEvents, EventOptions, EventProfile, UnitEventPlan, recover};
use cotree_core::profile::EarlyExits;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The program with nothing but returns at the ends of functions, also where a call ends the block.
pub fn returning(mut program: Program) -> Program {
    for function in &mut program.functions {
        let exit = function.exit();
        function.edges.iter_mut().filter(|edge| edge.dst == exit).for_each(|edge| edge.kind = EdgeKind::Return);
    }
    program
}

/// What a stack of activations tells of one kind, by function, and by function and call.
#[derive(Default, Debug)]
pub struct Told {
    entries: BTreeMap<usize, u64>,
    inclusive: BTreeMap<usize, u64>,
    exclusive: BTreeMap<usize, u64>,
    calls: BTreeMap<(usize, CallId), u64>,
    pub in_calls: BTreeMap<(usize, CallId), u64>,
}

/// An activation on the shadow stack.
struct Frame {
    activation: Activation,
    function: usize,
    block: Block,
    /// The events of the block that have happened.
    done: u64,
    calling: Option<CallId>,
}

/// Goes through the log of each thread with a stack, and gives every event to all that is on it.
fn truth(outcome: &Outcome, program: &Program, kind: EventKind) -> Told {
    truth_of(outcome, outcome.truth.logs.iter(), program, kind)
}

/// Tells what the logs of some threads tell.
pub fn truth_of<'a>(
    outcome: &Outcome,
    logs: impl Iterator<Item = &'a Vec<(Activation, Step)>>,
    program: &Program,
    kind: EventKind,
) -> Told {
    let events: Vec<FunctionEvents> = program.functions.iter().map(|f| f.events(kind)).collect();
    let mut told = Told::default();
    for log in logs {
        let mut stack: Vec<Frame> = Vec::new();
        for &(activation, step) in log {
            let number = outcome.truth.activations[activation].function.index();
            let function = &program.functions[number];
            if let Step::Begin = step {
                *told.entries.entry(number).or_default() += 1;
                let block = Block(0);
                stack.push(Frame { activation, function: number, block, done: 0, calling: None });
                continue;
            }
            if let Step::Revived(site) = step {
                let call = function.calls.call_of(site.unwrap()).unwrap();
                let (block, done) = (function.calls[call].block, events[number].through(call));
                stack.push(Frame { activation, function: number, block, done, calling: Some(call) });
                continue;
            }
            // Who does something has come back from what it called.
            let frame = stack.last_mut().unwrap();
            assert_eq!(frame.activation, activation);
            let now = match step {
                Step::Enter(block) => {
                    (frame.block, frame.done) = (block, 0);
                    0
                }
                Step::Call(call) => events[number].through(call),
                Step::Take(_) => events[number].block(frame.block),
                _ => frame.done,
            };
            let more = now.saturating_sub(frame.done);
            frame.done = now.max(frame.done);
            frame.calling = None;
            *told.exclusive.entry(number).or_default() += more;
            // What a handler does is nothing that the calls do which it interrupts.
            let handles = |frame: &Frame| outcome.truth.activations[frame.activation].handles;
            let first = stack.iter().rposition(handles).unwrap_or(0);
            // What is under way several times at once has had an event once.
            let functions: BTreeSet<usize> = stack[first..].iter().map(|frame| frame.function).collect();
            functions.into_iter().for_each(|function| *told.inclusive.entry(function).or_default() += more);
            let calling = |frame: &Frame| Some((frame.function, frame.calling?));
            let calls: BTreeSet<(usize, CallId)> = stack[first..].iter().filter_map(calling).collect();
            calls.into_iter().for_each(|call| *told.in_calls.entry(call).or_default() += more);
            match step {
                Step::Call(call) => {
                    *told.calls.entry((number, call)).or_default() += 1;
                    // The activation of a `musttail` call is over.
                    let frame = stack.last_mut().unwrap();
                    frame.calling = Some(call);
                }
                Step::Take(edge) if function.edges[edge].dst == function.exit() => drop(stack.pop()),
                Step::Abandoned(_) => drop(stack.pop()),
                _ => {}
            }
        }
    }
    told
}

fn recovered(outcome: &Outcome, map: &ProgramMap, plan: &UnitEventPlan) -> EventProfile {
    let counters = outcome.counts(FunctionId(0)).counters;
    let exits: Vec<EarlyExits> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
    let functions = &map.modules[0].functions;
    let mut totals: Vec<Vec<Vec<i64>>> =
        functions.iter().map(|f| vec![vec![0; f.sites().len()]; plan.kinds.len()]).collect();
    for early in &outcome.truth.early {
        for (kind, &total) in early.totals.iter().enumerate() {
            let sum = &mut totals[early.function.index()][kind][early.site.index()];
            *sum = sum.wrapping_add(total.cast_signed().wrapping_mul(early.count));
        }
    }
    let early = EarlyEvents { exits: exits.iter().map(Some).collect(), totals: totals.iter().map(Some).collect() };
    recover(plan, map, &counters, &early).unwrap()
}

fn check(outcome: &Outcome, program: &Program, map: &ProgramMap, plan: &UnitEventPlan) -> Result<(), TestCaseError> {
    let profile = recovered(outcome, map, plan);
    let sums = profile.calls.as_ref().unwrap();
    let ended = outcome.truth.functions.iter().zip(&plan.functions).any(|(truth, plan)| {
        let early = truth.early();
        plan.key.at_sites.iter().any(|lacking| lacking.iter().zip(&early.at_site).any(|(&l, &e)| l != 0 && e != 0))
    });
    prop_assert_eq!(sums.exact, !ended);
    if ended {
        return Ok(());
    }
    for (kind, &of) in plan.kinds.iter().enumerate() {
        let told = truth(outcome, program, of);
        prop_assert_eq!(profile.totals[kind], told.exclusive.values().sum::<u64>());
        for (number, sums) in sums.functions.iter().enumerate() {
            let sums = sums.as_ref().unwrap();
            let of = |map: &BTreeMap<usize, u64>| map.get(&number).copied().unwrap_or(0);
            prop_assert!(sums.possible);
            let twice = program.functions[number].calls.iter().any(|call| call.returns_twice);
            prop_assert!(!sums.repeats || twice, "repeats {}", number);
            prop_assert_eq!(sums.exclusive[kind], of(&told.exclusive), "exclusive {}", number);
            if !sums.repeats {
                prop_assert_eq!(sums.inclusive[kind], of(&told.inclusive), "inclusive {}", number);
            }
            prop_assert_eq!(sums.entries, of(&told.entries), "entries {}", number);
            for (call, sum) in sums.calls.iter().enumerate() {
                let key = (number, CallId::new(call));
                let inclusive = told.in_calls.get(&key).copied().unwrap_or(0);
                let form = plan.functions[number].key.sums.calls[CallId::new(call)];
                match sum {
                    // Whom a call has led to that returns twice is not known when it does.
                    Some(sum) if sum.repeats => {
                        let facts = &program.functions[number].calls[key.1];
                        prop_assert!(facts.returns_twice || twice, "repeats {:?}", key);
                        prop_assert!(sum.inclusive[kind] >= inclusive, "{:?}", key);
                    }
                    Some(sum) => {
                        prop_assert_eq!(sum.inclusive[kind], inclusive, "{:?}", key);
                        prop_assert_eq!(sum.calls, told.calls.get(&key).copied().unwrap_or(0), "{:?}", key);
                    }
                    None if form == CallForm::Unmeasured => {}
                    None => prop_assert_eq!(inclusive, 0),
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    /// Sums are those of a shadow stack, however activations end.
    #[test]
    fn sums_are_those_of_a_shadow_stack(
        (program, seed) in programs_to_trace(),
        threads in 1..4usize,
        naive in prop::bool::weighted(0.1),
        flow in any::<bool>(),
    ) {
        let (program, map, known) = named(returning(program), seed);
        let Some(script) = program.script(seed, Life { threads, signals: false, jumps_anywhere: false }) else { return Ok(()) };
        let options = EventOptions { kinds: kinds(), naive, ..EventOptions::default() };
        let plan = plan_by(Method::EventsCalls, &map, &known, options, false, flow);
        let process = program.process().with_plans(&plan.functions).with_shared_counters(plan.kinds.len());
        let outcome = process.run(&script).unwrap();
        check(&outcome, &program, &map, &plan)?;
    }

    /// Handlers run anywhere, and have events of their own.
    #[test]
    fn handlers_are_told_apart((program, seed) in programs_to_trace(), flow in any::<bool>()) {
        let (program, map, known) = named(returning(program), seed);
        let Some(script) = program.script(seed, Life { threads: 1, signals: true, jumps_anywhere: false }) else { return Ok(()) };
        let options = EventOptions { kinds: kinds(), ..EventOptions::default() };
        let plan = plan_by(Method::EventsCalls, &map, &known, options, false, flow);
        let process = program.process().with_plans(&plan.functions).with_shared_counters(plan.kinds.len());
        let outcome = process.run(&script).unwrap();
        // Who is interrupted just behind a call is still in it for the interpreter; the runtime flags whom that ends.
        if !outcome.truth.interrupted.is_empty() || !outcome.truth.early.is_empty() {
            return Ok(());
        }
        check(&outcome, &program, &map, &plan)?;
    }

    /// Calls that are made by name of functions that are measured nowhere else: their sums are those of the calls.
    #[test]
    fn what_is_not_told_of_a_call_is_little((program, seed) in programs_to_trace()) {
        let (program, map, known) = named(returning(program), seed);
        let plan = plan_by(Method::EventsCalls, &map, &known, EventOptions { kinds: kinds(), ..EventOptions::default() }, false, true);
        for (function, plan) in program.functions.iter().zip(&plan.functions) {
            for (facts, form) in function.calls.iter().zip(&plan.key.sums.calls) {
                prop_assert_eq!(*form == CallForm::Unmeasured, facts.must_tail);
                prop_assert!(facts.must_tail || !matches!(facts.callee, Callee::Indirect) || form.is_summed());
            }
        }
    }
}
