//! Cycle equivalence against its definition, edge by edge.

use crate::structured;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::sese::CycleEquivalence;
use cotree_core::ids::{Block, Edge};
use proptest::prelude::*;

fn cfg(blocks: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Cfg {
    Cfg::new(blocks, edges.into_iter().map(|(a, b)| (Block::new(a), Block::new(b)))).unwrap()
}

fn graphs() -> impl Strategy<Value = Cfg> {
    let any =
        (1..9usize).prop_flat_map(|n| prop::collection::vec((0..n, 0..=n), 0..18).prop_map(move |edges| cfg(n, edges)));
    prop_oneof![any, structured::programs()]
}

/// Is there a path between the edge's ends without either edge?
fn on_a_cycle_without(cfg: &Cfg, edge: Edge, without: Edge, directed: bool) -> bool {
    let (from, to) = (cfg.dst(edge), cfg.src(edge));
    let mut seen = vec![false; cfg.block_count()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let free = |e: &&Edge| **e != edge && **e != without;
        work.extend(cfg.succs(block).iter().filter(free).map(|&e| cfg.dst(e)));
        if !directed {
            work.extend(cfg.preds(block).iter().filter(free).map(|&e| cfg.src(e)));
        }
    }
    seen[to.index()]
}

fn equivalent(cfg: &Cfg, a: Edge, b: Edge, directed: bool) -> bool {
    a == b || (!on_a_cycle_without(cfg, a, b, directed) && !on_a_cycle_without(cfg, b, a, directed))
}

fn strongly_connected(cfg: &Cfg) -> bool {
    cfg.edges().all(|e| on_a_cycle_without(cfg, e, e, true))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn agrees_with_the_definition(cfg in graphs()) {
        let found = CycleEquivalence::new(&cfg);
        let directed = strongly_connected(&cfg);
        for a in cfg.edges() {
            prop_assert_eq!(found.class(a).is_some(), on_a_cycle_without(&cfg, a, a, false), "{}", a);
            for b in cfg.edges().filter(|&b| found.class(a).is_some() && found.class(b).is_some()) {
                prop_assert_eq!(found.equivalent(a, b), equivalent(&cfg, a, b, false), "{} {}", a, b);
                if directed {
                    prop_assert_eq!(found.equivalent(a, b), equivalent(&cfg, a, b, true), "{} {} directed", a, b);
                }
            }
        }
        let classes = cfg.edges().filter_map(|e| found.class(e)).collect::<std::collections::BTreeSet<_>>();
        prop_assert!(classes.len() <= found.len());
    }
}

#[test]
fn a_chain_is_one_class() {
    let cfg = cfg(4, [(0, 1), (1, 2), (2, 3), (3, 4)]);
    let found = CycleEquivalence::new(&cfg);
    assert!(cfg.edges().all(|e| found.equivalent(e, Edge(0))));
    assert_eq!(found.len(), 1);
}

#[test]
fn the_arms_of_a_conditional_are_regions() {
    // 0→1→3, 0→2→3, 3→EXIT.
    let cfg = cfg(4, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]);
    let found = CycleEquivalence::new(&cfg);
    assert!(found.equivalent(Edge(0), Edge(2)) && found.equivalent(Edge(1), Edge(3)));
    assert!(found.equivalent(Edge(4), cfg.exit_edge()) && !found.equivalent(Edge(0), Edge(1)));
    assert_eq!(found.len(), 3);
}

#[test]
fn large_graphs_are_no_trouble() {
    // A long chain, each block of which has a loop of its own and a path around the next.
    let n = 200_000;
    let edges = (0..n).flat_map(|i| [(i, i + 1), (i, i), (i, (i + 2).min(n))]);
    let cfg = cfg(n + 1, edges.chain([(n, n + 1)]));
    assert!(CycleEquivalence::new(&cfg).len() > n);
}
