//! Prime paths against their definition, and the automaton against a look at every part of an execution.

use cotree_core::graph::prime_paths::{PrimePaths, Progress, TooManyPaths};
use cotree_core::ids::{Block, IdMap};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Path = Vec<usize>;

fn prime_paths(vertices: usize, edges: &[(usize, usize)], most: usize) -> Result<PrimePaths, TooManyPaths> {
    let edges = edges.iter().map(|&(from, to)| (Block::new(from), Block::new(to)));
    PrimePaths::new(&IdMap::filled(true, vertices), edges, most)
}

fn listed(found: &PrimePaths) -> BTreeSet<Path> {
    let paths: BTreeSet<Path> =
        found.numbers().map(|path| found.blocks(path).into_iter().map(Block::index).collect()).collect();
    assert_eq!(paths.len(), found.len(), "no path is found twice");
    paths
}

/// All simple paths, of which no part is left out.
fn simple_paths(vertices: usize, edges: &BTreeSet<(usize, usize)>) -> BTreeSet<Path> {
    let mut all: BTreeSet<Path> = (0..vertices).map(|vertex| vec![vertex]).collect();
    let mut work: Vec<Path> = all.iter().cloned().collect();
    while let Some(path) = work.pop() {
        let last = path[path.len() - 1];
        if path.len() > 1 && last == path[0] {
            continue;
        }
        for &(_, to) in edges.range((last, 0)..(last + 1, 0)) {
            if !path.contains(&to) || to == path[0] {
                let longer = [path.as_slice(), &[to]].concat();
                if all.insert(longer.clone()) {
                    work.push(longer);
                }
            }
        }
    }
    all
}

fn is_part(part: &[usize], whole: &[usize]) -> bool {
    part.len() < whole.len() && whole.windows(part.len()).any(|window| window == part)
}

/// The definition.
fn truly_prime(vertices: usize, edges: &[(usize, usize)]) -> BTreeSet<Path> {
    let simple = simple_paths(vertices, &edges.iter().copied().collect());
    simple.iter().filter(|path| !simple.iter().any(|other| is_part(path, other))).cloned().collect()
}

fn graphs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1..7usize).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 0..n), 0..11)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn are_those_of_the_definition((vertices, edges) in graphs()) {
        let found = prime_paths(vertices, &edges, 10_000).unwrap();
        prop_assert_eq!(listed(&found), truly_prime(vertices, &edges));
    }

    #[test]
    fn are_seen_when_they_run((vertices, edges) in graphs(), choices in prop::collection::vec(0..64usize, 1..60)) {
        let found = prime_paths(vertices, &edges, 10_000).unwrap();
        let edges: BTreeSet<(usize, usize)> = edges.into_iter().collect();
        // A new activation begins where none can go on.
        let (mut at, mut walk, mut progress, mut seen) = (None, Vec::new(), Progress::NONE, BTreeSet::new());
        let mut truth = BTreeSet::new();
        for choice in choices {
            let succs: Vec<usize> =
                at.map_or(Vec::new(), |at| edges.range((at, 0)..(at + 1, 0)).map(|&(_, to)| to).collect());
            let next = if succs.is_empty() || choice % 8 == 0 {
                (walk, progress) = (Vec::new(), Progress::NONE);
                choice % vertices
            } else {
                succs[choice % succs.len()]
            };
            walk.push(next);
            at = Some(next);
            progress = found.step(progress, Block::new(next));
            seen.extend(found.ran(progress));
            truth.extend(found.numbers().filter(|&path| {
                let blocks: Path = found.blocks(path).into_iter().map(Block::index).collect();
                walk.ends_with(&blocks)
            }));
        }
        prop_assert_eq!(seen, truth);
    }
}

/// Ammann and Offutt 2016, Fig. 7.10: a path that leaves the loop at once, one that enters it, one that leaves it
/// behind a turn, and the turns.
#[test]
fn of_a_loop() {
    // 0→1, 0→4, 1→2, 1→5, 2→3, 3→1, 4→4, 4→6, 5→6.
    let edges = [(0, 1), (0, 4), (1, 2), (1, 5), (2, 3), (3, 1), (4, 4), (4, 6), (5, 6)];
    let found = prime_paths(7, &edges, 100).unwrap();
    let expected: BTreeSet<Path> = [
        vec![0, 1, 2, 3],
        vec![0, 1, 5, 6],
        vec![0, 4, 6],
        vec![1, 2, 3, 1],
        vec![2, 3, 1, 2],
        vec![2, 3, 1, 5, 6],
        vec![3, 1, 2, 3],
        vec![4, 4],
    ]
    .into();
    assert_eq!(listed(&found), expected);
}

#[test]
fn of_one_vertex_and_of_none() {
    assert_eq!(listed(&prime_paths(1, &[], 1).unwrap()), [vec![0]].into());
    assert!(prime_paths(0, &[], 1).unwrap().is_empty());
    let hidden: IdMap<Block, bool> = [true, false, true].into_iter().collect();
    let edges = [(0, 1), (1, 2)].map(|(from, to): (usize, usize)| (Block::new(from), Block::new(to)));
    assert_eq!(listed(&PrimePaths::new(&hidden, edges, 10).unwrap()), [vec![0], vec![2]].into());
}

#[test]
fn more_than_allowed_are_refused_soon() {
    // Twenty conditionals one behind the other: a million paths.
    let edges: Vec<(usize, usize)> = (0..20)
        .flat_map(|n| [(3 * n, 3 * n + 1), (3 * n, 3 * n + 2), (3 * n + 1, 3 * n + 3), (3 * n + 2, 3 * n + 3)])
        .collect();
    assert_eq!(prime_paths(61, &edges, 1000).err(), Some(TooManyPaths));
    let few = &edges[..12];
    assert_eq!(prime_paths(10, few, 8).unwrap().len(), 8);
    assert_eq!(prime_paths(10, few, 7).err(), Some(TooManyPaths));
}

#[test]
fn of_a_long_ring_and_of_a_long_chain() {
    let ring: Vec<(usize, usize)> = (0..1000).map(|n| (n, (n + 1) % 1000)).collect();
    assert_eq!(prime_paths(1000, &ring, 1000).unwrap().len(), 1000);
    let chain: Vec<(usize, usize)> = (1..200_000).map(|n| (n - 1, n)).collect();
    assert_eq!(prime_paths(200_000, &chain, 10).unwrap().len(), 1);
}
