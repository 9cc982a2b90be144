//! Plans, counts and early exits come from files: whatever they hold, recovery answers and does not panic.

use crate::random;
use cotree_core::facts::{Function, Untouched};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::counters::{CounterError, CounterMethod, Measured, plan, recover};
use cotree_core::plan::{CounterKey, CounterPlan, FixedEdge, Measure};
use cotree_core::profile::{EarlyExits, Flaw};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// 0→1, 0→EXIT, 1→EXIT, with a call in 1.
fn example() -> (Function, Cfg) {
    let function = random::function(2, &[(0, 1, true), (0, 2, true), (1, 2, true)], &[(1, false)]);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

#[test]
fn what_does_not_fit_is_named() {
    let (function, cfg) = example();
    let none = EarlyExits::default();
    for method in CounterMethod::ALL {
        let made = plan(method, &function, &cfg, &Weighting::heuristic(&cfg));
        let n = made.key.measures.len();
        let counts = vec![0; n];
        let try_with = |f: &Function, cfg: &Cfg, plan: &CounterPlan, counts: &[u64], early: &EarlyExits| {
            recover(method, cfg, Measured { function: f, key: &plan.key, counts, early }).unwrap_err()
        };
        assert_eq!(
            try_with(&function, &cfg, &made, &vec![0; n + 1], &none),
            CounterError::CounterMismatch { expected: n, found: n + 1 }
        );
        assert_eq!(
            try_with(&function, &cfg, &made, &counts, &EarlyExits { at_site: vec![1, 2].into() }),
            CounterError::SiteMismatch { expected: 1, found: 2 }
        );
        let foreign = Cfg::new(1, [(Block(0), Block(1))]).unwrap();
        assert_eq!(try_with(&function, &foreign, &made, &counts, &none), CounterError::ForeignGraph);

        let mut wild = made.clone();
        wild.key.measures[0] = Measure::Edge(Edge(4));
        assert_eq!(
            try_with(&function, &cfg, &wild, &counts, &none),
            CounterError::UnknownMeasure(0, Measure::Edge(Edge(4)))
        );
        assert_eq!(try_with(&function, &cfg, &CounterPlan::default(), &[], &none), CounterError::Underdetermined);

        let mut lost = function.clone();
        lost.calls.update(|_, call| call.block = Block(2));
        assert_eq!(
            try_with(&lost, &cfg, &made, &counts, &EarlyExits { at_site: vec![1].into() }),
            CounterError::UnknownBlock(Block(2))
        );
        let untouched = Function { untouched: Some(Untouched::Naked), ..function.clone() };
        assert_eq!(try_with(&untouched, &cfg, &made, &counts, &none), CounterError::NothingMeasured);
        assert_eq!(plan(method, &untouched, &cfg, &Weighting::uniform(&cfg)), CounterPlan::default());
    }
}

#[test]
fn flow_that_no_run_has_is_flagged_by_every_method_that_uses_the_law() {
    let (function, cfg) = example();
    // Five activations abandoned in block 1, which nobody entered.
    let early = EarlyExits { at_site: vec![5].into() };
    for method in [CounterMethod::Edge, CounterMethod::Vertex, CounterMethod::VertexEdge] {
        let made = plan(method, &function, &cfg, &Weighting::heuristic(&cfg));
        let profile = recover(
            method,
            &cfg,
            Measured { function: &function, key: &made.key, counts: &vec![0; made.key.measures.len()], early: &early },
        )
        .unwrap();
        assert_eq!(profile.flaws, [Flaw::Inconsistent], "{method:?}");
        assert_eq!(profile.early, [5]);
    }
}

#[test]
fn a_block_can_not_lose_more_than_it_had() {
    // One activation comes to life in block 0, one is abandoned in block 1, and yet block 1 was never entered: at EXIT
    // the two cancel each other.
    let function = random::function(2, &[(0, 1, true), (0, 2, true), (1, 2, true)], &[(0, false), (1, false)]);
    let cfg = function.cfg().unwrap();
    for method in [CounterMethod::Edge, CounterMethod::Vertex, CounterMethod::VertexEdge] {
        let made = plan(method, &function, &cfg, &Weighting::heuristic(&cfg));
        let flaws = |counts: &[u64], at_site: [i64; 2]| {
            let early = EarlyExits { at_site: at_site.to_vec().into() };
            recover(method, &cfg, Measured { function: &function, key: &made.key, counts, early: &early })
                .unwrap()
                .flaws
        };
        assert_eq!(flaws(&vec![0; made.key.measures.len()], [-1, 1]), [Flaw::Inconsistent], "{method:?}");
        assert_eq!(flaws(&vec![0; made.key.measures.len()], [0, 0]), [], "{method:?}");
    }
}

#[test]
fn a_counted_block_must_agree_with_its_edges() {
    // 0→2, 0→1, 1→2, 2→EXIT twice: block 2's own counter settles none of its edges.
    let edges = [(0, 2), (0, 1), (1, 2), (2, 3), (2, 3)].map(|(a, b)| (a, b, true));
    let function = random::function(3, &edges, &[]);
    let cfg = function.cfg().unwrap();
    let made = CounterPlan {
        key: CounterKey {
            measures: vec![
                Measure::Edge(Edge(0)),
                Measure::Edge(Edge(1)),
                Measure::Edge(Edge(3)),
                Measure::Block(Block(2)),
            ],
            ..CounterKey::default()
        },
        ..CounterPlan::default()
    };
    let flaws = |counts: &[u64]| {
        recover(
            CounterMethod::Edge,
            &cfg,
            Measured { function: &function, key: &made.key, counts, early: &EarlyExits::default() },
        )
        .unwrap()
        .flaws
    };
    assert_eq!(flaws(&[3, 2, 4, 5]), []);
    assert_eq!(flaws(&[3, 2, 4, 6]), [Flaw::Inconsistent]);
}

#[test]
fn counters_that_contradict_each_other_are_flagged() {
    let (function, cfg) = example();
    let made = CounterPlan {
        key: CounterKey {
            measures: vec![Measure::Edge(Edge(0)), Measure::Edge(Edge(1)), Measure::Block(Block(1))],
            ..CounterKey::default()
        },
        ..CounterPlan::default()
    };
    for method in [CounterMethod::Edge, CounterMethod::VertexEdge] {
        let flaws = |counts: &[u64]| {
            recover(
                method,
                &cfg,
                Measured { function: &function, key: &made.key, counts, early: &EarlyExits::default() },
            )
            .unwrap()
            .flaws
        };
        assert_eq!(flaws(&[3, 4, 3]), []);
        assert_eq!(flaws(&[3, 4, 2]), [Flaw::Inconsistent]);
    }
}

/// A backedge of a loop of known length, as a file may have it, that follows from an edge on a pipeless cycle: that
/// edge has no flow of its own.
#[test]
fn backedges_that_follow_from_open_cycles_are_refused() {
    let edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5), (5, 5), (5, 6)];
    let edges = edges.map(|(src, dst)| (src, dst, true));
    let function = random::function(6, &edges, &[]);
    let cfg = function.cfg().unwrap();
    let [one, three] = [Measure::Block(Block(1)), Measure::Block(Block(3))];
    let recovered = |of: u32| {
        let fixed = vec![FixedEdge { edge: Edge(8), times: 3, of: Edge(of), depth: 0 }];
        let key = CounterKey { measures: vec![one, three, Measure::Edge(Edge(7))], fixed };
        let measured = Measured { function: &function, key: &key, counts: &[4, 5, 2], early: &EarlyExits::default() };
        recover(CounterMethod::VertexEdge, &cfg, measured)
    };
    assert_eq!(recovered(9).unwrap().blocks, [7, 4, 3, 5, 2, 28]);
    assert_eq!(recovered(2), Err(CounterError::Underdetermined));
}

#[test]
fn counts_too_large_for_any_run_are_flagged() {
    let (function, cfg) = example();
    let made = plan(CounterMethod::Edge, &function, &cfg, &Weighting::heuristic(&cfg));
    let counts = vec![u64::MAX; made.key.measures.len()];
    let profile = recover(
        CounterMethod::Edge,
        &cfg,
        Measured { function: &function, key: &made.key, counts: &counts, early: &EarlyExits::default() },
    )
    .unwrap();
    assert_eq!((profile.entries, profile.flaws), (u64::MAX, vec![Flaw::Inconsistent]));
}

fn measures() -> impl Strategy<Value = Vec<Measure>> {
    let measure =
        prop_oneof![(0..20u32).prop_map(|e| Measure::Edge(Edge(e))), (0..8u32).prop_map(|b| Measure::Block(Block(b))),];
    prop::collection::vec(measure, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_panics(
        function in random::functions(5),
        measures in measures(),
        counts in prop::collection::vec(any::<u64>(), 20),
        early in prop::collection::vec(any::<i64>(), 0..8),
    ) {
        let cfg = function.cfg().unwrap();
        let plan = CounterPlan { key: CounterKey { measures, ..CounterKey::default() }, ..CounterPlan::default() };
        let mut fitting = early.clone();
        fitting.resize(function.sites().len(), -1);
        for method in CounterMethod::ALL {
            for early in [&early, &fitting] {
                let early = EarlyExits { at_site: early.clone().into() };
                let counts = &counts[..plan.key.measures.len()];
                if let Ok(profile) = recover(method, &cfg, Measured { function: &function, key: &plan.key, counts, early: &early }) {
                    prop_assert_eq!(profile.blocks.len(), function.blocks.len());
                }
            }
        }
    }
}
