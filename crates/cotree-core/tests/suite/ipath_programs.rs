//! Paths across functions against the truth: on random programs of random graphs, with recursion, threads and all early
//! endings.

use crate::ipath_enumeration::Enumeration;
use crate::programs::{Life, Program, programs_of_llvm};
use cotree_core::facts::stretches::stretches;
use cotree_core::facts::{EdgeFacts, EdgeKind, Linkage};
use cotree_core::ids::{Block, CallId, Edge, FunctionId, Site};
use cotree_core::interpret::{Action, EarlyExit, Outcome};
use cotree_core::method::ipath::decode::{Step, active_suffix};
use cotree_core::method::ipath::numbering::{Numbering, Shape};
use cotree_core::method::ipath::supergraph::FunctionInput;
use cotree_core::method::ipath::{
    self, AtCall, Ended, Entry, Hybrid, IN_ARRAY, IpathMethod, IpathOptions, IpathPlan, NOTED, Strategy as Which,
};
use cotree_core::method::path::PathMetric;
use cotree_core::method::path::classes::EdgeClasses;
use cotree_core::method::path::cuts::necessary;
use cotree_core::profile::EarlyExits;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// The program as LLVM could have made it: nothing branches to an entry, and a call that ends its block is an invoke
/// with a landing pad.
pub fn with_invokes(mut program: Program) -> Program {
    for function in &mut program.functions {
        function.edges.retain(|edge| edge.dst != Block(0));
        let exit = function.exit();
        let invokes: Vec<Block> = function.calls.iter().filter(|c| c.terminator).map(|c| c.block).collect();
        for block in (0..function.blocks.len()).map(Block::new) {
            let is_invoke = invokes.contains(&block);
            let mut first = true;
            for edge in function.edges.iter_mut().filter(|edge| edge.src == block && is_invoke) {
                edge.kind = match (std::mem::take(&mut first), edge.dst == exit) {
                    (true, _) => EdgeKind::InvokeNormal,
                    (false, true) => EdgeKind::Resume,
                    (false, false) => EdgeKind::InvokeUnwind,
                };
            }
            function.edges.retain(|edge| edge.src != block || edge.kind != EdgeKind::Resume);
            if function.edges.iter().all(|edge| edge.src != block) {
                let kind = if is_invoke { EdgeKind::InvokeNormal } else { EdgeKind::Return };
                function.edges.push(EdgeFacts { src: block, dst: exit, kind, successor: 0 });
            }
            let unwinds = |edge: &EdgeFacts| edge.src == block && edge.kind == EdgeKind::InvokeUnwind;
            if is_invoke && !function.edges.iter().any(unwinds) {
                let dst = Block::new(1.max(block.index()).min(function.blocks.len() - 1));
                if dst != Block(0) {
                    let facts = EdgeFacts { src: block, dst, kind: EdgeKind::InvokeUnwind, successor: 1 };
                    function.edges.push(facts);
                } else {
                    function.calls.update(|_, call| call.terminator &= call.block != block);
                }
            }
        }
    }
    program.graphs = program.functions.iter().map(|f| f.cfg().unwrap()).collect();
    program
}

/// All callers of a function, by call.
fn callers(program: &Program, callee: usize) -> Vec<(FunctionId, CallId)> {
    let mut callers = Vec::new();
    for (caller, function) in program.functions.iter().enumerate() {
        for (call, _) in function.calls.numbered() {
            if program.callees(caller, call).contains(&FunctionId::new(callee)) {
                callers.push((FunctionId::new(caller), call));
            }
        }
    }
    callers
}

/// Is it known whom the call enters? Otherwise it goes through a pointer.
fn is_certain(seed: u64, (caller, call): (FunctionId, CallId)) -> bool {
    seed.rotate_right(caller.0 * 7 + call.0 * 3) & 3 != 0
}

/// The program, in which calls through pointers may enter several of the functions that are called from outside.
pub fn with_pointers(mut program: Program, seed: u64) -> Program {
    for caller in 0..program.functions.len() {
        for call in program.functions[caller].calls.numbered().map(|(call, _)| call).collect::<Vec<_>>() {
            let at = (FunctionId::new(caller), call);
            let to_root = program.callees(caller, call).first().is_some_and(|callee| program.roots[callee.index()]);
            if !to_root || is_certain(seed, at) || !program.functions[caller].calls[call].is_site {
                continue;
            }
            for callee in 0..program.functions.len() {
                if !program.roots[callee] || seed >> (callee + caller) & 1 != 0 {
                    continue;
                }
                program.also_enters(caller, call, FunctionId::new(callee));
            }
        }
    }
    program
}

/// Functions that are called from outside have calls that are known to reach them, and others that are not.
pub fn inputs(program: &Program, seed: u64) -> Vec<Option<FunctionInput<'_>>> {
    let is_certain = |at: (FunctionId, CallId)| is_certain(seed, at);
    let input = |number: usize| {
        let (function, cfg) = (&program.functions[number], program.graphs[number].clone());
        let weight = |e: Edge| (seed.rotate_left(((number * 31 + e.index()) % 64) as u32) % 17) as f64;
        let weighting = Weighting::new(&cfg, cfg.edges().map(weight).collect());
        let mut callers = callers(program, number);
        let only_callers = !program.roots[number] && !callers.is_empty();
        callers.retain(|&caller| only_callers || is_certain(caller));
        let kind = |seed: u64, number: u32| (seed.rotate_left(number) & 1) as u32;
        // Some pointers are of a kind that no call goes through, and some calls go through none that is known.
        let pointed = (!only_callers).then(|| kind(seed, number as u32)).filter(|_| seed >> number & 7 != 0);
        let all_calls = function.calls.numbered().map(|(call, _)| (FunctionId::new(number), call));
        // A function that only callers by name enter is never called through a pointer.
        let by_name = |&(_, call): &(FunctionId, CallId)| {
            program.callees(number, call).iter().any(|callee| !program.roots[callee.index()])
        };
        let through = all_calls.filter(|at| !is_certain(*at) && !by_name(at) && at.1.0 % 5 != 4);
        let pointers = through.map(|(_, call)| (call, kind(seed, call.0 * 3))).collect();
        Some(FunctionInput { function, cfg, weighting, module: number % 2, callers, only_callers, pointed, pointers })
    };
    (0..program.functions.len()).map(input).collect()
}

pub fn shapes(program: &Program) -> Vec<Option<Shape<'_>>> {
    program.functions.iter().zip(&program.graphs).map(|(function, cfg)| Some(Shape { function, cfg })).collect()
}

fn sums(outcome: &Outcome, program: &Program) -> BTreeMap<u64, i64> {
    let mut all = BTreeMap::new();
    for function in (0..program.functions.len()).map(FunctionId::new) {
        for (&(_, number), &sum) in &outcome.counts(function).sums {
            *all.entry(number.cast_unsigned()).or_default() += sum;
        }
    }
    all
}

fn counts(outcome: &Outcome, program: &Program) -> Vec<(u64, u64)> {
    let mut all = BTreeMap::new();
    for function in (0..program.functions.len()).map(FunctionId::new) {
        for (&(_, number), &count) in &outcome.counts(function).paths {
            *all.entry(number.cast_unsigned()).or_default() += count;
        }
    }
    all.into_iter().collect()
}

/// What walks of dying stacks find.
fn ended(outcome: &Outcome) -> Vec<Ended> {
    let found = |exit: &EarlyExit| {
        let number = Some(exit.registers.get(NOTED));
        Ended { function: exit.function, site: exit.site, number, count: exit.count }
    };
    outcome.truth.early.iter().map(found).collect()
}

pub fn methods() -> impl Strategy<Value = (IpathMethod, IpathOptions)> {
    prop_oneof![4 => free_methods(), 1 => hybrids().prop_map(|(method, hybrid)| (method, hybrid.into()))]
}

/// Hybrid profiles as users ask for them: of paths with context, and of pieces.
fn hybrids() -> impl Strategy<Value = (IpathMethod, Hybrid)> {
    let method = prop_oneof![Just(IpathMethod::Hybrid), Just(IpathMethod::Piecewise)];
    let hybrid = prop_oneof![
        Just(Hybrid::Leaf),
        Just(Hybrid::File),
        Just(Hybrid::Local),
        (20..100_000u64).prop_map(Hybrid::Budget),
    ];
    (method, hybrid)
}

/// Methods with any options.
fn free_methods() -> impl Strategy<Value = (IpathMethod, IpathOptions)> {
    let method = prop_oneof![Just(IpathMethod::Context), Just(IpathMethod::Piecewise)];
    let strategy = prop_oneof![
        3 => Just(Which::All),
        1 => Just(Which::Leaf),
        1 => Just(Which::File),
        1 => Just(Which::Local),
    ];
    let budget = prop_oneof![3 => Just(ipath::MOST_PATHS), 1 => 100..100_000u64];
    // With few paths per function paths descend where they would have crossed.
    let function = prop_oneof![Just(IpathOptions::default().function), Just(3), Just(20)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (method, strategy, budget, function, flags).prop_map(
        |(method, strategy, budget, function, (descends, few, sums))| {
            let descents = if descends { budget } else { 0 };
            // With few words most paths are counted by hashing.
            let array = if few { 5 } else { IpathOptions::default().array };
            let metric = if sums { PathMetric::Events } else { PathMetric::Count };
            (method, IpathOptions { strategy, budget, function, descents, array, metric })
        },
    )
}

pub fn lives() -> impl Strategy<Value = Life> {
    (1..4usize, prop::bool::weighted(0.4)).prop_map(|(threads, signals)| Life {
        threads,
        signals,
        jumps_anywhere: false,
    })
}

/// The number of the stretch before a call.
fn stretch_before(program: &Program, function: FunctionId, call: CallId) -> usize {
    let mut all = stretches(&program.functions[function.index()]).enumerate().peekable();
    while let Some((number, stretch)) = all.next() {
        let next = all.peek().map(|(_, next)| next.behind);
        if next == Some(Some(call)) {
            assert_eq!(stretch.block, program.functions[function.index()].calls[call].block);
            return number;
        }
    }
    panic!("{function} has no {call}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Counts of paths give the profile of every function, whatever ends activations early.
    #[test]
    fn paths_across_functions_tell_the_truth(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed)),
        life in lives(),
        (method, options) in methods(),
    ) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let inputs = inputs(&program, seed);
        let plan = match ipath::plan(&inputs, method, options) {
            Ok(plan) => plan,
            Err(ipath::IpathError::TooManyPaths(_)) if options.budget < ipath::MOST_PATHS => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        prop_assert!(plan.paths <= options.budget);
        // A child that a handler forks does not know what the interrupted code has begun: its profile says so.
        if life.signals && script.iter().any(|(_, action)| *action == Action::Fork) {
            return Ok(());
        }
        let mut last = seed;
        let mut events = || {
            last = last.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            i64::try_from(last >> 60).unwrap()
        };
        let process = program.process().with_plans(&plan.functions);
        let metered = options.metric.is_summed();
        let process = if metered { process.with_events(&mut events) } else { process };
        let outcome = process.run(&script).unwrap();
        // What is counted in words has one.
        for function in (0..program.functions.len()).map(FunctionId::new) {
            for &(table, number) in outcome.counts(function).paths.keys() {
                prop_assert!(table != IN_ARRAY || number.cast_unsigned() < plan.array, "{number} of {}", plan.array);
            }
        }
        let shapes = shapes(&program);
        let early: Vec<EarlyExits> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
        let counts = counts(&outcome, &program);
        let recovered = ipath::recover(&shapes, &plan, &counts, &early, &ended(&outcome)).unwrap();
        // What a handler interrupts and ends for good takes its path with it. Who is interrupted just behind a call is
        // still in it for the interpreter; the runtime flags whom that ends.
        let interrupted = outcome.truth.interrupted.iter().map(|at| at.0);
        let ended_by_handlers = outcome.truth.early.iter().filter(|_| life.signals).map(|exit| exit.function);
        let lost = ipath::joined(&plan.keys(), interrupted.chain(ended_by_handlers));
        for (number, (found, truth)) in recovered.functions.iter().zip(&outcome.truth.functions).enumerate() {
            if lost[number] {
                continue;
            }
            prop_assert_eq!(found.as_ref(), Some(&truth.profile()), "{}", number);
        }
        // Every path is the one that was taken. (What a forked child had done before is not in its log.)
        if !lost.contains(&true) && !script.iter().any(|(_, action)| *action == Action::Fork) {
            let mut enumeration = Enumeration::new(&program, &plan, &recovered.numbering);
            enumeration.run(&outcome.truth);
            let number = |path: &Vec<Step>| recovered.numbering.number(path).unwrap();
            let mut taken: Vec<(u64, u64)> = enumeration.paths.iter().map(|(path, &count)| (number(path), count)).collect();
            taken.sort_unstable();
            prop_assert_eq!(&taken, &counts);
            // The log does not say if what handlers report came before or behind the reading where a path begins or
            // ends.
            if metered && !life.signals {
                let taken = enumeration.sums.iter().map(|(path, &sum)| (number(path), sum));
                prop_assert_eq!(taken.collect::<BTreeMap<_, _>>(), sums(&outcome, &program));
            }
            let taken = enumeration.ended.iter().map(|(path, &count)| (number(path), count));
            prop_assert_eq!(taken.collect::<BTreeMap<_, _>>(), recovered.ended.iter().copied().collect());
            // Registers tell the paths up to wherever activations ended.
            let mut held: BTreeMap<(FunctionId, CallId, u64), i64> = BTreeMap::new();
            for exit in &outcome.truth.early {
                let calls = &program.functions[exit.function.index()].calls;
                let Some(call) = calls.call_of(exit.site) else { continue };
                if enumeration.at(exit.function, call) != Some(AtCall::Cut) {
                    let so_far = plan.functions[exit.function.index()].so_far[stretch_before(&program, exit.function, call)];
                    *held.entry((exit.function, call, so_far.number(|register| exit.registers.get(register)))).or_default() += exit.count;
                }
            }
            let mut taken: BTreeMap<(FunctionId, CallId, u64), i64> = BTreeMap::new();
            for ((function, call, path), count) in &enumeration.so_far {
                *taken.entry((*function, *call, number(path))).or_default() += count;
                let graph = &recovered.numbering.of(*function).unwrap().graph;
                let facts = &program.functions[function.index()];
                let node = graph.nodes_of_stretches(facts)[stretch_before(&program, *function, *call)];
                prop_assert!(recovered.numbering.beginnings(number(path), *function, node).contains(path));
            }
            prop_assert_eq!(held, taken);
        }
        for &(number, _) in &counts {
            let path = recovered.numbering.path(number).unwrap();
            prop_assert_eq!(recovered.numbering.number(&path), Some(number));
            prop_assert!(active_suffix(&recovered.numbering, &path) < path.len());
        }
    }

    /// No path ends where one of a path profile runs on: so what that tells together, this does, too. Only a loop that
    /// is closed by an exception is cut in its landing pad, and not on that edge.
    #[test]
    fn context_profiles_are_as_fine_as_path_profiles(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed)),
    ) {
        let plan = ipath::plan(&inputs(&program, seed), IpathMethod::Context, IpathOptions::default()).unwrap();
        for ((function, cfg), plan) in program.functions.iter().zip(&program.graphs).zip(&plan.functions) {
            let (key, classes) = (&plan.key, EdgeClasses::new(function, cfg));
            let path = necessary(function, cfg, &classes);
            for &edge in &key.cuts.edges {
                let at_block = path.blocks.contains(&cfg.dst(edge));
                prop_assert!(at_block || path.edges.contains(&edge) || cfg.src(edge) == cfg.dst(edge), "{edge}");
            }
            let caught = |edge: &Edge| function.edges[*edge].kind == EdgeKind::InvokeUnwind;
            let again: Vec<Block> = path.edges.iter().filter(|edge| caught(edge)).map(|&edge| cfg.dst(edge)).collect();
            let to_itself = |block: Block| cfg.preds(block).iter().any(|edge| cfg.src(*edge) == block && caught(edge));
            for &block in &key.cuts.blocks {
                prop_assert!(path.blocks.contains(&block) || again.contains(&block) || to_itself(block), "{block}");
            }
            for &(call, at) in &key.calls {
                prop_assert!(at != AtCall::Cut || path.blocks.contains(&function.calls[call].block), "{call}");
            }
        }
    }

    /// A hybrid profile crosses no call but those that its strategy names, and crosses none on the way in.
    #[test]
    fn hybrids_cross_what_their_strategy_names(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed)),
        (method, hybrid) in hybrids(),
    ) {
        let inputs = inputs(&program, seed);
        let Ok(plan) = ipath::plan(&inputs, method, hybrid.into()) else { return Ok(()) };
        for (caller, IpathPlan { key, .. }) in plan.functions.iter().enumerate() {
            for &(_, at) in &key.calls {
                prop_assert!(!matches!(at, AtCall::Descend(_) | AtCall::Reach(_)));
                let AtCall::Cross(callee) = at else { continue };
                let crosses = |at: &(CallId, AtCall)| matches!(at.1, AtCall::Cross(_));
                let same_module = caller % 2 == callee.index() % 2;
                let allowed = match hybrid {
                    Hybrid::Leaf => !plan.functions[callee.index()].key.calls.iter().any(crosses),
                    Hybrid::File => same_module && program.functions[callee.index()].linkage == Linkage::Internal,
                    Hybrid::Local => same_module,
                    Hybrid::Budget(budget) => plan.paths <= budget,
                };
                prop_assert!(allowed, "{hybrid} crosses from {caller} into {callee}");
            }
        }
    }

    /// Numbers are dense: each below the number of paths is a path of its own, and back.
    #[test]
    fn numbers_are_dense(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed)),
        (method, options) in methods(),
    ) {
        let inputs = inputs(&program, seed);
        let Ok(plan) = ipath::plan(&inputs, method, options) else { return Ok(()) };
        let numbering = Numbering::new(&shapes(&program), &plan.keys(), method.is_piecewise()).unwrap();
        let mut seen = HashSet::new();
        let sample: Vec<u64> = if plan.paths < 3000 {
            (0..plan.paths).collect()
        } else {
            (0..500).map(|i| seed.wrapping_mul(2 * i + 1).wrapping_add(i) % plan.paths).collect()
        };
        for number in sample {
            let path = numbering.path(number).unwrap();
            prop_assert_eq!(numbering.number(&path), Some(number));
            seen.insert(path);
        }
        prop_assert!(plan.paths >= 3000 || seen.len() as u64 == plan.paths);
        prop_assert_eq!(numbering.path(plan.paths), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Keys and counts come from files: nothing they say makes recovery panic.
    #[test]
    fn nothing_is_trusted(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed)),
        (method, options) in methods(),
        changes in prop::collection::vec((any::<u16>(), 0..7u8, any::<u16>()), 0..6),
        numbers in prop::collection::vec((any::<u64>(), any::<u64>(), 0..64u32), 0..20),
    ) {
        let Ok(mut plan) = ipath::plan(&inputs(&program, seed), method, options) else { return Ok(()) };
        for (function, what, by) in changes {
            let count = plan.functions.len();
            let key = &mut plan.functions[usize::from(function) % count].key;
            let callee = FunctionId::new(usize::from(by) % count);
            match what {
                0 => key.entry = [Entry::Unmeasured, Entry::Alone, Entry::Called { cut: true }][usize::from(by) % 3],
                1 => key.calls.iter_mut().for_each(|call| call.1 = AtCall::Cross(callee)),
                2 => key.calls.push((CallId(by.into()), AtCall::Begin(callee))),
                3 => key.cuts.edges.clear(),
                4 => key.cuts.blocks.push(Block(by.into())),
                5 => plan.paths = plan.paths.wrapping_add(by.into()),
                _ => key.front ^= true,
            }
        }
        let counts: Vec<(u64, u64)> = numbers.iter().map(|&(number, count, shift)| (number >> shift, count)).collect();
        let end = |&(number, site, count): &(u64, u64, u32)| Ended {
            function: FunctionId::new((number % 7) as usize),
            site: Site::new((site % 5) as usize),
            number: (count % 3 > 0).then_some(number.cast_signed() >> count),
            count: i64::from(count) - 30,
        };
        let ended: Vec<Ended> = numbers.iter().map(end).collect();
        if let Ok(profile) = ipath::recover(&shapes(&program), &plan, &counts, &[], &ended) {
            prop_assert_eq!(profile.functions.len(), program.functions.len());
        }
        // With the number of paths that the keys really have, more is decoded.
        if let Ok(numbering) = Numbering::new(&shapes(&program), &plan.keys(), method.is_piecewise()) {
            let counts: Vec<_> = counts.iter().map(|&(number, count)| (number % numbering.paths.max(1), count)).collect();
            plan.paths = numbering.paths;
            let _ = ipath::recover(&shapes(&program), &plan, &counts, &[], &ended);
        }
    }
}

/// The generator makes what the tests above claim to cover.
#[test]
fn paths_cross_many_calls() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..3000 {
        let (program, seed) = programs_of_llvm().new_tree(&mut runner).unwrap().current();
        let program = with_pointers(with_invokes(program), seed);
        let life = Life { threads: 2, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { continue };
        let inputs = inputs(&program, seed);
        let few = IpathOptions { function: 20, ..IpathOptions::default() };
        let plan = ipath::plan(&inputs, IpathMethod::Context, few).unwrap();
        let outcome = program.process().with_plans(&plan.functions).run(&script).unwrap();
        for (&(caller, call, callee), &count) in &outcome.truth.callees {
            let calls = &plan.functions[caller.index()].key.calls;
            let in_group = |group| plan.groups.members(group).contains(&callee);
            let what = match calls.iter().find(|at| at.0 == call) {
                Some((_, AtCall::Cross(_))) => "crossed",
                Some((_, AtCall::Descend(_))) => "crossed on the way in",
                Some(&(_, AtCall::Reach(group))) if in_group(group) => "crossed on the way in, through a pointer",
                Some((_, AtCall::Reach(_))) => "passed over, for the pointer leads elsewhere",
                Some((_, AtCall::Begin(_))) => "beginning, of functions that others are crossed to",
                Some((_, AtCall::Pass)) => "passed over, and may end there",
                Some((_, AtCall::Cut)) => "cut",
                None => "passed over",
            };
            *seen.entry(what).or_default() += count;
        }
    }
    assert!(seen.len() == 8 && seen.values().all(|&count| count > 40), "{seen:?}");
}
