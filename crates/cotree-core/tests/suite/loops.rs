//! Loops against their definition, block by block.

use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::dominators::Dominators;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge, Loop};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn cfg(blocks: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Cfg {
    Cfg::new(blocks, edges.into_iter().map(|(a, b)| (Block::new(a), Block::new(b)))).unwrap()
}

fn graphs() -> impl Strategy<Value = Cfg> {
    (1..12usize).prop_flat_map(|n| prop::collection::vec((0..n, 0..=n), 0..28).prop_map(move |edges| cfg(n, edges)))
}

/// *header* and all from which a path that avoids it leads to the source of a backedge, among `allowed` blocks.
fn natural_loop(cfg: &Cfg, dfs: &Dfs, header: Block, allowed: impl Fn(Block) -> bool) -> BTreeSet<Block> {
    let back = |e: &&Edge| dfs.is_backedge(**e);
    let mut members = BTreeSet::from([header]);
    let mut open: Vec<Block> = cfg.preds(header).iter().filter(back).map(|&e| cfg.src(e)).collect();
    while let Some(b) = open.pop() {
        if allowed(b) && members.insert(b) {
            open.extend(cfg.preds(b).iter().filter(|&&e| e != cfg.exit_edge()).map(|&e| cfg.src(e)));
        }
    }
    members
}

fn members(cfg: &Cfg, loops: &LoopForest, l: Loop) -> BTreeSet<Block> {
    cfg.blocks().filter(|&b| loops.contains(l, b)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn agree_with_the_definition(cfg in graphs()) {
        let dfs = Dfs::new(&cfg);
        let loops = LoopForest::new(&cfg, &dfs);
        let doms = Dominators::new(&cfg, &dfs);
        let headers: BTreeSet<Block> = cfg.edges().filter(|&e| dfs.is_backedge(e)).map(|e| cfg.dst(e)).collect();
        prop_assert_eq!(loops.loops().map(|l| loops.header(l)).collect::<BTreeSet<_>>(), headers);

        for l in loops.loops() {
            let header = loops.header(l);
            let found = members(&cfg, &loops, l);
            let among_descendants = |b| dfs.is_reached(b) && dfs.is_ancestor(header, b);
            prop_assert_eq!(&found, &natural_loop(&cfg, &dfs, header, among_descendants), "loop of {}", header);
            let dominated = found.iter().all(|&b| doms.dominates(header, b));
            prop_assert_eq!(loops.is_irreducible(l), !dominated, "loop of {}", header);
            if dominated {
                // Only here is the paper's definition meant: what no path from the entry reaches is not in the loop.
                let natural = natural_loop(&cfg, &dfs, header, |b| dfs.is_reached(b));
                prop_assert_eq!(&found, &natural, "natural loop of {}", header);
            }
            let exits: Vec<Edge> = cfg
                .edges()
                .filter(|&e| found.contains(&cfg.src(e)) && !found.contains(&cfg.dst(e)))
                .collect();
            prop_assert_eq!(loops.exit_count(l) as usize, exits.len());
            for other in loops.loops() {
                let other_members = members(&cfg, &loops, other);
                prop_assert!(
                    found.is_disjoint(&other_members) || found.is_subset(&other_members) || other_members.is_subset(&found)
                );
                prop_assert!(!other_members.is_superset(&found) || other <= l, "outer loops come first");
            }
            let around = loops.loops().filter(|&o| o != l && members(&cfg, &loops, o).is_superset(&found)).count();
            prop_assert_eq!(loops.depth(l) as usize, around);
        }
        for e in cfg.edges() {
            let leaves = |l: &Loop| {
                e != cfg.exit_edge() && loops.contains(*l, cfg.src(e)) && !loops.contains(*l, cfg.dst(e))
            };
            let outermost = loops.loops().find(leaves); // Outer loops come first.
            prop_assert_eq!(loops.outermost_left(e), outermost, "{}", e);
        }
        for b in cfg.blocks() {
            let inner = loops.loops().filter(|&l| loops.contains(l, b)).max_by_key(|&l| loops.depth(l));
            prop_assert_eq!(loops.innermost(b), inner);
            prop_assert_eq!(loops.headed_by(b), loops.loops().find(|&l| loops.header(l) == b));
        }
    }
}

#[test]
fn a_loop_with_two_entries_is_irreducible() {
    // 0→1, 0→2, 1→2, 2→1, 2→3, 3→EXIT: the search reaches 1 first, so that is the header.
    let cfg = cfg(4, [(0, 1), (0, 2), (1, 2), (2, 1), (2, 3), (3, 4)]);
    let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
    assert_eq!(loops.len(), 1);
    assert_eq!(members(&cfg, &loops, Loop(0)), BTreeSet::from([Block(1), Block(2)]));
    assert!(loops.is_irreducible(Loop(0)));
    assert_eq!(loops.exit_count(Loop(0)), 1);
}

#[test]
fn a_deep_nest_is_no_trouble() {
    // 0→1→…→n, and from n a backedge to each: n loops in each other, and an edge out of all of them.
    let n = 100_000;
    let cfg = cfg(n + 1, (0..n).map(|i| (i, i + 1)).chain((1..n).map(|i| (n, i))).chain([(n, n + 1)]));
    let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
    assert_eq!(loops.len(), n - 1);
    assert_eq!(loops.depth(Loop::new(n - 2)) as usize, n - 2);
    assert_eq!(loops.outermost_left(Edge::new(2 * n - 1)), Some(Loop(0)));
    assert_eq!(loops.exit_count(Loop::new(n - 2)) as usize, n - 1);
    assert!(loops.loops().all(|l| !loops.is_irreducible(l)));
}
