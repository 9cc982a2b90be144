//! What calls have led to so far, asked at any moment, against a shadow stack: on random programs of random graphs,
//! with recursion, threads, handlers and all early endings.

use crate::call_sums::{returning, truth_of};
use crate::events::{kinds, named, plan_of};
use crate::programs::{Life, Program, programs_to_trace};
use cotree_core::facts::{
    BlockFacts, Call, CallLine, Callee, Function, Inlined, LineSpan, Module, Position, ProgramMap, Untouched,
};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::interpret::{Activation, Outcome, Step, Thread};
use cotree_core::method::Method;
use cotree_core::method::events::EventOptions;
use cotree_core::method::events::call_queries::{CallQueries, CallQuery, CallQueryError, UnplacedCall};
use cotree_core::method::events::call_sums::{CallForm, counters};
use cotree_core::unit::UnitFacts;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    /// Each thread is told the sums of its own shadow stack, wherever the run has come to, and nobody else's.
    #[test]
    fn answers_are_those_of_a_shadow_stack(
        (program, seed) in programs_to_trace(),
        threads in 1..4usize,
        signals in any::<bool>(),
        flow in any::<bool>(),
        asked in any::<u64>(),
        part in 0..=100usize,
    ) {
        let (program, map, known) = named(returning(program), seed);
        let life = Life { threads: if signals { 1 } else { threads }, signals, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let queried_calls: Vec<BTreeSet<CallId>> = (0..)
            .zip(&program.functions)
            .map(|(number, function)| {
                let drawn = |&call: &CallId| asked.rotate_left(7 * number + 3 * call.0) & 3 != 0;
                let calls = function.calls.numbered().filter(|(_, call)| !call.returns_twice && !call.must_tail);
                calls.map(|(call, _)| call).filter(drawn).collect()
            })
            .collect();
        let facts = UnitFacts {
            callers_known: known,
            queried: true,
            queried_calls: queried_calls.clone(),
            ..UnitFacts::new(&map)
        };
        let plan = plan_of(Method::EventsCalls, &facts, EventOptions { kinds: kinds(), ..EventOptions::default() }, flow);
        let mut process = program.process().with_plans(&plan.functions).with_shared_counters(plan.kinds.len());
        for &(thread, action) in &script[..script.len() * part / 100] {
            process.act(thread, action).unwrap();
        }
        // The counter is exact in calls that may ask, and behind all of them.
        let asks = |thread: usize| match process.positions(Thread::new(thread)).next_back() {
            Some(at) => at.calling.is_some_and(|call| {
                plan.functions[at.function.index()].queries.iter().all(|queries| queries.at_call(call) == 0)
            }),
            None => true,
        };
        let asking: Vec<bool> = (0..life.threads).map(asks).collect();
        let outcome = process.finish();
        // Who is interrupted just behind a call is still in it for the interpreter.
        if signals && (!outcome.truth.interrupted.is_empty() || !outcome.truth.early.is_empty()) {
            return Ok(());
        }
        let (counters, _) = counters(&plan.functions, plan.kinds.len());
        for (kind, &of) in plan.kinds.iter().enumerate() {
            let threads = outcome.threads.iter().zip(&outcome.truth.logs).zip(&asking);
            for ((state, log), _) in threads.filter(|&((_, log), &asks)| asks && !is_interrupted(&outcome, &program, log)) {
                let told = truth_of(&outcome, std::iter::once(log), &program, of);
                for (number, calls) in queried_calls.iter().enumerate() {
                    for &call in calls {
                        if plan.functions[number].key.sums.calls[call] == CallForm::External {
                            continue;
                        }
                        let word = counters[number].outermost_calls[call.index()];
                        let word = word.expect("what is asked for is measured");
                        let inclusive = told.in_calls.get(&(number, call)).copied().unwrap_or(0);
                        prop_assert_eq!(state.events_so_far(word, kind), inclusive, "{} {:?}", number, call);
                    }
                }
            }
        }
    }
}

/// Does a handler run, which may have come where the counter is not exact?
fn is_interrupted(outcome: &Outcome, program: &Program, log: &[(Activation, Step)]) -> bool {
    let ends = |activation: Activation, step: Step| match step {
        Step::Abandoned(_) => true,
        Step::Take(edge) => {
            let function = &program.functions[outcome.truth.activations[activation].function.index()];
            function.edges[edge].dst == function.exit()
        }
        _ => false,
    };
    let runs = |handler| !log.iter().any(|&(activation, step)| activation == handler && ends(activation, step));
    log.iter().any(|&(activation, _)| outcome.truth.activations[activation].handles && runs(activation))
}

/// A function with a block and calls on these lines of file 0: the callee, and the line if it is known.
fn function(symbol: &str, calls: &[(&str, Option<u32>)]) -> Function {
    let lines: Vec<LineSpan> = calls
        .iter()
        .map(|&(_, line)| LineSpan {
            at: Position { file: 0, line: line.unwrap_or(0), column: 1 },
            inlined: None,
            after_sites: 0,
        })
        .collect();
    let call = |(number, &(callee, line)): (usize, &(&str, Option<u32>))| Call {
        line: line.map(|_| CallLine { span: number as u32, column: 1 }),
        ..Call::site(Block(0), Callee::Symbol(callee.into()))
    };
    Function {
        symbol: symbol.into(),
        blocks: std::iter::once(BlockFacts { lines, ..BlockFacts::default() }).collect(),
        calls: calls.iter().enumerate().map(call).collect(),
        ..Function::default()
    }
}

fn program(functions: Vec<Function>) -> ProgramMap {
    let module = Module { functions, ..Module::default() };
    ProgramMap { modules: vec![module], files: vec!["/a/./b.c".into(), "/a/b.c".into()], ..ProgramMap::default() }
}

fn ask(call: u32, line: Option<u32>) -> CallQuery {
    CallQuery { function: FunctionId(0), call: CallId(call), line }
}

const QUERY: (&str, Option<u32>) = ("cotree_event_call_count", Some(9));

/// A line is that of the file, by whatever path, and has calls in all functions. Queries and quiet calls are none.
#[test]
fn lines_lead_to_all_their_calls() {
    let mut copy = function("copy", &[("work", Some(5)), ("work", None)]);
    copy.blocks[Block(0)].lines[0].at.file = 1;
    let asks = function("asks", &[QUERY, ("work", Some(5)), ("strlen", Some(5)), ("work", Some(6)), QUERY]);
    let map = program(vec![asks, copy, function("work", &[])]);
    let queries = [ask(0, Some(5)), ask(4, Some(5))];
    let unplaced = UnplacedCall { function: FunctionId(1), call: CallId(1), of: "copy".into() };
    let elsewhere = UnplacedCall { of: "other".into(), ..unplaced.clone() };
    let found = CallQueries::find(&map, false, &queries, &[unplaced, elsewhere]).unwrap();
    assert_eq!(found.line_of, [0, 0]);
    let calls = [(FunctionId(0), CallId(1)), (FunctionId(1), CallId(0))];
    assert_eq!(found.calls, [BTreeSet::from(calls)]);
    assert_eq!(found.unsure, BTreeSet::from(["copy".to_owned()]));
    assert_eq!(found.by_function(3), [BTreeSet::from([CallId(1)]), BTreeSet::from([CallId(0)]), BTreeSet::new()]);
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let refused = |functions: Vec<Function>, line| {
        CallQueries::find(&program(functions), false, &[ask(0, line)], &[]).unwrap_err().1
    };
    let asks = |calls: &[(&str, Option<u32>)]| vec![function("asks", calls), function("work", &[])];
    assert_eq!(refused(asks(&[QUERY]), None), CallQueryError::NotConstant);
    assert_eq!(refused(asks(&[("cotree_event_call_count", None)]), Some(5)), CallQueryError::NoFile);
    // The query itself is no call that it could mean.
    assert_eq!(refused(asks(&[QUERY, ("strlen", Some(5))]), Some(5)), CallQueryError::NoCall { line: 5 });
    assert_eq!(refused(asks(&[QUERY]), Some(9)), CallQueryError::NoCall { line: 9 });
    let mut inlined = asks(&[QUERY]);
    let call = Some(Position { file: 1, line: 5, column: 3 });
    inlined[1].inlined.push(Inlined { symbol: "leaf".into(), call, parent: None });
    assert_eq!(refused(inlined, Some(5)), CallQueryError::Inlined { line: 5, function: "work".into() });
    let mut tail = asks(&[QUERY, ("work", Some(5))]);
    tail[0].calls.update(|call, facts| facts.must_tail = call == CallId(1));
    assert_eq!(refused(tail, Some(5)), CallQueryError::TailCall { line: 5, function: "asks".into() });
    let mut excluded = asks(&[QUERY, ("work", Some(5))]);
    excluded[0].untouched = Some(Untouched::Excluded);
    assert_eq!(refused(excluded, Some(5)), CallQueryError::NotProfiled { line: 5, function: "asks".into() });
}
