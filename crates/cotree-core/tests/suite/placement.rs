//! Where counters go: one case per rule, and what the recovered counts owe to it.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Counter, Edge};
use cotree_core::method::counters::{CounterMethod, plan};
use cotree_core::place::placement::{Placement, Placer};
use cotree_core::plan::Measure;
use cotree_core::probe::{Place, Probe};
use cotree_core::weight::weighting::Weighting;

fn case(blocks: usize, edges: &[(usize, usize, bool)], sites: &[(usize, bool)]) -> (Function, Cfg) {
    let function = random::function(blocks, edges, sites);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

fn place((function, cfg): &(Function, Cfg), edge: u32) -> (Place, Measure) {
    let Placement { place, if_taken: false, measure } = Placer::new(function, cfg).edge(Edge(edge)) else {
        panic!("no probe needs to look at the branch here");
    };
    (place, measure)
}

/// 0→1, 0→2, 1→3, 2→3, 0→3, 3→EXIT.
const EDGES: [(usize, usize, bool); 6] =
    [(0, 1, true), (0, 2, true), (1, 3, true), (2, 3, true), (0, 3, true), (3, 4, true)];

#[test]
fn the_ends_of_an_edge_carry_its_counter_where_they_can() {
    let plain = case(4, &EDGES, &[]);
    assert_eq!(place(&plain, 0), (Place::Start(Block(1)), Measure::Edge(Edge(0))), "no other edge in");
    assert_eq!(place(&plain, 2), (Place::End(Block(1)), Measure::Edge(Edge(2))), "no other edge out");
    assert_eq!(place(&plain, 4), (Place::Edge(Edge(4)), Measure::Edge(Edge(4))), "a critical edge");
    assert_eq!(place(&plain, 5), (Place::End(Block(3)), Measure::Edge(Edge(5))));
}

#[test]
fn of_edges_that_weigh_the_same_the_critical_one_is_in_the_tree() {
    let (function, cfg) = case(4, &EDGES, &[]);
    let made = plan(CounterMethod::Edge, &function, &cfg, &Weighting::uniform(&cfg));
    assert!(made.probes.iter().all(|p| !matches!(p.place, Place::Edge(_))), "{made:?}");
}

#[test]
fn a_call_before_the_last_edge_may_be_a_tail_call() {
    // 3 is longer than a bare return, so a call in 1 or 2 is none; one in 3 itself may be.
    let mut calls = case(4, &EDGES, &[(1, false), (3, false)]);
    assert_eq!(place(&calls, 5), (Place::Start(Block(3)), Measure::Block(Block(3))));
    assert_eq!(place(&calls, 2), (Place::End(Block(1)), Measure::Edge(Edge(2))));
    // Without its call, and short, 3 is where calls of several blocks return together.
    calls.0.calls = calls.0.sites().take(1).cloned().collect();
    calls.0.blocks[Block(3)].instructions.total = 1;
    assert_eq!(place(&calls, 2), (Place::Start(Block(1)), Measure::Block(Block(1))));
    assert_eq!(place(&calls, 3), (Place::End(Block(2)), Measure::Edge(Edge(3))), "2 calls nothing");
    calls.0.blocks[Block(3)].instructions.total = 9;
    assert_eq!(place(&calls, 2), (Place::End(Block(1)), Measure::Edge(Edge(2))));
}

#[test]
fn a_call_that_is_never_abandoned_may_be_a_tail_call_too() {
    // 1 calls something that is no site, 2 calls nothing; 3 is short.
    let mut calls = case(4, &EDGES, &[]);
    calls.0.blocks[Block(1)].instructions.calls = 1;
    calls.0.blocks[Block(3)].instructions.total = 1;
    assert_eq!(place(&calls, 2), (Place::Start(Block(1)), Measure::Edge(Edge(2))));
    assert_eq!(place(&calls, 3), (Place::End(Block(2)), Measure::Edge(Edge(3))));
    // With more to do in 3 there is no tail call, nor where a site comes first.
    calls.0.blocks[Block(3)].instructions.total = 9;
    assert_eq!(place(&calls, 2), (Place::End(Block(1)), Measure::Edge(Edge(2))));
    let mut both = case(4, &EDGES, &[(1, false)]);
    both.0.blocks[Block(1)].instructions.calls = 2;
    both.0.blocks[Block(3)].instructions.total = 1;
    assert_eq!(place(&both, 2), (Place::Start(Block(1)), Measure::Block(Block(1))));
}

#[test]
fn a_terminator_that_calls_comes_after_the_end() {
    let invoke = case(4, &EDGES, &[(1, true)]);
    assert_eq!(place(&invoke, 2), (Place::Start(Block(1)), Measure::Block(Block(1))), "slid up through the block");
    assert_eq!(Placer::new(&invoke.0, &invoke.1).direct(Edge(2)).place, Place::Edge(Edge(2)));
}

#[test]
fn the_entry_and_exit_are_no_private_ends() {
    // 0→0 is the only real edge into the entry, but EXIT→entry is another; 0→EXIT is the only edge into EXIT.
    let single = case(1, &[(0, 0, true), (0, 1, true)], &[]);
    assert_eq!(place(&single, 0).0, Place::Edge(Edge(0)));
    assert_eq!(place(&single, 1).0, Place::Edge(Edge(1)));
}

#[test]
fn edges_of_computed_gotos() {
    // 0 branches to 1, 2 and 3; 1 also to 3; 2→3.
    let edges = [(0, 1, false), (0, 2, false), (0, 3, false), (1, 3, true), (2, 3, true), (3, 4, true)];
    let goto = case(4, &edges, &[]);
    let placer = Placer::new(&goto.0, &goto.1);
    assert_eq!(placer.edge(Edge(0)).place, Place::Start(Block(1)), "no other edge in");
    let critical = placer.edge(Edge(2));
    assert!(critical.if_taken && !critical.needs_jump() && critical.place == Place::End(Block(0)));

    // The tree takes the critical edge, though it weighs nothing and all others much.
    let weighting = Weighting::new(&goto.1, vec![9.0, 9.0, 0.0, 9.0, 9.0, 9.0].into());
    let made = plan(CounterMethod::Edge, &goto.0, &goto.1, &weighting);
    assert!(!made.key.measures.contains(&Measure::Edge(Edge(2))), "{made:?}");
    // In the redundant reference it is counted where it is taken.
    let all = plan(CounterMethod::Block, &goto.0, &goto.1, &weighting);
    let probe = all.probes.iter().find(|p| p.probe == Probe::CountIfTaken(Counter(6), Edge(2))).unwrap();
    assert_eq!(probe.place, Place::End(Block(0)));
}

/// Fig. 19: two counted edges into one block, one of them from a block with one edge in and one edge out.
#[test]
fn figure_19_no_jump_is_needed() {
    // 0→1 (grey), 1→2, 0→3, 3→2 …: both counters share blocks.
    let grey = case(4, &[(0, 1, true), (1, 2, true), (0, 3, true), (3, 2, true), (2, 4, true)], &[]);
    assert_eq!(place(&grey, 1).0, Place::End(Block(1)));
    assert_eq!(place(&grey, 3).0, Place::End(Block(3)));
}
