//! Which blocks of counters are put out of line: those on edges that are predicted to be rare, in loops, where nothing
//! else says so.

use crate::random;
use cotree_core::facts::hints::{Branch, Hints, Test};
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::ids::{Block, Counter, Edge};
use cotree_core::place::cold_blocks::edges_to_cold_counters;
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};

/// `while (b1: …) { b2: if (…) b3; b4 } b5`; edge 4 goes past the `if`.
const PAST: Edge = Edge(4);

fn looping() -> Function {
    let edges = [(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 1), (5, 6)].map(|(src, dst)| (src, dst, true));
    branching(random::function(6, &edges, &[]))
}

/// A function like `looping` without the loop.
fn straight() -> Function {
    let edges = [(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 5), (5, 6)].map(|(src, dst)| (src, dst, true));
    branching(random::function(6, &edges, &[]))
}

fn branching(mut function: Function) -> Function {
    for (edge, kind) in [(1, EdgeKind::True), (2, EdgeKind::False), (3, EdgeKind::True), (4, EdgeKind::False)] {
        function.edges[Edge::new(edge)].kind = kind;
    }
    function
}

/// A counter on each of the edges, in a block of its own.
fn counted(edges: &[Edge]) -> CounterPlan {
    let probe = |(counter, &edge): (usize, &Edge)| PlacedProbe {
        place: Place::Edge(edge),
        probe: Probe::Count(Counter::new(counter)),
    };
    CounterPlan {
        probes: edges.iter().enumerate().map(probe).collect(),
        key: CounterKey { measures: edges.iter().map(|&edge| Measure::Edge(edge)).collect(), ..CounterKey::default() },
    }
}

fn tested(block: u32, test: Test, on_true: bool) -> Hints {
    Hints { branches: vec![Branch { block: Block(block), test, on_true }], ..Hints::default() }
}

fn of(function: &Function, hints: &Hints, counted_edges: &[Edge]) -> Vec<Edge> {
    edges_to_cold_counters(function, &function.cfg().unwrap(), hints, &counted(counted_edges))
}

/// Numbers are seldom negative.
#[test]
fn what_a_test_says_is_rare() {
    let hints = tested(2, Test::Negative, false);
    assert_eq!(of(&looping(), &hints, &[PAST]), [PAST]);
    assert_eq!(of(&looping(), &hints, &[Edge(5), PAST]), [PAST], "the other one has a block that is there anyway");
    assert!(of(&looping(), &hints, &[Edge(3)]).is_empty(), "that one is the usual edge");
    let twice = CounterPlan { probes: counted(&[PAST]).probes.repeat(2), ..counted(&[PAST]) };
    let function = looping();
    assert_eq!(edges_to_cold_counters(&function, &function.cfg().unwrap(), &hints, &twice), [PAST]);
}

#[test]
fn without_a_hint_nothing_is() {
    assert!(of(&looping(), &Hints::default(), &[PAST, Edge(3)]).is_empty());
    assert!(of(&looping(), &tested(2, Test::Below, true), &[PAST]).is_empty(), "57 to 43 is no certainty");
}

#[test]
fn outside_of_loops_nothing_is() {
    assert!(of(&straight(), &tested(2, Test::Negative, false), &[PAST]).is_empty());
}

#[test]
fn the_borders_of_loops_are_known_without() {
    let leaves = tested(1, Test::Negative, false);
    assert!(of(&looping(), &leaves, &[Edge(2)]).is_empty());
    // The edge past goes straight back to the header.
    let edges = [(0, 1), (1, 2), (1, 5), (2, 3), (2, 1), (3, 4), (4, 1), (5, 6)].map(|(src, dst)| (src, dst, true));
    let function = branching(random::function(6, &edges, &[]));
    assert!(of(&function, &tested(2, Test::Negative, false), &[PAST]).is_empty());
}

/// Code generators know by themselves that panics are rare, cold functions too, and what they were told.
#[test]
fn what_is_known_is_not_told_again() {
    let mut panics = looping();
    // b4 ends in `unreachable` in place of going back; b3 goes back.
    panics.edges[Edge(5)].dst = Block(1);
    panics.edges[Edge(6)].dst = Block(6);
    panics.edges[Edge(6)].kind = EdgeKind::Unreachable;
    assert!(of(&panics, &tested(2, Test::Negative, false), &[PAST]).is_empty());
    let cold = Hints { cold: vec![Block(4)], ..tested(2, Test::Negative, false) };
    assert!(of(&looping(), &cold, &[PAST]).is_empty());
    // Two blocks away, on either side.
    let far =
        [(0, 1), (1, 2), (1, 6), (2, 3), (2, 5), (3, 4), (4, 5), (5, 1), (6, 7)].map(|(src, dst)| (src, dst, true));
    let far = branching(random::function(7, &far, &[]));
    assert_eq!(of(&far, &tested(2, Test::Negative, false), &[PAST]), [PAST]);
    for block in [4, 5] {
        let cold = Hints { cold: vec![Block(block)], ..tested(2, Test::Negative, false) };
        assert!(of(&far, &cold, &[PAST]).is_empty(), "b{block} is cold");
    }
    let told = Hints { weights: vec![(Edge(3), 4.0), (PAST, 1.0)], ..Hints::default() };
    assert!(of(&looping(), &told, &[PAST]).is_empty());
}

/// A switch has more edges than two; its counters stay where they are.
#[test]
fn switches_are_left_alone() {
    let mut function = looping();
    function.edges[Edge(3)].kind = EdgeKind::Case(1);
    function.edges[Edge(4)].kind = EdgeKind::Default;
    assert!(of(&function, &tested(2, Test::Negative, false), &[PAST]).is_empty());
}
