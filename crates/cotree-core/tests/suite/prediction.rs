//! Branch prediction: each rule by itself, together, and plans that stay exact whatever is predicted.

use crate::random;
use cotree_core::facts::hints::{Branch, Hints, Test};
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge, IdMap};
use cotree_core::interpret::{self, observe};
use cotree_core::method::counters::{CounterMethod, Measured, plan, recover};
use cotree_core::weight::likelihood::UNLIKELY;
use cotree_core::weight::prediction;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// 0→1, 0→2, 1→2, 2→EXIT: an `if` without an `else`.
fn if_then() -> Function {
    random::function(3, &[(0, 1, true), (0, 2, true), (1, 2, true), (2, 3, true)], &[])
}

fn likelihoods(function: &Function, hints: &Hints) -> IdMap<Edge, f64> {
    let cfg = function.cfg().unwrap();
    let dfs = Dfs::new(&cfg);
    prediction::likelihoods(function, &cfg, &dfs, &LoopForest::new(&cfg, &dfs), hints)
}

/// The probability of the first of two edges.
fn first(likelihoods: &[f64], edges: [usize; 2]) -> f64 {
    likelihoods[edges[0]] / (likelihoods[edges[0]] + likelihoods[edges[1]])
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

fn tested(test: Test, on_true: bool) -> Hints {
    Hints { branches: vec![Branch { block: Block(0), test, on_true }], ..Hints::default() }
}

#[test]
fn nothing_known_is_even() {
    assert_eq!(likelihoods(&if_then(), &Hints::default()), [1.0; 5]);
}

#[test]
fn tests_speak_of_the_edge_on_which_they_hold() {
    let rare = [Test::SamePointer, Test::Negative, Test::SameFloat, Test::Unordered];
    let usual = [Test::Positive, Test::BitsClear, Test::BelowConstant, Test::Below, Test::StepBelow];
    for (tests, rare) in [(&rare[..], true), (&usual, false)] {
        for &test in tests {
            let holds = first(&likelihoods(&if_then(), &tested(test, true)), [0, 1]);
            let fails = first(&likelihoods(&if_then(), &tested(test, false)), [0, 1]);
            assert_eq!(holds < 0.5, rare, "{test:?}");
            assert!(close(holds + fails, 1.0), "{test:?}");
        }
    }
}

#[test]
fn evidence_is_put_together() {
    let mut function = if_then();
    function.blocks[Block(1)].instructions.calls = 1;
    let called = first(&likelihoods(&function, &Hints::default()), [0, 1]);
    assert!(called < 0.5, "the call may be gone past");
    let tested = tested(Test::Negative, true);
    let negative = first(&likelihoods(&if_then(), &tested), [0, 1]);
    let both = first(&likelihoods(&function, &tested), [0, 1]);
    let (p, q) = (called, negative);
    assert!(close(both, p * q / (p * q + (1.0 - p) * (1.0 - q))));
    function.blocks[Block(2)].instructions.calls = 1;
    function.blocks[Block(1)].instructions.calls = 0;
    assert_eq!(likelihoods(&function, &Hints::default()), [1.0; 5], "this call comes either way");
}

#[test]
fn what_was_told_is_believed() {
    let told = Hints { weights: vec![(Edge(0), 1.0), (Edge(1), 2000.0)], ..tested(Test::Positive, true) };
    assert!(first(&likelihoods(&if_then(), &told), [0, 1]) < 0.001);
    let weighting = Weighting::predicted(&if_then(), &if_then().cfg().unwrap(), &told);
    assert!(weighting.block(Block(1)) < 0.001);
}

#[test]
fn cold_calls_and_errors_are_rare() {
    let cold = Hints { cold: vec![Block(1)], ..Hints::default() };
    assert!(first(&likelihoods(&if_then(), &cold), [0, 1]) < 0.05);
    let returns = |value| Hints { returns: vec![(Edge(1), value)], ..Hints::default() };
    let [error, null] = [-1, 0].map(|value| first(&likelihoods(&if_then(), &returns(value)), [1, 0]));
    assert!(error < 0.1 && error < null && null < 0.5);
    let both = Hints { returns: vec![(Edge(0), 0), (Edge(1), 1)], ..Hints::default() };
    assert_eq!(likelihoods(&if_then(), &both), [1.0; 5], "one of them has to be returned");
}

/// 0→1, 0→3; 1→2 (header), 2→2 (back), 2→3 (exit); 3→EXIT: a loop that is gone past if it has nothing to do.
#[test]
fn loops_are_entered_and_go_on() {
    let edges = [(0, 1), (0, 3), (1, 2), (2, 2), (2, 3), (3, 4)].map(|(a, b)| (a, b, true));
    let all = likelihoods(&random::function(4, &edges, &[]), &Hints::default());
    assert!(first(&all, [0, 1]) > 0.5);
    assert!(first(&all, [3, 4]) > 0.8);
}

#[test]
fn a_loops_variable_says_nothing_where_it_ends_the_loop() {
    // 0→1 (header); 1→2, 1→3; 2→1 (back); 3→EXIT.
    let function = random::function(4, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)].map(|(a, b)| (a, b, true)), &[]);
    let at_exit = |test| {
        let branches = vec![Branch { block: Block(1), test, on_true: true }];
        likelihoods(&function, &Hints { branches, ..Hints::default() })
    };
    assert_eq!(at_exit(Test::StepBelow), likelihoods(&function, &Hints::default()));
    assert_ne!(at_exit(Test::Below), at_exit(Test::StepBelow), "other numbers do");
}

/// Rules about edges that are taken do not bring back those that never are.
#[test]
fn a_loop_that_is_left_by_a_panic_alone_stays() {
    // 0→1 (header); 1→2, 1→3; 2→1 (back); 3→EXIT (unreachable).
    let mut function = random::function(4, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)].map(|(a, b)| (a, b, true)), &[]);
    function.edges[Edge(4)].kind = EdgeKind::Unreachable;
    let all = likelihoods(&function, &tested(Test::Positive, true));
    assert_eq!((all[Edge(1)], all[Edge(2)]), (1.0, UNLIKELY));
}

/// Hints that need not make any sense.
fn hints(function: &Function, cfg: &Cfg, seed: &[u8]) -> Hints {
    let mut hints = Hints::default();
    let tests = [Test::SamePointer, Test::Negative, Test::Positive, Test::SameFloat, Test::Unordered, Test::StepBelow];
    for (block, &byte) in (0..function.blocks.len()).map(Block::new).zip(seed) {
        let test = tests[usize::from(byte) % tests.len()];
        hints.branches.push(Branch { block, test, on_true: byte % 2 == 0 });
        if byte % 5 == 0 {
            hints.cold.push(block);
        }
        for &edge in cfg.succs(block) {
            match byte.wrapping_add(u8::try_from(edge.index() % 7).unwrap()) % 9 {
                0 => hints.weights.push((edge, f64::from(byte) * 1e7)),
                1 => hints.returns.push((edge, i64::from(byte) - 128)),
                _ => {}
            }
        }
    }
    hints
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn plans_are_exact_whatever_is_predicted(
        function in random::functions_of_llvm(),
        choices in random::choices(),
        seed in prop::collection::vec(any::<u8>(), 12),
    ) {
        let cfg = function.cfg().unwrap();
        let hints = hints(&function, &cfg, &seed);
        let weighting = Weighting::predicted(&function, &cfg, &hints);
        prop_assert!(cfg.edges().all(|edge| weighting.edge(edge).is_finite() && weighting.edge(edge) >= 0.0));
        prop_assert!(likelihoods(&function, &hints).iter().all(|&l| l > 0.0 && l.is_finite()));
        let walks = random::walks(&function, &cfg, &choices);
        let plan = plan(CounterMethod::Edge, &function, &cfg, &weighting);
        let counts = interpret::run(&function, &cfg, &plan, &walks).unwrap();
        let (truth, early) = observe(&function, &cfg, &walks).unwrap();
        let profile = recover(CounterMethod::Edge, &cfg, Measured { function: &function, key: &plan.key, counts: &counts, early: &early }).unwrap();
        prop_assert_eq!(profile.edges, truth.edges);
        prop_assert_eq!(profile.blocks, truth.blocks);
    }
}
