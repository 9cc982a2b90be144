//! Functions with more paths than there are numbers, and functions with very many blocks.
//!
//! `cargo test --release -p cotree-core --test suite many_paths -- --nocapture` shows how long planning takes.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::Edge;
use cotree_core::interpret::{From, GraphWalk, Machine, Until, observe};
use cotree_core::method::path::numbering::Numbering;
use cotree_core::method::path::{self, MOST_PATHS, PathOptions, PathPlan};
use cotree_core::probe::{Place, Probe};
use cotree_core::weight::weighting::Weighting;
use std::time::Instant;

fn case(blocks: usize, edges: &[(usize, usize, bool)]) -> (Function, Cfg) {
    let function = random::function(blocks, edges, &[]);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

/// Conditionals one after the other; each is edges 4i..4i + 4: to its first side, to its second, and from these on.
fn diamonds(count: usize) -> (Function, Cfg) {
    let mut edges = Vec::new();
    for i in 0..count {
        let at = 3 * i;
        edges.extend([(at, at + 1, true), (at, at + 2, true), (at + 1, at + 3, true), (at + 2, at + 3, true)]);
    }
    edges.push((3 * count, 3 * count + 1, true));
    case(3 * count + 1, &edges)
}

fn planned(name: &str, f: &Function, cfg: &Cfg, weighting: &Weighting, limit: u64) -> PathPlan {
    let start = Instant::now();
    let plan = path::plan(f, cfg, weighting, PathOptions { limit, ..PathOptions::default() }).unwrap();
    eprintln!(
        "    {name:<28}{:>8} blocks {:>12.3?}: {} paths, {} + {} cuts",
        f.blocks.len(),
        start.elapsed(),
        plan.key.paths,
        plan.key.cuts.edges.len(),
        plan.key.cuts.blocks.len()
    );
    assert!(plan.key.paths <= limit.clamp(f.edges.len() as u64, MOST_PATHS), "{name}");
    plan
}

/// A walk that turns at random until it has taken enough edges, then goes on as the last edge of each block does.
fn random_walk(cfg: &Cfg, mut state: u64, most: usize) -> GraphWalk {
    let (mut edges, mut at) = (Vec::new(), cfg.entry());
    while at != cfg.exit() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let out = cfg.succs(at);
        let any = out[usize::try_from(state >> 33).unwrap() % out.len()];
        let edge = if edges.len() < most { any } else { out[out.len() - 1] };
        edges.push(edge);
        at = cfg.dst(edge);
    }
    GraphWalk { from: From::Entry, edges, until: Until::Exit }
}

fn check_walks(f: &Function, cfg: &Cfg, plan: &PathPlan, most: usize) {
    let runs = if cfg!(debug_assertions) && f.blocks.len() > 10_000 { 2 } else { 20 };
    let walks: Vec<GraphWalk> = (0..runs).map(|seed| random_walk(cfg, seed, most)).collect();
    let mut machine = Machine::new(f, cfg, plan);
    for walk in &walks {
        machine.run(walk).unwrap();
    }
    let effects = machine.into_effects();
    let table: Vec<(u64, u64)> = effects.paths.iter().map(|(k, &n)| (k.1.cast_unsigned(), n)).collect();
    let profile = path::recover(f, cfg, &plan.key, &effects.counters, &table, &[]).unwrap();
    assert!(profile.counts == observe(f, cfg, &walks).unwrap().0);
}

#[test]
fn more_paths_than_numbers() {
    for count in [62, 63, 64, 65, 1000] {
        let (f, cfg) = diamonds(count);
        let plan = planned("conditionals", &f, &cfg, &Weighting::heuristic(&cfg), u64::MAX);
        assert_eq!(plan.key.cuts.edges.is_empty(), count <= 62);
        assert!(plan.key.cuts.edges.len() <= count / 10, "{} cuts", plan.key.cuts.edges.len());
        check_walks(&f, &cfg, &plan, usize::MAX);
    }
}

/// Where each conditional nearly always goes the same way, that way is never cut.
#[test]
fn hot_paths_stay_whole() {
    let (f, cfg) = diamonds(1000);
    let weight = |e: Edge| if e.0.is_multiple_of(2) { 99.5 } else { 0.5 };
    let weighting = Weighting::new(&cfg, cfg.edges().map(weight).collect());
    let plan = planned("biased conditionals", &f, &cfg, &weighting, u64::MAX);
    assert!(plan.key.cuts.edges.iter().all(|e| !e.0.is_multiple_of(2)));
    let hot = cfg.edges().filter(|e| e.0.is_multiple_of(2) && *e != cfg.exit_edge()).collect();
    let mut machine = Machine::new(&f, &cfg, &plan);
    machine.run(&GraphWalk { from: From::Entry, edges: hot, until: Until::Exit }).unwrap();
    assert_eq!(machine.effects().paths.len(), 1);
    check_walks(&f, &cfg, &plan, usize::MAX);
}

#[test]
fn a_small_limit_is_kept() {
    let (f, cfg) = diamonds(200);
    for limit in [900, 1000, 10_000, 1 << 20] {
        let plan = planned("conditionals, limited", &f, &cfg, &Weighting::heuristic(&cfg), limit);
        check_walks(&f, &cfg, &plan, usize::MAX);
    }
}

#[test]
fn large_graphs() {
    const BLOCKS: usize = 100_000;
    let chain = diamonds(BLOCKS / 3);
    let last = BLOCKS - 1;
    let states = (2..last).flat_map(|b| [(1, b, true), (b, b + 1, true), (b, b, true), (b, 1, true), (b, last, true)]);
    let machine = [(0, 1, true)].into_iter().chain(states).chain([(last, BLOCKS, true)]).collect::<Vec<_>>();
    let machine = case(BLOCKS, &machine);
    let mut tangle: Vec<_> = (0..BLOCKS)
        .flat_map(|b| [(b, (b * 7919 + 13) % (BLOCKS - 1) + 1, true), (b, (b * 104_729 + 7) % (BLOCKS - 1) + 1, true)])
        .collect();
    tangle.extend((0..BLOCKS).map(|b| (b, b + 1, true)));
    let tangle = case(BLOCKS, &tangle);
    let depth = BLOCKS / 2;
    let mut nest: Vec<_> = (0..depth).map(|i| (i, i + 1, true)).collect();
    for i in 0..depth - 1 {
        nest.extend([(depth + i, depth - i, true), (depth + i, depth + i + 1, true)]);
    }
    nest.push((2 * depth - 1, 2 * depth, true));
    let nest = case(2 * depth, &nest);
    for (name, (f, cfg)) in
        [("conditionals", chain), ("state machine", machine), ("crossing jumps", tangle), ("deep nest of loops", nest)]
    {
        let weighting = Weighting::expected(&f, &cfg);
        let plan = planned(name, &f, &cfg, &weighting, u64::MAX);
        let start = Instant::now();
        Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        eprintln!("    {:<28}{:>28.3?}", "its numbering alone", start.elapsed());
        check_walks(&f, &cfg, &plan, 2000);
    }
}

/// An interpreter loop as compilers make it: one computed goto for all handlers, most of which lead back to it; and one
/// as they don't: a computed goto at the end of each.
#[test]
fn threaded_code() {
    let handlers = 440;
    let mut shared = vec![(0, 1, true), (0, 2, true)];
    shared.extend((2..handlers).map(|h| (1, h, false)));
    shared.extend((2..handlers - 1).flat_map(|h| [(h, h + 1, true), (h, 1, true)]));
    shared.push((handlers - 1, handlers, true));
    let (f, cfg) = case(handlers, &shared);
    let plan = planned("one computed goto", &f, &cfg, &Weighting::expected(&f, &cfg), u64::MAX);
    check_walks(&f, &cfg, &plan, 2000);

    let mut own: Vec<_> = (0..handlers).flat_map(|a| (1..handlers).map(move |b| (a, b, false))).collect();
    own.retain(|e| e.0 != handlers - 1);
    own.push((handlers - 1, handlers, true));
    let (f, cfg) = case(handlers, &own);
    let plan = planned("a computed goto each", &f, &cfg, &Weighting::expected(&f, &cfg), u64::MAX);
    assert_eq!(plan.key.paths, (handlers as u64 - 1) * (handlers as u64 - 1) + 1);
    check_walks(&f, &cfg, &plan, 2000);
}

/// An interpreter with simple instructions, one with a loop of its own and one with many paths, and another loop behind
/// it: the numbers of paths that begin at its header are of more than 32 bits. The simple instructions' updates are
/// not.
#[test]
fn updates_are_small_where_numbers_are_large() {
    const SIMPLE: usize = 12;
    const CONDITIONS: usize = 34;
    let (entry, header, latch, again) = (0, 1, 2, 3);
    let mut edges = vec![(entry, header, true)];
    let conditions = |edges: &mut Vec<(usize, usize, bool)>, from: usize, to: usize| {
        for i in 0..CONDITIONS {
            let at = from + 3 * i;
            let next = if i + 1 == CONDITIONS { to } else { at + 3 };
            edges.extend([(at, at + 1, true), (at, at + 2, true), (at + 1, next, true), (at + 2, next, true)]);
        }
    };
    let first = again + 1;
    for i in 0..SIMPLE {
        let at = first + 2 * i;
        edges.extend([(header, at, true), (at, at + 1, true), (at, latch, true), (at + 1, latch, true)]);
    }
    let looping = first + 2 * SIMPLE;
    edges.extend([(header, looping, true), (looping, looping + 1, true), (looping + 1, looping, true)]);
    edges.push((looping, latch, true));
    let far = looping + 2;
    edges.push((header, far, true));
    conditions(&mut edges, far, latch);
    let behind = far + 3 * CONDITIONS;
    edges.extend([(latch, header, true), (header, behind, true)]);
    conditions(&mut edges, behind, again);
    let exit = behind + 3 * CONDITIONS;
    edges.extend([(again, behind, true), (again, exit, true)]);
    let (f, cfg) = case(exit, &edges);
    let options = PathOptions { window: 0, ..PathOptions::default() };
    let plan = path::plan(&f, &cfg, &Weighting::heuristic(&cfg), options).unwrap();
    assert!(plan.key.paths > 1 << 34);
    let simple = |place: Place| match place {
        Place::Start(block) | Place::End(block) => (first..looping).contains(&block.index()),
        Place::Edge(edge) => (first..looping).contains(&cfg.src(edge).index()),
        Place::Call(call) | Place::After(call) => panic!("paths are not counted at {call}"),
    };
    let update = |probe: Probe| match probe {
        Probe::Add(_, k) => Some(k),
        _ => None,
    };
    let updates: Vec<i64> = plan.probes.iter().filter(|p| simple(p.place)).filter_map(|p| update(p.probe)).collect();
    assert!(updates.len() >= SIMPLE && updates.iter().all(|&k| i32::try_from(k).is_ok()), "{updates:?}");
    check_walks(&f, &cfg, &plan, 500);
}

/// Forty conditions, of which all but the first seven seldom take one of their edges: all paths along the other edges
/// are in the window.
#[test]
fn what_is_thought_to_run_has_the_first_numbers() {
    const CONDITIONS: usize = 40;
    let (f, cfg) = diamonds(CONDITIONS);
    let rare = |edge: Edge| edge.index() < 4 * CONDITIONS && edge.index() % 4 == 1;
    let even = |edge: Edge| edge.index() < 28 && edge.index() % 4 < 2;
    let weights = cfg.edges().map(|edge| if rare(edge) && !even(edge) { 1.0 } else { 1000.0 }).collect();
    let plan = path::plan(&f, &cfg, &Weighting::new(&cfg, weights), PathOptions::default()).unwrap();
    assert!(plan.key.paths == 1 << CONDITIONS && !plan.key.cuts.rare.is_empty());
    let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
    let window = plan.key.windows[0];
    assert!(window.first == 0 && window.len == numbering.window() && window.len <= 1024);
    let usual: Vec<_> = window
        .numbers()
        .filter_map(|number| numbering.path(&cfg, number))
        .filter(|path| path.edges.iter().all(|&edge| !rare(edge) || even(edge)))
        .collect();
    assert_eq!(usual.len(), 1 << 7, "seven conditions may go either way");
    assert_eq!(numbering.path(&cfg, numbering.end()), None);
    check_walks(&f, &cfg, &plan, 500);
}
