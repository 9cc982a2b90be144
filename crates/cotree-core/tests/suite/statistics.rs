//! The numbers of Table 2 and of Graphs 2 to 4, on a graph small enough to count by hand.

use crate::random;
use cotree_core::facts::{Function, Untouched};
use cotree_core::statistics::{PlacementCost, PlanStatistics};
use cotree_core::weight::weighting::Weighting;

/// `while (0→1; 1→2, 1→5) { if (2→3, 2→4) {3→4}; 4→1 } 5→EXIT`: the edge 2→4 is critical.
fn example() -> Function {
    let edges = [(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 1), (5, 6)].map(|(a, b)| (a, b, true));
    random::function(6, &edges, &[])
}

fn cost(counters: u64, jumps: u64, increments: f64, jumps_executed: f64) -> PlacementCost {
    PlacementCost { counters, jumps, increments, jumps_executed }
}

#[test]
fn a_loop_with_a_conditional() {
    let function = example();
    let cfg = function.cfg().unwrap();
    // The heuristic: 0→1 1, body 9, exit 1, branches 4.5 each.
    let guide = Weighting::heuristic(&cfg);
    let statistics = PlanStatistics::new(&function, &cfg, &guide, &guide);
    assert_eq!((statistics.blocks, statistics.edges), (6, 8));
    assert_eq!(statistics.redundant, cost(6, 0, 1.0 + 10.0 + 9.0 + 4.5 + 9.0 + 1.0, 0.0));
    // Nine edges and seven blocks with EXIT: three chords. One of 0→1, 1→5, 5→EXIT; 2→4, which needs a jump; 2→3 or
    // 3→4.
    assert_eq!(statistics.edge, cost(3, 1, 1.0 + 4.5 + 4.5, 4.5));
    // The worst tree counts the whole loop at 4→1 or 1→2.
    assert_eq!(statistics.edge_minimum, cost(3, 0, 1.0 + 4.5 + 9.0, 0.0));
    // Blocks 0 or 5, 2 or 4, and 3, whose in-edges and out-edges are one class.
    assert_eq!(statistics.vertex, cost(3, 0, 1.0 + 9.0 + 4.5, 0.0));
    assert_eq!(statistics.vertex_edge, statistics.edge);
    assert_eq!(statistics.block.counters, 6 + 8);
    assert_eq!(statistics.block.jumps, 1, "2→4");
    assert_eq!(statistics.edge.increment_reduction(&statistics.redundant), Some(34.5 / 10.0));
    assert_eq!(statistics.block.instructions(), 5.0 * statistics.block.increments + 4.5);
    assert_eq!(cost(1, 1, 0.0, 0.0).increment_reduction(&statistics.redundant), None);
    assert_eq!(cost(1, 1, 0.0, 5.0).instruction_reduction(&statistics.redundant), Some(34.5));
}

#[test]
fn plans_made_by_guess_are_judged_by_fact() {
    let function = example();
    let cfg = function.cfg().unwrap();
    let guide = Weighting::heuristic(&cfg);
    // In truth the loop runs a hundred times and the condition holds each time.
    let fact = Weighting::new(&cfg, vec![1.0, 100.0, 1.0, 100.0, 0.0, 100.0, 100.0, 1.0, 1.0].into());
    let exact = PlanStatistics::new(&function, &cfg, &fact, &fact);
    let guessed = PlanStatistics::new(&function, &cfg, &guide, &fact);
    assert_eq!(exact.edge, cost(3, 1, 101.0, 0.0), "the jump is never executed");
    assert!(guessed.edge.increments >= exact.edge.increments);
    assert!(guessed.edge_minimum.increments <= exact.edge_minimum.increments);
    assert_eq!(guessed.redundant, exact.redundant);
}

#[test]
fn functions_add_up_and_untouched_ones_count_nothing() {
    let function = example();
    let cfg = function.cfg().unwrap();
    let weighting = Weighting::heuristic(&cfg);
    let one = PlanStatistics::new(&function, &cfg, &weighting, &weighting);
    let mut sum = one;
    sum += one;
    let untouched = Function { untouched: Some(Untouched::Naked), ..function };
    sum += PlanStatistics::new(&untouched, &cfg, &weighting, &weighting);
    assert_eq!((sum.blocks, sum.edges), (12, 16));
    assert_eq!(sum.edge, cost(6, 2, 20.0, 9.0));
    assert_eq!(sum.edge.increment_reduction(&sum.redundant), one.edge.increment_reduction(&one.redundant));
}
