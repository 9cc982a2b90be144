//! Functions of some 200,000 blocks or edges: every method plans and recovers them without deep recursion, and exactly.
//!
//! `cargo test --release -p cotree-core --test suite large -- --nocapture` shows how long each step takes.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::{Dfs, Direction};
use cotree_core::graph::dominators::Dominators;
use cotree_core::ids::{Edge, Site};
use cotree_core::interpret::{From, GraphWalk, Until, observe, run};
use cotree_core::method::counters::{CounterMethod, Measured, plan, recover};
use cotree_core::statistics::PlanStatistics;
use cotree_core::weight::weighting::Weighting;
use std::time::{Duration, Instant};

const BLOCKS: usize = 200_000;
const STEPS: usize = if cfg!(debug_assertions) { 10_000 } else { 100_000 };

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    eprintln!("    {what:<24}{took:>12.3?}");
    (result, took)
}

/// Per block, the edge that begins a shortest path to EXIT.
fn shortest_paths(cfg: &Cfg) -> Vec<Option<Edge>> {
    let mut first = vec![None; cfg.block_count()];
    let mut queue = std::collections::VecDeque::from([cfg.exit()]);
    while let Some(block) = queue.pop_front() {
        for edge in Direction::Backward.onward(cfg, block) {
            let src = cfg.src(edge);
            if first[src.index()].is_none() {
                first[src.index()] = Some(edge);
                queue.push_back(src);
            }
        }
    }
    first
}

/// A random walk that goes straight to EXIT after a while, or is abandoned at the next call site.
fn walk(cfg: &Cfg, function: &Function, seed: u64, abandoned: bool) -> GraphWalk {
    let first = shortest_paths(cfg);
    let mut state = seed;
    let (mut edges, mut at) = (Vec::new(), cfg.entry());
    while at != cfg.exit() {
        if let Some((site, _)) = function.sites_of(at).next().filter(|_| abandoned && edges.len() > STEPS / 2) {
            return GraphWalk { from: From::Entry, edges, until: Until::Site(site) };
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let out = cfg.succs(at);
        let any = out[usize::try_from(state >> 33).unwrap() % out.len()];
        let edge = if edges.len() < STEPS { any } else { first[at.index()].unwrap() };
        edges.push(edge);
        at = cfg.dst(edge);
    }
    GraphWalk { from: From::Entry, edges, until: Until::Exit }
}

fn check(name: &str, blocks: usize, edges: &[(usize, usize, bool)]) {
    let sites: Vec<(usize, bool)> = (0..blocks).filter(|b| b % 7 == 0).map(|b| (b, false)).collect();
    let function = random::function(blocks, edges, &sites);
    eprintln!("{name}: {blocks} blocks, {} edges", edges.len());
    let (cfg, _) = timed("graph", || function.cfg().unwrap());
    timed("dominators", || Dominators::new(&cfg, &Dfs::new(&cfg)));
    timed("post-dominators", || Dominators::post(&cfg));
    let (weighting, _) = timed("weighting", || Weighting::expected(&function, &cfg));
    assert!(cfg.edges().all(|e| weighting.edge(e).is_finite() && weighting.edge(e) >= 0.0));

    let revived = GraphWalk { from: From::Site(Site(0)), ..walk(&cfg, &function, 4, false) };
    let walks =
        [walk(&cfg, &function, 1, false), walk(&cfg, &function, 2, true), walk(&cfg, &function, 3, false), revived];
    let (truth, early) = observe(&function, &cfg, &walks).unwrap();
    for method in [CounterMethod::Edge, CounterMethod::Block, CounterMethod::Vertex, CounterMethod::VertexEdge] {
        let (made, _) = timed(&format!("plan {method:?}"), || plan(method, &function, &cfg, &weighting));
        let counts = run(&function, &cfg, &made, &walks).unwrap();
        let (profile, _) = timed(&format!("recover {method:?}"), || {
            recover(method, &cfg, Measured { function: &function, key: &made.key, counts: &counts, early: &early })
                .unwrap()
        });
        let mut expected = truth.clone();
        if matches!(method, CounterMethod::Vertex | CounterMethod::VertexEdge) {
            expected.edges = None;
        }
        assert!(profile == expected, "{name}: {method:?} is not exact");
    }
    let (statistics, _) = timed("statistics", || PlanStatistics::new(&function, &cfg, &weighting, &weighting));
    assert!(statistics.edge.increments <= statistics.edge_minimum.increments);
    assert_eq!(statistics.blocks as usize, blocks);
}

#[test]
fn a_switch_in_a_loop() {
    // The header 1 switches to every case, each case goes back to it; the last block returns.
    let last = BLOCKS - 1;
    let cases = (2..last).flat_map(|b| [(1, b, true), (b, 1, true)]);
    let edges: Vec<_> =
        [(0, 1, true)].into_iter().chain(cases).chain([(1, last, true), (last, BLOCKS, true)]).collect();
    check("switch in a loop", BLOCKS, &edges);
}

#[test]
fn a_state_machine() {
    // As above, but each state may fall into the next, loop on itself or return.
    let last = BLOCKS - 1;
    let states = (2..last).flat_map(|b| [(1, b, true), (b, b + 1, true), (b, b, true), (b, 1, true), (b, last, true)]);
    let edges: Vec<_> = [(0, 1, true)].into_iter().chain(states).chain([(last, BLOCKS, true)]).collect();
    check("state machine", BLOCKS, &edges);
}

#[test]
fn a_chain_of_conditionals() {
    let mut edges = Vec::new();
    for i in (0..BLOCKS - 4).step_by(3) {
        edges.extend([(i, i + 1, true), (i, i + 2, true), (i + 1, i + 3, true), (i + 2, i + 3, true)]);
    }
    let last = (BLOCKS - 4).next_multiple_of(3);
    edges.push((last, last + 1, true));
    check("chain of conditionals", last + 1, &edges);
}

#[test]
fn a_deep_nest_of_loops() {
    // Headers one after the other, then their ends in reverse; every end may also leave all loops at once.
    let depth = BLOCKS / 2;
    let mut edges: Vec<_> = (0..depth).map(|i| (i, i + 1, true)).collect();
    for i in 0..depth - 1 {
        edges.extend([
            (depth + i, depth - i, true),
            (depth + i, depth + i + 1, true),
            (depth + i, 2 * depth - 1, true),
        ]);
    }
    edges.push((2 * depth - 1, 2 * depth, true));
    check("deep nest of loops", 2 * depth, &edges);
}

#[test]
fn threaded_code() {
    // 440 labels, each of which branches to all by a computed goto; the last returns.
    let labels = 440;
    let mut edges: Vec<_> = (0..labels).flat_map(|a| (1..labels).map(move |b| (a, b, false))).collect();
    edges.push((labels - 1, labels, false));
    check("threaded code", labels, &edges);
}

#[test]
fn crossing_jumps_without_structure() {
    // Irreducible throughout: everyone jumps to two places far away.
    let mut edges: Vec<_> = (0..BLOCKS)
        .flat_map(|b| [(b, (b * 7919 + 13) % (BLOCKS - 1) + 1, true), (b, (b * 104_729 + 7) % (BLOCKS - 1) + 1, true)])
        .collect();
    edges.extend((0..BLOCKS).map(|b| (b, b + 1, true)));
    check("crossing jumps", BLOCKS, &edges);
}
