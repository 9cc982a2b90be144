//! Weightings: the static heuristic's shape and law, and weights from an earlier run.

use crate::random;
use crate::structured;
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::interpret::observe;
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::heuristic::LOOP_MULTIPLIER;
use cotree_core::weight::likelihood::{UNLIKELY, likelihoods};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

fn cfg(blocks: u32, edges: &[(u32, u32)]) -> Cfg {
    Cfg::new(blocks as usize, edges.iter().map(|&(a, b)| (Block(a), Block(b)))).unwrap()
}

fn weights(cfg: &Cfg) -> Vec<f64> {
    let weighting = Weighting::heuristic(cfg);
    cfg.edges().map(|e| weighting.edge(e)).collect()
}

/// The blocks at which inflow and outflow differ.
fn unbalanced(cfg: &Cfg, weighting: &Weighting) -> Vec<Block> {
    let out = |b| cfg.succs(b).iter().map(|&e| weighting.edge(e)).sum::<f64>();
    cfg.blocks().filter(|&b| (weighting.block(b) - out(b)).abs() > 1e-9 * weighting.block(b).max(1.0)).collect()
}

#[test]
fn a_while_loop() {
    // 0→1; 1→2 (body), 1→3 (exit), 2→1 (back), 3→EXIT.
    let cfg = cfg(4, &[(0, 1), (1, 2), (1, 3), (2, 1), (3, 4)]);
    assert_eq!(weights(&cfg), [1.0, 9.0, 1.0, 9.0, 1.0, 1.0]);
}

#[test]
fn a_do_while_loop_with_a_conditional_break() {
    // 0→1 (header); 1→2, 1→3; 2→4 (break), 2→3; 3→1 (back), 3→4 (exit); 4→EXIT.
    let cfg = cfg(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (2, 3), (3, 1), (3, 4), (4, 5)]);
    assert_eq!(weights(&cfg), [1.0, 5.0, 5.0, 0.5, 4.5, 9.0, 0.5, 1.0, 1.0]);
}

/// The text of Fig. 17 survives in our copy, its drawing does not; what it is about does: a loop around nested
/// conditionals, where deeper edges weigh less and the law of flow holds.
#[test]
fn deeper_edges_of_a_loop_weigh_less() {
    // 0→1 (while); 1→2 body, 1→8 exit; 2→3, 2→7; 3→4, 3→6; 4→5, 4→6; 5→6; 6→7; 7→1; 8→EXIT.
    let edges =
        [(0, 1), (1, 2), (1, 8), (2, 3), (2, 7), (3, 4), (3, 6), (4, 5), (4, 6), (5, 6), (6, 7), (7, 1), (8, 9)];
    let cfg = cfg(9, &edges);
    let w = weights(&cfg);
    assert_eq!(w, [1.0, 9.0, 1.0, 4.5, 4.5, 2.25, 2.25, 1.125, 1.125, 1.125, 4.5, 9.0, 1.0, 1.0]);
    assert_eq!(unbalanced(&cfg, &Weighting::heuristic(&cfg)), []);
}

/// A `return` inside two loops leaves both. As printed, rule 2 would give the inner loop's own exit 10/2 and break the
/// law of flow at its header.
#[test]
fn an_exit_from_two_loops_belongs_to_the_outer() {
    // 0→1 (outer header)→2 (inner header)→3; 3→5 (return), 3→4; 4→2 (inner back), 4→1 (leaves the inner loop, outer
    // back); 1→5; 5→EXIT.
    let cfg = cfg(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (3, 5), (3, 4), (4, 2), (4, 1), (5, 6)]);
    let weighting = Weighting::heuristic(&cfg);
    let w = |e| weighting.edge(Edge(e));
    assert_eq!((w(2), w(4)), (0.5, 0.5), "the outer loop's two exits share the weight of its header");
    assert_eq!(w(1), 9.5);
    assert_eq!(w(7), 9.0, "the inner loop's other exit gets what the return leaves over");
    assert_eq!(unbalanced(&cfg, &weighting), []);
}

#[test]
fn an_exit_that_outweighs_its_block_gives_no_negative_weight() {
    // Two exits of 0.5 each, one at the end of five conditionals, where only 10/32 are left.
    let mut edges = vec![(0, 1)];
    edges.extend((1..=5).flat_map(|i| [(i, i + 1), (i, 7)]));
    edges.extend([(6, 8), (6, 7), (7, 1), (7, 8), (8, 9)]);
    let cfg = cfg(9, &edges);
    let weighting = Weighting::heuristic(&cfg);
    let block6 = weighting.block(Block(6));
    assert_eq!(block6, LOOP_MULTIPLIER / 32.0);
    assert_eq!(weighting.edge(cfg.succs(Block(6))[0]), block6 / 2.0);
    assert_eq!(unbalanced(&cfg, &weighting), [Block(1), cfg.exit()], "the loop keeps what does not leave it");
}

/// Where outer exits take more than an inner loop has, its own exits still get the W/N of rule 2.
#[test]
fn an_inner_loop_that_is_outweighed_keeps_its_exits() {
    // 0→1 (outer header); conditionals 1…4 of which only 1/16 enters the inner loop 5↔6; 5→8 returns from both loops,
    // 6→7 leaves the inner one; 7→1. The outer loop's only exit, 5→8, weighs 1, the inner header 10/16.
    let mut edges = vec![(0, 1)];
    edges.extend((1..=4).flat_map(|i| [(i, i + 1), (i, 7)]));
    edges.extend([(5, 8), (5, 6), (6, 5), (6, 7), (7, 1), (8, 9)]);
    let cfg = cfg(9, &edges);
    let weighting = Weighting::heuristic(&cfg);
    let inner = LOOP_MULTIPLIER / 16.0;
    assert_eq!(weighting.edge(cfg.succs(Block(5))[0]), 1.0);
    assert_eq!(weighting.edge(cfg.succs(Block(6))[1]), inner / 2.0);
}

#[test]
fn endless_loops_and_deep_nests_stay_finite() {
    let endless = cfg(3, &[(0, 1), (1, 2), (2, 1)]);
    assert_eq!(weights(&endless), [1.0, 10.0, 10.0, 1.0]);
    // A thousand loops in each other would weigh 10^1000.
    let n = 1000u32;
    let mut nest: Vec<(u32, u32)> = (0..n).map(|i| (i, i + 1)).collect();
    nest.extend((1..=n).map(|i| (n + i - 1, n + i)));
    nest.extend((1..n).map(|i| (n + i, n - i)));
    nest.push((2 * n, 2 * n + 1));
    let nest = cfg(2 * n + 1, &nest);
    let w = weights(&nest);
    assert!(w.iter().all(|w| w.is_finite() && *w > 0.0));
    assert!(w.iter().any(|w| *w > 1e50), "it is a nest");
}

#[test]
fn an_earlier_run_weighs_what_it_counted() {
    let function = random::function(2, &[(0, 1, true), (0, 2, true), (1, 2, true)], &[]);
    let cfg = function.cfg().unwrap();
    let mut profile = FunctionProfile {
        entries: 7,
        blocks: vec![7, 4].into(),
        edges: Some(vec![4, 3, 4].into()),
        ..FunctionProfile::default()
    };
    let of = |previous: Option<&FunctionProfile>| Weighting::from_previous(&function, &cfg, None, previous);
    let weighting = of(Some(&profile));
    assert_eq!(cfg.edges().map(|e| weighting.edge(e)).collect::<Vec<_>>(), [4.0, 3.0, 4.0, 7.0]);
    assert_eq!(weighting.block(Block(1)), 4.0);

    let fallback = Weighting::expected(&function, &cfg);
    assert_eq!(of(None), fallback);
    profile.edges = Some(vec![4, 3].into());
    assert_eq!(of(Some(&profile)), fallback, "another graph");
    profile.edges = None;
    assert_eq!(of(Some(&profile)), fallback, "no edge counts");
    let never =
        FunctionProfile { blocks: vec![0, 0].into(), edges: Some(vec![0; 3].into()), ..FunctionProfile::default() };
    assert_eq!(of(Some(&never)), fallback, "never ran");
}

#[test]
fn panics_and_exceptions_are_unlikely() {
    // A checked loop: 0→1; 1→2, 1→4 (panic); 2→1 (back), 2→3; 3→EXIT; 4→5→EXIT (unreachable).
    // And 6, never reached.
    let edges = [(0, 1), (1, 2), (1, 4), (2, 1), (2, 3), (3, 7), (4, 5), (5, 7)].map(|(a, b)| (a, b, true));
    let mut function = random::function(7, &edges, &[]);
    function.edges[Edge(7)].kind = EdgeKind::Unreachable;
    let cfg = function.cfg().unwrap();
    let unlikely = |function: &Function| {
        let all = likelihoods(function, &cfg);
        (0..all.len()).filter(|&e| all[Edge::new(e)] == UNLIKELY).collect::<Vec<_>>()
    };
    assert_eq!(unlikely(&function), [2, 6, 7]);
    let weighting = Weighting::expected(&function, &cfg);
    assert!(weighting.edge(Edge(2)) < 0.001 && weighting.edge(Edge(4)) > 0.999);
    assert_eq!(unbalanced(&cfg, &weighting), []);

    function.edges[Edge(1)].kind = EdgeKind::InvokeUnwind;
    assert_eq!(unlikely(&function), [1, 2, 6, 7]);
    // A loop that ends by nothing but a panic is not doomed while it lasts.
    function.edges[Edge(1)].kind = EdgeKind::Jump;
    function.edges[Edge(5)].kind = EdgeKind::Resume;
    assert_eq!(unlikely(&function), [2, 4, 5, 6, 7]);
}

#[test]
fn weights_that_make_no_sense_are_zero() {
    let cfg = cfg(2, &[(0, 1), (0, 1), (1, 2)]);
    let weighting = Weighting::new(&cfg, vec![f64::NAN, -1.0, f64::INFINITY].into());
    assert!(cfg.edges().all(|e| weighting.edge(e) == 0.0));
    let weighting = Weighting::new(&cfg, vec![2.0, 3.0].into());
    assert_eq!((weighting.block(Block(1)), weighting.edge(cfg.exit_edge())), (5.0, 0.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// "Our heuristic generates edge frequencies satisfying the flow law" (§7.1.4).
    #[test]
    fn structured_programs_obey_the_law(cfg in structured::programs()) {
        let weighting = Weighting::heuristic(&cfg);
        prop_assert_eq!(unbalanced(&cfg, &weighting), []);
        prop_assert!(cfg.edges().all(|e| weighting.edge(e) > 0.0));
        prop_assert_eq!(weighting.edge(cfg.exit_edge()), 1.0);
    }

    #[test]
    fn any_graph_gets_finite_weights(f in random::functions(12)) {
        let cfg = f.cfg().unwrap();
        for weighting in [Weighting::heuristic(&cfg), Weighting::expected(&f, &cfg)] {
            prop_assert!(cfg.edges().all(|e| weighting.edge(e).is_finite() && weighting.edge(e) >= 0.0));
            prop_assert_eq!(weighting.edge(cfg.exit_edge()), 1.0);
        }
    }

    /// A profile without early exits is itself a weighting (§2).
    #[test]
    fn a_whole_run_obeys_the_law(f in random::functions(6), choices in random::choices()) {
        let cfg = f.cfg().unwrap();
        let whole = random::walks(&f, &cfg, &choices)
            .into_iter()
            .filter(|w| w.until == cotree_core::interpret::Until::Exit && w.from == cotree_core::interpret::From::Entry);
        let (profile, _) = observe(&f, &cfg, &whole.collect::<Vec<_>>()).unwrap();
        if let Some(weighting) = Weighting::from_profile(&cfg, &profile) {
            prop_assert_eq!(unbalanced(&cfg, &weighting), []);
        } else {
            prop_assert_eq!(profile.entries, 0);
        }
    }
}
