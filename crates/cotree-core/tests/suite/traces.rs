//! Traces: executions are regenerated from them exactly.

use crate::programs::{Life, Program, programs_to_trace};
use crate::random;
use cotree_core::facts::{Access, AccessKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, Edge, FunctionId, Site};
use cotree_core::interpret::{Action, Activation, Frames, Outcome, Step, Thread};
use cotree_core::method::trace::stream::{self, Control, ControlByte};
use cotree_core::method::trace::{
    CallKind, Checkpoint, Encoding, Event, Packing, ReadError, Reader, Tables, TraceBy, TraceCalls, TraceError,
    TraceKey, TraceOptions, TracePlan, plan_functions,
};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// The program, whose blocks access memory before calls and at their ends, as the seed says.
fn with_accesses(mut program: Program, seed: u64) -> Program {
    let mut random = seed | 1;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (random >> 33) % below
    };
    for function in &mut program.functions {
        let mut first = 0;
        for block in (0..function.blocks.len()).map(Block::new) {
            let calls = function.calls.iter().filter(|call| call.block == block).count();
            let last = function.calls.iter().rfind(|call| call.block == block);
            let goes_on = last.is_none_or(|call| !call.terminator && !call.must_tail && call.comes_back());
            for before in first..first + calls + usize::from(goes_on) {
                for _ in 0..draw(4).saturating_sub(1) {
                    let (before, length) = (CallId::new(before), Some(8).filter(|_| draw(3) > 0));
                    function.accesses.push(Access { block, before, kind: AccessKind::Load, length, span: None });
                }
            }
            first += calls;
        }
    }
    program
}

/// Programs to trace, some of which tell addresses.
fn to_trace() -> impl Strategy<Value = (Program, u64)> {
    (programs_to_trace(), any::<bool>()).prop_map(|((program, seed), tells)| {
        let program = if tells { with_accesses(program, seed) } else { program };
        (program, seed)
    })
}

/// What is known of the calls of a program: some that could be by name are through pointers.
fn calls(program: &Program, seed: u64) -> Vec<TraceCalls> {
    let mut calls = vec![TraceCalls::default(); program.functions.len()];
    for (function, root) in program.roots.iter().enumerate() {
        calls[function].records_entry |= root;
    }
    for function in 0..program.functions.len() {
        for call in 0..program.functions[function].calls.len() {
            let Some(&callee) = program.callees(function, CallId::new(call)).first() else { continue };
            if (seed >> ((function + call) % 60)) & 3 == 0 {
                calls[callee.index()].records_entry = true;
            } else {
                calls[function].kinds.push((CallId::new(call), CallKind::Direct(callee)));
            }
        }
    }
    calls
}

/// Do the weights of each block's edges in and out have the same sum?
fn weights_are_a_flow(seed: u64) -> bool {
    !seed.is_multiple_of(3)
}

fn plan(program: &Program, seed: u64, options: TraceOptions) -> Vec<TracePlan> {
    let functions = program.functions.iter().zip(&program.graphs);
    // Some weights are as wrong as can be.
    let weighting = |f: &Function, cfg: &Cfg| {
        if weights_are_a_flow(seed) {
            Weighting::expected(f, cfg)
        } else {
            Weighting::new(cfg, cfg.edges().map(|edge| (seed >> (edge.0 % 50) & 63) as f64).collect())
        }
    };
    let weighted: Vec<_> = functions.map(|(f, cfg)| (f, cfg, weighting(f, cfg))).collect();
    plan_functions(&weighted, calls(program, seed), options).unwrap()
}

fn options() -> impl Strategy<Value = TraceOptions> {
    let by = prop::sample::select(vec![
        TraceBy::Auto,
        TraceBy::Only(Encoding::Paths),
        TraceBy::Only(Encoding::Bits),
        TraceBy::Only(Encoding::Witnesses),
        TraceBy::Only(Encoding::EachWitness),
        TraceBy::Only(Encoding::EachBranch),
    ]);
    let per_branch = prop_oneof![4 => Just(false), 1 => Just(true)];
    (by, any::<bool>(), per_branch).prop_map(|(by, packs, per_branch)| TraceOptions {
        by,
        packs,
        per_branch,
        ..TraceOptions::default()
    })
}

fn tables(program: &Program, plans: &[TracePlan]) -> Vec<Option<Tables>> {
    let tables = program.functions.iter().zip(plans).map(|(f, plan)| Some(Tables::new(f, &plan.key).unwrap()));
    tables.collect()
}

/// A thread's log in the words of events.
fn log(outcome: &Outcome, thread: usize) -> Vec<(FunctionId, Step)> {
    let function = |activation: Activation| outcome.truth.activations[activation].function;
    outcome
        .truth
        .logs
        .get(Thread::new(thread))
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
        Event::Access { function, access, address, length } => {
            vec![(function, Step::Access(access, address, length))]
        }
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
    fn executions_are_regenerated((program, seed) in to_trace(), threads in 1..3usize, options in options()) {
        let life = Life { threads, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
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
                        let truth = log(&outcome, thread);
                        prop_assert!(false, "{error}\n{:?}\n{found:?}\n{truth:?}\n{plans:#?}", state.trace);
                    }
                }
            }
            let truth = log(&outcome, thread);
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

/// What a stream tells, up to so many events, and the error where it is none.
fn read_all(tables: &[Option<Tables>], trace: &[u8], most: usize) -> (Vec<Event>, Option<ReadError>) {
    let mut reader = Reader::new(tables, trace, Frames);
    let mut events = Vec::new();
    while events.len() < most {
        match reader.next() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => break,
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Reads a trace event by event, and skips as many blocks at once as the seed says: both must come to the same, up to
/// where the trace ends. Says what differs.
fn skipping(tables: &[Option<Tables>], trace: &[u8], seed: u64) -> Result<(), String> {
    // A reader remembers more where the thread was interrupted behind the last byte.
    [false, true].into_iter().try_for_each(|interrupted| skipping_some(tables, trace, seed, interrupted))
}

fn skipping_some(tables: &[Option<Tables>], trace: &[u8], seed: u64, interrupted: bool) -> Result<(), String> {
    let mut reader = Reader::new(tables, trace, Frames).interrupted(interrupted);
    let mut skipper = Reader::new(tables, trace, Frames).interrupted(interrupted);
    for turn in 0..3000_u64 {
        // A few, many, or all that there are.
        let most = (seed >> (turn % 57)) & [15, 15, 255, u64::MAX][(seed >> (turn % 61)) as usize & 3];
        let skipped = skipper.skip(most);
        let (mut blocks, mut certain) = (0, None);
        for _ in 0..skipped.events {
            let before = reader.checkpoint().certain();
            let Ok(Some(event)) = reader.next() else { return Err("more was skipped than there is".into()) };
            if reader.checkpoint().certain() != before {
                certain = Some(blocks);
            }
            blocks += u64::from(matches!(event, Event::Block { .. }));
        }
        // The control byte behind the last event may have been read already.
        let same = skipped.certain == certain || skipped.certain == Some(blocks);
        if skipped.blocks != blocks || !same || blocks > most {
            return Err(format!("{skipped:?} of at most {most} are {blocks} blocks, certain at {certain:?}"));
        }
        let steps = [reader.next(), skipper.next()];
        let [read, skipped] = [reader.checkpoint(), skipper.checkpoint()];
        if steps[0] != steps[1] || read != skipped {
            return Err(format!("{steps:?}, {read:?} and {skipped:?}"));
        }
        if !matches!(steps[0], Ok(Some(_))) {
            break;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The time may stand before each entry record, and changes nothing else. Nor does the form that numbers of many
    /// functions have.
    #[test]
    fn entry_records_may_be_long_and_have_times_before_them((program, seed) in to_trace(), options in options()) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        let trace = &outcome.threads[0].trace[..];
        let (mut timed, mut long, mut copied) = (Vec::new(), Vec::new(), 0);
        let (mut with_times, mut without) = (Vec::new(), Vec::new());
        let mut reader = Reader::new(&tables, trace, Frames);
        while let Some(event) = reader.next().unwrap() {
            if let Event::Begin(function) = event
                && plans[function.index()].key.records_entry
            {
                let (_, length) = stream::entered(function);
                let before = reader.checkpoint().position() as usize - length;
                let now = with_times.len() as u64;
                timed.extend(&trace[copied..before]);
                Control::Time(now).write(&mut timed);
                timed.extend(&trace[before..before + length]);
                with_times.push(Event::Time(now));
                long.extend(&trace[copied..before]);
                long.push(ControlByte::ENTERED);
                long.extend(function.0.to_le_bytes());
                copied = before + length;
            }
            with_times.push(event);
            without.push(event);
        }
        for (stream, expected) in [(&mut timed, with_times), (&mut long, without)] {
            stream.extend(&trace[copied..]);
            prop_assert_eq!(read_all(&tables, stream, usize::MAX), (expected, None));
            prop_assert_eq!(skipping(&tables, stream, seed), Ok(()));
        }
    }

    /// A stream that ends anywhere tells the beginning of what happened, and a bit more that is marked as not certain.
    #[test]
    fn streams_may_end_anywhere((program, seed) in to_trace(), options in options(), end in any::<u16>()) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        let trace = &outcome.threads[0].trace[..];
        let (all, error) = read_all(&tables, trace, usize::MAX);
        prop_assert_eq!(error, None);
        let cut = &trace[..usize::from(end) % (trace.len() + 1)];
        let mut reader = Reader::new(&tables, cut, Frames);
        let (mut found, mut certain) = (Vec::new(), 0);
        while let Some(event) = reader.next().unwrap() {
            prop_assert!(reader.checkpoint().certain() >= certain);
            certain = reader.checkpoint().certain();
            found.push(event);
            prop_assert!(found.len() < all.len() + 1000);
        }
        let certain = reader.checkpoint().certain() as usize;
        prop_assert!(certain <= found.len());
        prop_assert_eq!(&found[..certain], &all[..certain]);
    }

    /// What is skipped is what would have been read, in any stretches, also where a byte is wrong.
    #[test]
    fn skipping_comes_to_where_reading_does(
        (program, seed) in to_trace(), options in options(), flip in any::<Option<(u16, u8)>>()
    ) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        let mut trace = outcome.threads[0].trace.clone();
        if let Some((at, by)) = flip && !trace.is_empty() {
            let at = usize::from(at) % trace.len();
            trace[at] ^= by;
        }
        prop_assert_eq!(skipping(&tables, &trace, seed), Ok(()));
    }

    /// Each function gets the encoding that was asked for, unless it has an indirect branch. Neither witnesses nor bits
    /// take more bytes than a record of each branch, where the weights are a flow. (By others an edge behind a merge
    /// may be cheaper than those into it, though it is taken more often.)
    #[test]
    fn witnesses_and_bits_are_small((program, seed) in programs_to_trace()) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let bytes = |options: TraceOptions| {
            let plans = plan(&program, seed, options);
            let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
            (outcome.threads[0].trace.len(), plans)
        };
        let by = |encoding| TraceOptions { by: TraceBy::Only(encoding), ..TraceOptions::default() };
        let (branches, _) = bytes(TraceOptions { per_branch: true, ..by(Encoding::Paths) });
        for encoding in [Encoding::EachWitness, Encoding::EachBranch] {
            let (own, plans) = bytes(by(encoding));
            for (function, plan) in program.functions.iter().zip(&plans) {
                let splittable = function.edges.iter().all(|edge| edge.kind.splittable());
                prop_assert!(plan.key.encoding == encoding || !splittable);
            }
            let small = own <= branches || !weights_are_a_flow(seed);
            prop_assert!(small, "{own} bytes by {encoding:?}, {branches} by branches");
        }
    }

    /// Reading may be interrupted after any event, and resumed with the rest of the bytes.
    #[test]
    fn reading_resumes_at_checkpoints((program, seed) in to_trace(), options in options()) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        let trace = &outcome.threads[0].trace[..];
        let (all, _) = read_all(&tables, trace, usize::MAX);
        let mut at = Checkpoint::beginning();
        for (number, event) in all.iter().enumerate() {
            let rest = &trace[at.position() as usize..];
            let mut reader = Reader::resume(&tables, rest, Frames, at);
            prop_assert_eq!(reader.next().unwrap(), Some(*event), "event {}", number);
            at = reader.checkpoint().clone();
            prop_assert_eq!(at.events(), number as u64 + 1);
        }
    }

    /// Streams that nobody wrote are errors or executions, and come to an end.
    #[test]
    fn hostile_streams_do_no_harm(
        (program, seed) in to_trace(),
        options in options(),
        changes in prop::collection::vec((any::<u16>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans = plan(&program, seed, options);
        let outcome = program.process().with_trace().with_plans(&plans).run(&script).unwrap();
        let tables = tables(&program, &plans);
        let mut trace = outcome.threads[0].trace.clone();
        for (place, byte, what) in changes {
            let place = usize::from(place) % (trace.len() + 1);
            match what {
                0 => trace.insert(place, byte),
                1 => trace.truncate(place),
                _ if place == trace.len() => {}
                2 => drop(trace.remove(place)),
                _ => trace[place] = byte,
            }
        }
        read_all(&tables, &trace, 1 << 20);
        // Nor do keys that belong to another function.
        for (number, plan) in plans.iter().enumerate() {
            let other = &program.functions[(number + 1) % program.functions.len()];
            if let Ok(foreign) = Tables::new(other, &plan.key) {
                let mut mixed = tables.clone();
                mixed[(number + 1) % program.functions.len()] = Some(foreign);
                read_all(&mixed, &trace, 1 << 16);
            }
        }
    }
}

/// A loop whose only edge out is cut can't share tokens: nothing would write them. Such keys are refused, and no plan
/// has one.
#[test]
fn tokens_that_nothing_writes_are_refused() {
    let mut edges = vec![(0, 1, true), (1, 2, true)];
    edges.extend([(2, 3, true); 20]);
    edges.extend([(3, 1, true), (3, 4, true)]);
    let function = random::function(4, &edges, &[]);
    let cfg = function.cfg().unwrap();
    let (inside, back) = (Edge(1), Edge(22));
    let packing = Packing { edges: vec![back], bytes: 2 };
    let key = TraceKey { cuts: vec![inside, back], packing, ..TraceKey::default() };
    assert_eq!(Tables::new(&function, &key).unwrap_err(), TraceError::NeverWritten);
    let weighting = Weighting::new(&cfg, cfg.edges().map(|edge| if edge == inside { 0.0 } else { 100.0 }).collect());
    let plan = plan_functions(&[(&function, &cfg, weighting)], vec![TraceCalls::default()], TraceOptions::default());
    assert!(Tables::new(&function, &plan.unwrap()[0].key).is_ok());
}

/// A token that is read behind so many calls that they are not skipped at once.
#[test]
fn calls_before_a_token_are_skipped() {
    let function = random::function(2, &[(0, 1, true), (1, 1, true), (1, 2, true)], &[(1, false); 5000]);
    let cfg = function.cfg().unwrap();
    let kinds = (0..5000).map(|call| (CallId::new(call), CallKind::Untraced)).collect();
    let calls = TraceCalls { records_entry: true, kinds };
    let mut turns = 0;
    for packs in [false, true] {
        let options = TraceOptions { by: TraceBy::Only(Encoding::Paths), packs, ..TraceOptions::default() };
        let weighting = Weighting::expected(&function, &cfg);
        let plans = plan_functions(&[(&function, &cfg, weighting)], vec![calls.clone()], options).unwrap();
        let tables = [Some(Tables::new(&function, &plans[0].key).unwrap())];
        for tokens in (0..1_u64 << 12).step_by(97) {
            let mut trace = Vec::new();
            Control::Entered(FunctionId(0)).write(&mut trace);
            // Two bits of each byte.
            trace.extend((0..6).map(|byte| (tokens >> (2 * byte) & 3) as u8));
            assert_eq!(skipping(&tables, &trace, u64::MAX << (tokens % 5)), Ok(()), "{trace:?}");
            turns = turns.max(read_all(&tables, &trace, 100_000).0.len() / 5000);
        }
    }
    assert!(turns >= 6, "the calls ran {turns} times only");
}
