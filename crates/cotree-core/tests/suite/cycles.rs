//! Spanning trees and cycles, against brute force over all subsets and all simple cycles of small graphs.

use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::counters::vertex_edge::{counted, determines_blocks};
use cotree_core::place::spanning::{Extreme, SpanningTree, TreePriority};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn graphs(blocks: usize, edges: usize) -> impl Strategy<Value = (Cfg, Weighting)> {
    (2..=blocks).prop_flat_map(move |n| (Just(n), prop::collection::vec((0..n, 0..=n, 0u8..6), 0..edges))).prop_map(
        |(n, edges)| {
            let cfg = Cfg::new(n, edges.iter().map(|e| (Block::new(e.0), Block::new(e.1)))).unwrap();
            let weighting = Weighting::new(&cfg, edges.iter().map(|e| f64::from(e.2)).chain([1.0]).collect());
            (cfg, weighting)
        },
    )
}

/// Is every simple cycle of the edges pipeless? Follows each simple path from each block, undirected.
fn all_simple_cycles_pipeless(cfg: &Cfg, edges: &[Edge]) -> bool {
    /// The edge seen from one of its ends: (edge, does it leave that end?, the other end).
    type Step = (Edge, bool, Block);
    fn steps(cfg: &Cfg, edges: &[Edge], at: Block) -> Vec<Step> {
        let out = edges.iter().filter(|&&e| cfg.src(e) == at).map(|&e| (e, true, cfg.dst(e)));
        let into = edges.iter().filter(|&&e| cfg.dst(e) == at).map(|&e| (e, false, cfg.src(e)));
        out.chain(into).collect()
    }
    fn search(cfg: &Cfg, edges: &[Edge], start: Block, path: &mut Vec<Step>) -> bool {
        let at = path.last().map_or(start, |s| s.2);
        for step in steps(cfg, edges, at) {
            if path.iter().any(|s| s.0 == step.0) {
                continue;
            }
            path.push(step);
            let closes = step.2 == start;
            let visited = path[..path.len() - 1].iter().any(|s| s.2 == step.2);
            let fine = if closes {
                // At each block, the arriving and the leaving edge: a fork or a join if both leave it or both enter it.
                let piped = (0..path.len()).any(|i| {
                    let (before, after) = (path[i], path[(i + 1) % path.len()]);
                    before.1 == after.1 // arrives along its direction and goes on along the next one's: a pipe
                });
                !piped
            } else {
                visited || search(cfg, edges, start, path)
            };
            path.pop();
            if !fine {
                return false;
            }
        }
        true
    }
    cfg.blocks().all(|start| search(cfg, edges, start, &mut Vec::new()))
}

/// Fig. 11 as printed: the chords that lose their counters.
fn removed_by_figure_11(cfg: &Cfg, weighting: &Weighting, tree: &SpanningTree) -> BTreeSet<Edge> {
    let tree_edges: Vec<Edge> = cfg.edges().filter(|&e| tree.contains(e)).collect();
    let mut chords: Vec<Edge> = tree.chords().collect();
    chords.sort_by(|&a, &b| weighting.edge(b).total_cmp(&weighting.edge(a)).then(a.cmp(&b)));
    let mut marked = BTreeSet::new();
    let mut removed = BTreeSet::new();
    for chord in chords {
        let with_chord = [tree_edges.as_slice(), &[chord]].concat();
        let cycle = cycle_blocks(cfg, &with_chord);
        if all_simple_cycles_pipeless(cfg, &with_chord) && marked.is_disjoint(&cycle) {
            marked.extend(cycle);
            removed.insert(chord);
        }
    }
    removed
}

/// The blocks of the only cycle of a graph: what is left when dead ends are pruned.
fn cycle_blocks(cfg: &Cfg, edges: &[Edge]) -> BTreeSet<Block> {
    let mut edges = edges.to_vec();
    loop {
        let degree = |b: Block| {
            edges.iter().map(|&e| usize::from(cfg.src(e) == b) + usize::from(cfg.dst(e) == b)).sum::<usize>()
        };
        let kept: Vec<Edge> =
            edges.iter().copied().filter(|&e| degree(cfg.src(e)) > 1 && degree(cfg.dst(e)) > 1).collect();
        if kept.len() == edges.len() {
            return edges.iter().flat_map(|&e| [cfg.src(e), cfg.dst(e)]).collect();
        }
        edges = kept;
    }
}

fn is_forest(cfg: &Cfg, edges: &[Edge]) -> bool {
    let mut sets = cotree_core::graph::union_find::UnionFind::new(cfg.block_count());
    edges.iter().all(|&e| sets.union(cfg.src(e).index(), cfg.dst(e).index()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_linear_test_finds_piped_cycles((cfg, _) in graphs(6, 9), keep in prop::collection::vec(any::<bool>(), 10)) {
        let edges: Vec<Edge> = cfg.edges().zip(keep).filter(|x| x.1).map(|x| x.0).collect();
        prop_assert_eq!(determines_blocks(&cfg, &edges), all_simple_cycles_pipeless(&cfg, &edges), "{:?}", edges);
    }

    /// Without marks, more counters go, and all simple cycles are pipeless still.
    #[test]
    fn marks_are_not_needed((cfg, weighting) in graphs(7, 12)) {
        let tree = SpanningTree::new(&cfg, &weighting, Extreme::Maximum, |_| TreePriority::Plain);
        let counted: BTreeSet<Edge> = counted(&cfg, &tree).collect();
        let removed: BTreeSet<Edge> = tree.chords().filter(|e| !counted.contains(e)).collect();
        prop_assert!(removed.is_superset(&removed_by_figure_11(&cfg, &weighting, &tree)));
        let free: Vec<Edge> = cfg.edges().filter(|e| !counted.contains(e)).collect();
        prop_assert!(all_simple_cycles_pipeless(&cfg, &free));
        // Nor could any other chord of this tree go.
        for &edge in &counted {
            prop_assert!(!all_simple_cycles_pipeless(&cfg, &[free.as_slice(), &[edge]].concat()));
        }
    }

    #[test]
    fn trees_are_extreme((cfg, weighting) in graphs(5, 9), forced in prop::collection::vec(prop::bool::weighted(0.2), 10)) {
        let priority = |e: Edge| if forced[e.index()] { TreePriority::Forced } else { TreePriority::Plain };
        let edges: Vec<Edge> = cfg.edges().collect();
        let sets = || (0u32..1 << edges.len()).map(|set| {
            edges.iter().copied().filter(|e| set >> e.0 & 1 == 1).collect::<Vec<Edge>>()
        });
        let cost = |tree: &[Edge]| tree.iter().map(|&e| weighting.edge(e)).sum::<f64>();
        let count = |tree: &[Edge]| tree.iter().filter(|e| forced[e.index()] && **e != cfg.exit_edge()).count();
        let forests: Vec<Vec<Edge>> =
            sets().filter(|s| s.contains(&cfg.exit_edge()) && is_forest(&cfg, s)).collect();
        let size = forests.iter().map(Vec::len).max().unwrap();
        let most_forced = forests.iter().map(|t| count(t)).max().unwrap();
        let best: Vec<&Vec<Edge>> = forests.iter().filter(|t| t.len() == size && count(t) == most_forced).collect();

        for (extreme, sign) in [(Extreme::Maximum, 1.0), (Extreme::Minimum, -1.0)] {
            let tree = SpanningTree::new(&cfg, &weighting, extreme, priority);
            let found: Vec<Edge> = cfg.edges().filter(|&e| tree.contains(e)).collect();
            prop_assert!(found.contains(&cfg.exit_edge()) && is_forest(&cfg, &found));
            prop_assert_eq!((found.len(), count(&found)), (size, most_forced));
            // Among the trees with as many forced edges, the forced ones are extreme first, then the others.
            let key = |t: &[Edge]| {
                let forced_cost = cost(&t.iter().copied().filter(|e| forced[e.index()]).collect::<Vec<_>>());
                (sign * forced_cost, sign * cost(t))
            };
            let top = best.iter().map(|t| key(t)).fold((f64::MIN, f64::MIN), |a, b| if b > a { b } else { a });
            prop_assert_eq!(key(&found), top);
            prop_assert_eq!(tree.chord_cost(&weighting), cost(&edges) - cost(&found));
        }
    }
}

#[test]
fn a_preferred_edge_wins_a_tie() {
    // 0→1 twice, of equal weight.
    let cfg = Cfg::new(2, [(0, 1), (0, 1), (1, 2)].map(|(a, b)| (Block(a), Block(b)))).unwrap();
    let weighting = Weighting::uniform(&cfg);
    let chords = |preferred: u32| {
        let priority = |e: Edge| if e.0 == preferred { TreePriority::Preferred } else { TreePriority::Plain };
        SpanningTree::new(&cfg, &weighting, Extreme::Maximum, priority).chords().next().unwrap()
    };
    assert_eq!((chords(0), chords(1)), (Edge(1), Edge(0)));
}
