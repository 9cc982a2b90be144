//! Paths across functions against the truth: on random programs of random graphs, with recursion, threads and all early endings.

use crate::programs::{Life, Program, programs_of_llvm};
use cotree_core::facts::{EdgeFacts, EdgeKind};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::interpret::Outcome;
use cotree_core::method::ipath::decode::active_suffix;
use cotree_core::method::ipath::numbering::{Numbering, Shape};
use cotree_core::method::ipath::supergraph::FunctionInput;
use cotree_core::method::ipath::{self, AtCall, IpathMethod, IpathOptions, Strategy as Which};
use cotree_core::profile::EarlyExits;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// The program as LLVM could have made it: nothing branches to an entry, and a call that ends its block is an invoke with a landing
/// pad.
fn with_invokes(mut program: Program) -> Program {
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

fn inputs(program: &Program, seed: u64, life: Life) -> Vec<Option<FunctionInput<'_>>> {
    let input = |number: usize| {
        let (function, cfg) = (&program.functions[number], program.graphs[number].clone());
        let weight = |e: Edge| (seed.rotate_left(((number * 31 + e.index()) % 64) as u32) % 17) as f64;
        let weighting = Weighting::new(&cfg, cfg.edges().map(weight).collect());
        let callers = (!program.roots[number]).then(|| callers(program, number));
        // Whatever a handler can reach may run in one.
        Some(FunctionInput { function, cfg, weighting, module: number % 2, interruptible: life.signals, callers })
    };
    (0..program.functions.len()).map(input).collect()
}

fn shapes(program: &Program) -> Vec<Option<Shape<'_>>> {
    program.functions.iter().zip(&program.graphs).map(|(function, cfg)| Some(Shape { function, cfg })).collect()
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

fn methods() -> impl Strategy<Value = (IpathMethod, IpathOptions)> {
    let method = prop_oneof![Just(IpathMethod::Context), Just(IpathMethod::Piecewise)];
    let strategy = prop_oneof![
        3 => Just(Which::All),
        1 => Just(Which::Leaf),
        1 => Just(Which::File),
        1 => Just(Which::Local),
    ];
    let budget = prop_oneof![3 => Just(ipath::MOST_PATHS), 1 => 100..100_000u64];
    (method, strategy, budget)
        .prop_map(|(method, strategy, budget)| (method, IpathOptions { strategy, budget, ..IpathOptions::default() }))
}

fn lives() -> impl Strategy<Value = Life> {
    (1..4usize, prop::bool::weighted(0.2)).prop_map(|(threads, signals)| Life {
        threads,
        signals,
        jumps_anywhere: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Counts of paths give the profile of every function, whatever ends activations early.
    #[test]
    fn paths_across_functions_tell_the_truth(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_invokes(program), seed)),
        life in lives(),
        (method, options) in methods(),
    ) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let inputs = inputs(&program, seed, life);
        let plan = match ipath::plan(&inputs, method, options) {
            Ok(plan) => plan,
            Err(ipath::IpathError::TooManyPaths(_)) if options.budget < ipath::MOST_PATHS => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        prop_assert!(plan.paths <= options.budget);
        let outcome = program.process().with_plans(&plan.functions).run(&script).unwrap();
        let shapes = shapes(&program);
        let early: Vec<EarlyExits> = outcome.truth.functions.iter().map(|truth| truth.early()).collect();
        let counts = counts(&outcome, &program);
        let recovered = ipath::recover(&shapes, &plan, &counts, &early).unwrap();
        for (number, (found, truth)) in recovered.functions.iter().zip(&outcome.truth.functions).enumerate() {
            prop_assert_eq!(found.as_ref(), Some(&truth.profile()), "{}", number);
        }
        for &(number, _) in &counts {
            let path = recovered.numbering.path(number).unwrap();
            prop_assert_eq!(recovered.numbering.number(&path), Some(number));
            prop_assert!(active_suffix(&recovered.numbering, &path) < path.len());
        }
    }

    /// Numbers are dense: each below the number of paths is a path of its own, and back.
    #[test]
    fn numbers_are_dense(
        (program, seed) in programs_of_llvm().prop_map(|(program, seed)| (with_invokes(program), seed)),
        (method, options) in methods(),
    ) {
        let life = Life { threads: 1, signals: false, jumps_anywhere: false };
        let inputs = inputs(&program, seed, life);
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

/// The generator makes what the tests above claim to cover.
#[test]
fn paths_cross_many_calls() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..1500 {
        let (program, seed) = programs_of_llvm().new_tree(&mut runner).unwrap().current();
        let program = with_invokes(program);
        let life = Life { threads: 2, signals: false, jumps_anywhere: false };
        let Some(script) = program.script(seed, life) else { continue };
        let inputs = inputs(&program, seed, life);
        let plan = ipath::plan(&inputs, IpathMethod::Context, IpathOptions::default()).unwrap();
        let outcome = program.process().with_plans(&plan.functions).run(&script).unwrap();
        for (&(caller, call, _), &count) in &outcome.truth.callees {
            let calls = &plan.functions[caller.index()].key.calls;
            let what = match calls.iter().find(|at| at.0 == call) {
                Some((_, AtCall::Cross(_))) => "crossed",
                Some((_, AtCall::Cut(Some(_)))) => "cut, of functions that others are crossed to",
                Some((_, AtCall::Cut(None))) => "cut",
                None => "passed over",
            };
            *seen.entry(what).or_default() += count;
        }
    }
    assert!(seen.len() == 4 && seen.values().all(|&count| count > 100), "{seen:?}");
}
