//! Path profiling against enumeration and against brute-force truth.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::interpret::{From, GraphWalk, Machine, Registers, Until, observe};
use cotree_core::method::path::graph::{PathGraph, Role};
use cotree_core::method::path::numbering::Numbering;
use cotree_core::method::path::{
    self, Abandoned, AtCalls, PathClass, PathError, PathOptions, PathPlan, PathProfile, PathStart,
};
use cotree_core::plan::Measure;
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use cotree_core::profile::Flaw;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn cases() -> impl Strategy<Value = (Function, Cfg, Vec<GraphWalk>, Weighting, PathOptions)> {
    let limit = prop_oneof![Just(u64::MAX), Just(1u64), 2..40u64];
    let array = prop_oneof![Just(PathOptions::default().array), 0..20u64];
    (random::functions_of_llvm(), random::choices(), prop::collection::vec(0u8..5, 40), limit, array).prop_map(
        |(f, choices, weights, limit, array)| {
            let cfg = f.cfg().unwrap();
            let walks = random::walks(&f, &cfg, &choices);
            let weighting = Weighting::new(&cfg, weights.into_iter().map(f64::from).collect());
            (f, cfg, walks, weighting, PathOptions { limit, array, window: array, ..PathOptions::default() })
        },
    )
}

/// What a run leaves.
struct Run {
    counters: Vec<u64>,
    table: Vec<(u64, u64)>,
    abandoned: Vec<Abandoned>,
}

/// How an activation may have come to the block: as an earlier walk did.
fn prefix(f: &Function, cfg: &Cfg, earlier: &[GraphWalk], block: Block) -> Option<Vec<Edge>> {
    if block == cfg.entry() {
        return Some(Vec::new());
    }
    let entered = earlier.iter().filter(|w| w.from == From::Entry);
    let mut by_walk = entered.filter_map(|w| {
        let last = w.edges.iter().rposition(|&e| cfg.dst(e) == block)?;
        Some(w.edges[..=last].to_vec())
    });
    let by_search = || {
        let mut paths: BTreeMap<Block, Vec<Edge>> = BTreeMap::from([(cfg.entry(), Vec::new())]);
        let mut open = vec![cfg.entry()];
        while let Some(at) = open.pop() {
            for &e in cfg.succs(at).iter().filter(|&&e| e.index() < f.edges.len()) {
                if !paths.contains_key(&cfg.dst(e)) {
                    let mut edges = paths[&at].clone();
                    edges.push(e);
                    paths.insert(cfg.dst(e), edges);
                    open.push(cfg.dst(e));
                }
            }
        }
        paths.remove(&block)
    };
    by_walk.next_back().or_else(by_search)
}

/// Runs the walks; those that come to life do so with the registers of an activation that had got there. (Walks from
/// blocks that the entry does not reach are dropped from the list.)
fn run(f: &Function, cfg: &Cfg, plan: &PathPlan, walks: &mut Vec<GraphWalk>) -> Run {
    let mut machine = Machine::new(f, cfg, plan);
    let mut abandoned = Vec::new();
    let mut done: Vec<GraphWalk> = Vec::new();
    for walk in walks.drain(..) {
        let mut registers = Registers::default();
        if let From::Site(site) = walk.from {
            let Some(edges) = prefix(f, cfg, &done, f.calls[site].block) else { continue };
            let before = GraphWalk { from: From::Entry, edges, until: Until::Site(site) };
            registers = Machine::new(f, cfg, plan).run(&before).unwrap();
            abandoned.push(Abandoned { site, register: Some(registers.get(Reg::PathSum)), count: -1 });
        }
        let registers = machine.run_with(&walk, registers).unwrap();
        if let Until::Site(site) = walk.until {
            abandoned.push(Abandoned { site, register: Some(registers.get(Reg::PathSum)), count: 1 });
        }
        done.push(walk);
    }
    *walks = done;
    let effects = machine.into_effects();
    // What is counted in a window and what is not adds up.
    let mut table: BTreeMap<u64, u64> = BTreeMap::new();
    for (&(_, n), &count) in &effects.paths {
        *table.entry(n.cast_unsigned()).or_default() += count;
    }
    let table = table.into_iter().collect();
    Run { counters: effects.counters, table, abandoned }
}

fn copies(plan: &PathPlan) -> impl Iterator<Item = &PlacedProbe> {
    plan.probes.iter().filter(|placed| matches!(placed.probe, Probe::Linear { .. }))
}

fn recover(f: &Function, cfg: &Cfg, plan: &PathPlan, run: &Run) -> PathProfile {
    path::recover(f, cfg, &plan.key, &run.counters, &run.table, &run.abandoned).unwrap()
}

/// The table that walks from entry to EXIT should leave: as Melski & Reps 1998, §7, have it, with the values
/// themselves.
fn by_values(cfg: &Cfg, numbering: &Numbering, walks: &[GraphWalk]) -> Vec<(u64, u64)> {
    let graph = numbering.graph();
    let value = |role: Role| (0..graph.arc_count()).find(|&a| graph.role(a) == role).map(|a| numbering.value(a));
    let dispatched = |e: Edge| {
        let goto = value(Role::ToDispatch(cfg.src(e))).unwrap();
        goto + value(Role::FromDispatch(cfg.dst(e))).unwrap()
    };
    let mut table: BTreeMap<u64, u64> = BTreeMap::new();
    for walk in walks {
        let mut on_entry_to: BTreeMap<Block, u64> = BTreeMap::new();
        let mut number = value(Role::Enter).unwrap();
        let mut enter = |number: &mut u64, table: &mut BTreeMap<u64, u64>, block: Block| {
            if let Some(end) = value(Role::EndAtBlock(block)) {
                *table.entry(*number + end).or_default() += 1;
                *number = value(Role::BeginAtBlock(block)).unwrap();
            } else if block != cfg.exit() {
                on_entry_to.insert(block, *number);
                *number += value(Role::Inside(block)).unwrap();
            }
            on_entry_to.clone()
        };
        let mut kept = enter(&mut number, &mut table, cfg.entry());
        for &edge in walk.edges.iter().filter(|e| !graph.self_loops().contains(e)) {
            let dst = cfg.dst(edge);
            if let Some(end) = value(Role::EndOfTurn(edge)) {
                *table.entry(number + end).or_default() += 1;
                number = kept[&dst] + value(Role::Again(dst)).unwrap();
                continue;
            }
            if let Some(end) = value(Role::EndOnEdge(edge)) {
                *table.entry(number + end).or_default() += 1;
                number = value(Role::BeginAfterEdge(dst)).unwrap();
            } else {
                number += value(Role::Real(edge)).unwrap_or_else(|| dispatched(edge));
            }
            kept = enter(&mut number, &mut table, dst);
        }
        *table.entry(number).or_default() += 1;
    }
    table.into_iter().collect()
}

/// All paths from ENTRY to EXIT of the path graph, by search.
fn enumerate(graph: &PathGraph) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut open = vec![(graph.entry(), Vec::new())];
    while let Some((node, arcs)) = open.pop() {
        if node == graph.exit() {
            all.push(arcs);
            continue;
        }
        for &arc in graph.out(node) {
            let mut arcs = arcs.clone();
            arcs.push(arc);
            open.push((graph.dst(arc), arcs));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Every path has a number of its own in range, and regeneration inverts it; so do prefixes.
    #[test]
    fn numbers_are_distinct_and_reversible((f, cfg, _, weighting, options) in cases()) {
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        prop_assume!(numbering.paths() < 3000);
        let all = enumerate(numbering.graph());
        prop_assert_eq!(all.len() as u64, numbering.paths());
        let mut seen = BTreeSet::new();
        for arcs in all {
            let number = arcs.iter().map(|&arc| numbering.value(arc)).sum::<u64>();
            prop_assert!(number < numbering.end() && seen.insert(number));
            let is_near = arcs.iter().all(|arc| plan.key.cuts.rare.binary_search(arc).is_err());
            prop_assert_eq!(number < numbering.window(), is_near);
            prop_assert_eq!(numbering.arcs(number), Some(arcs.clone()));
            let mut sum = 0;
            for (i, &arc) in arcs.iter().enumerate() {
                sum += numbering.value(arc);
                let node = numbering.graph().dst(arc);
                if node % 2 == 1 && node < numbering.graph().entry() {
                    let block = Block::new(node / 2);
                    prop_assert_eq!(numbering.arcs_up_to(block, sum), Some(arcs[..=i].to_vec()));
                }
            }
        }
        let compact = plan.key.cuts.rare.is_empty();
        prop_assert!(!compact || [numbering.end(), numbering.window()] == [numbering.paths(); 2]);
        prop_assert_eq!(numbering.arcs(numbering.end()), None);
        for number in (0..numbering.end().min(5000)).filter(|number| !seen.contains(number)) {
            prop_assert_eq!(numbering.arcs(number), None);
        }
    }

    /// Blocks and edges derived from paths are the truth, and both placements fill the same table.
    #[test]
    fn path_profiles_are_exact((f, cfg, mut walks, weighting, options) in cases()) {
        let clever = path::plan(&f, &cfg, &weighting, options).unwrap();
        let naive = path::naively(&f, &cfg, &weighting, &clever).unwrap();
        let by_clever = run(&f, &cfg, &clever, &mut walks);
        let by_naive = run(&f, &cfg, &naive, &mut walks);
        let (truth, _) = observe(&f, &cfg, &walks).unwrap();
        let clever = recover(&f, &cfg, &clever, &by_clever);
        let naive = recover(&f, &cfg, &naive, &by_naive);
        prop_assert_eq!(&clever.counts, &truth);
        prop_assert_eq!(&naive.counts, &truth);
        prop_assert!(clever.unresolved.is_empty() && naive.unresolved.is_empty());
        if by_clever.abandoned.is_empty() {
            prop_assert_eq!(&clever.paths, &naive.paths);
            prop_assert!(clever.pending.is_empty() && clever.cut_short.is_empty());
        }
    }

    /// Path counts are those of the walks, cut into paths by hand; prefixes likewise.
    #[test]
    fn paths_are_those_of_the_walks((f, cfg, mut walks, weighting, options) in cases()) {
        walks.retain(|w| w.from == From::Entry);
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        let apart: BTreeSet<Edge> = numbering.graph().self_loops().iter().copied().collect();
        let mut expected: BTreeMap<(PathStart, Vec<Block>, Vec<Edge>), i64> = BTreeMap::new();
        for walk in &walks {
            let (mut start, mut blocks, mut edges) = (PathStart::Entry, Vec::new(), Vec::new());
            let mut at = cfg.entry();
            let mut note = |start, blocks: &mut Vec<Block>, edges: &mut Vec<Edge>| {
                *expected.entry((start, std::mem::take(blocks), std::mem::take(edges))).or_default() += 1;
            };
            if plan.key.cuts.blocks.contains(&at) {
                note(start, &mut blocks, &mut edges);
                start = PathStart::Cut(at);
            }
            blocks.push(at);
            for &edge in walk.edges.iter().filter(|e| !apart.contains(e)) {
                edges.push(edge);
                at = cfg.dst(edge);
                if at == cfg.exit() || plan.key.cuts.edges.contains(&edge) || plan.key.cuts.blocks.contains(&at) {
                    note(start, &mut blocks, &mut edges);
                    start = PathStart::Cut(at);
                    if plan.key.cuts.edges.contains(&edge) && plan.key.cuts.blocks.contains(&at) {
                        note(start, &mut blocks, &mut edges);
                    }
                }
                if at != cfg.exit() {
                    blocks.push(at);
                }
            }
            if at != cfg.exit() {
                // Abandoned: an unfinished path, or one that had been counted and from which only one path goes on.
                if plan.key.at_calls(at) == Some(AtCalls::Counted) {
                    let whole = (0..numbering.end()).filter_map(|n| numbering.path(&cfg, n)).find(|p| {
                        p.start == start && p.blocks.starts_with(&blocks) && p.edges.starts_with(&edges)
                    });
                    let Some(whole) = whole else { return Err(TestCaseError::fail("counted what is no path")) };
                    (blocks, edges) = (whole.blocks, whole.edges);
                }
                note(start, &mut blocks, &mut edges);
            }
        }
        let by_machine = run(&f, &cfg, &plan, &mut walks);
        let profile = recover(&f, &cfg, &plan, &by_machine);
        let mut found: BTreeMap<(PathStart, Vec<Block>, Vec<Edge>), i64> = BTreeMap::new();
        for &(number, count) in &profile.paths {
            let path = numbering.path(&cfg, number).unwrap();
            *found.entry((path.start, path.blocks, path.edges)).or_default() += count as i64;
        }
        for pending in &profile.pending {
            let block = f.calls[pending.site].block;
            let path = numbering.path_along(&cfg, &numbering.arcs_up_to(block, pending.prefix).unwrap());
            *found.entry((path.start, path.blocks, path.edges)).or_default() += pending.count;
        }
        prop_assert_eq!(found, expected);
    }

    /// Without registers, profiles are exact or say that they are not; where nobody came to life they are never wrong.
    #[test]
    fn lost_registers_are_made_up_for_or_flagged((f, cfg, mut walks, weighting, options) in cases()) {
        walks.retain(|w| w.from == From::Entry);
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        let mut by_machine = run(&f, &cfg, &plan, &mut walks);
        for entry in &mut by_machine.abandoned {
            entry.register = None;
        }
        let (truth, _) = observe(&f, &cfg, &walks).unwrap();
        let profile = recover(&f, &cfg, &plan, &by_machine);
        if profile.counts.flaws.is_empty() {
            prop_assert_eq!(profile.counts, truth);
        } else {
            prop_assert_eq!(&profile.counts.flaws, &[Flaw::UnknownExit]);
            prop_assert!(!profile.unresolved.is_empty());
        }
    }

    /// With context: derived counts are the truth, under both placements; numbers are those of a register that adds up
    /// the plain values along the walk.
    #[test]
    fn context_profiles_are_exact((f, cfg, mut walks, weighting, options) in cases()) {
        let clever = match path::plan_context(&f, &cfg, &weighting, options) {
            Err(PathError::Irreducible(_)) => return Ok(()),
            clever => clever.unwrap(),
        };
        let naive = path::naively(&f, &cfg, &weighting, &clever).unwrap();
        let by_clever = run(&f, &cfg, &clever, &mut walks);
        let by_naive = run(&f, &cfg, &naive, &mut walks);
        let (truth, _) = observe(&f, &cfg, &walks).unwrap();
        let profile = recover(&f, &cfg, &clever, &by_clever);
        prop_assert_eq!(&profile.counts, &truth);
        prop_assert_eq!(&recover(&f, &cfg, &naive, &by_naive).counts, &truth);
        if by_clever.abandoned.is_empty() {
            prop_assert_eq!(&profile.paths, &by_naive.table);
        }
        walks.retain(|w| w.from == From::Entry && w.until == Until::Exit);
        let numbering = Numbering::new(&f, &cfg, &clever.key.cuts).unwrap();
        prop_assert_eq!(run(&f, &cfg, &clever, &mut walks).table, by_values(&cfg, &numbering, &walks));
    }

    /// Without registers, profiles with context are exact or say that they are not.
    #[test]
    fn context_profiles_make_up_for_lost_registers((f, cfg, mut walks, weighting, options) in cases()) {
        walks.retain(|w| w.from == From::Entry);
        let plan = match path::plan_context(&f, &cfg, &weighting, options) {
            Err(PathError::Irreducible(_)) => return Ok(()),
            plan => plan.unwrap(),
        };
        let mut by_machine = run(&f, &cfg, &plan, &mut walks);
        for entry in &mut by_machine.abandoned {
            entry.register = None;
        }
        let profile = recover(&f, &cfg, &plan, &by_machine);
        if profile.counts.flaws.is_empty() {
            prop_assert_eq!(profile.counts, observe(&f, &cfg, &walks).unwrap().0);
        } else {
            prop_assert_eq!(&profile.counts.flaws, &[Flaw::UnknownExit]);
        }
    }

    /// No probe stands where the back end could not put it, or would run more often than it means.
    #[test]
    fn places_can_be_built((f, cfg, _, weighting, options) in cases()) {
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        for placed in &plan.probes {
            if let Place::Edge(e) = placed.place {
                prop_assert!(f.splittable(e));
                prop_assert!(cfg.succs(cfg.src(e)).len() > 1 || f.sites_of(cfg.src(e)).any(|(_, s)| s.terminator));
            }
            if let Place::End(b) = placed.place {
                prop_assert_eq!(cfg.succs(b).len(), 1);
                prop_assert!(f.sites_of(b).all(|(_, s)| !s.terminator));
            }
            prop_assert!(matches!(placed.probe, Probe::Set(..) | Probe::Add(..) | Probe::CountPath(..) | Probe::Count(_)));
        }
        // What the register holds at a call's second return would be hard to say.
        for site in f.sites().filter(|s| s.returns_twice) {
            prop_assert!(!matches!(plan.key.at_calls(site.block), Some(AtCalls::Query(_))));
        }
        let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        let measures: Vec<Measure> = numbering.graph().self_loops().iter().map(|&e| Measure::Edge(e)).collect();
        prop_assert_eq!(plan.key.self_loops.measures, measures);
    }
}

fn case(blocks: usize, edges: &[(usize, usize)], sites: &[(usize, bool)]) -> (Function, Cfg) {
    let edges: Vec<_> = edges.iter().map(|&(a, b)| (a, b, true)).collect();
    let function = random::function(blocks, &edges, sites);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

fn plan_of((f, cfg): &(Function, Cfg)) -> (PathPlan, Numbering) {
    let plan = path::plan(f, cfg, &Weighting::heuristic(cfg), PathOptions::default()).unwrap();
    let numbering = Numbering::new(f, cfg, &plan.key.cuts).unwrap();
    (plan, numbering)
}

/// Paths as text: letters for blocks.
fn spell(path: &path::Path) -> String {
    path.blocks.iter().map(|b| char::from(b'A' + u8::try_from(b.0).unwrap())).collect()
}

/// A→B, A→C, B→C, B→D, C→D, D→E, D→F, E→F.
const SIX: [(usize, usize); 9] = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (5, 6)];

#[test]
fn six_paths_numbered_0_to_5() {
    let example = case(6, &SIX, &[]);
    let (plan, numbering) = plan_of(&example);
    assert_eq!((plan.key.paths, plan.key.cuts.edges.len()), (6, 0));
    let spelled: BTreeSet<String> = (0..6).map(|n| spell(&numbering.path(&example.1, n).unwrap())).collect();
    let expected = ["ABCDEF", "ABCDF", "ABDEF", "ABDF", "ACDEF", "ACDF"].map(String::from);
    assert_eq!(spelled, BTreeSet::from(expected));
    assert!((0..6).all(|n| numbering.path(&example.1, n).unwrap().class() == PathClass::EntryToExit));
    let counts = plan.probes.iter().filter(|p| matches!(p.probe, Probe::CountPath(..)));
    assert!(counts.count() <= 2, "{plan:?}");
}

#[test]
fn a_loop_has_two_paths_of_each_class() {
    // A→B, B→C, B→D, C→E, D→E, E→B, E→F.
    let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (5, 6)];
    let example = case(6, &edges, &[]);
    let (plan, numbering) = plan_of(&example);
    assert_eq!((plan.key.paths, plan.key.cuts.edges.clone()), (8, vec![Edge(5)]));
    let mut classes: BTreeMap<PathClass, BTreeSet<String>> = BTreeMap::new();
    for n in 0..8 {
        let path = numbering.path(&example.1, n).unwrap();
        classes.entry(path.class()).or_default().insert(spell(&path));
    }
    let set = |a: &str, b: &str| BTreeSet::from([a.to_string(), b.to_string()]);
    assert_eq!(classes[&PathClass::EntryToExit], set("ABCEF", "ABDEF"));
    assert_eq!(classes[&PathClass::EntryToBackedge], set("ABCE", "ABDE"));
    assert_eq!(classes[&PathClass::BackedgeToBackedge], set("BCE", "BDE"));
    assert_eq!(classes[&PathClass::BackedgeToExit], set("BCEF", "BDEF"));
}

#[test]
fn a_self_loop_is_counted_apart() {
    let example = case(3, &[(0, 1), (1, 1), (1, 2), (2, 3)], &[]);
    let (plan, _) = plan_of(&example);
    assert_eq!((plan.key.paths, plan.key.cuts.edges.len(), plan.key.cuts.blocks.len()), (1, 0, 0));
    assert_eq!(plan.key.self_loops.measures, [Measure::Edge(Edge(1))]);
}

#[test]
fn the_successor_with_most_paths_is_visited_last() {
    // 0 goes to 1 (four paths) or 4 (one): the edges are worth 1 and 0.
    let edges = [(0, 1), (0, 4), (1, 2), (1, 2), (2, 3), (2, 3), (3, 4), (4, 5)];
    let (_, numbering) = plan_of(&case(5, &edges, &[]));
    let graph = numbering.graph();
    let value =
        |e: u32| (0..graph.arc_count()).find(|&a| graph.role(a) == Role::Real(Edge(e))).map(|a| numbering.value(a));
    assert_eq!((value(0), value(1)), (Some(1), Some(0)));
}

/// A path that ends in `abort` is counted before the call, in either block.
#[test]
fn cold_ends_are_counted_before_the_call() {
    let mut example = case(3, &[(0, 1), (0, 2), (1, 3), (2, 3)], &[(1, false), (2, false)]);
    example.0.calls.update(|id, call| call.no_return = id.0 == 1);
    let (plan, _) = plan_of(&example);
    assert_eq!(plan.key.calls, [(Block(1), AtCalls::Counted), (Block(2), AtCalls::Counted)]);
    let walk = GraphWalk { from: From::Entry, edges: vec![Edge(1)], until: Until::Site(cotree_core::ids::Site(1)) };
    let mut walks = vec![walk];
    let by_machine = run(&example.0, &example.1, &plan, &mut walks);
    let profile = recover(&example.0, &example.1, &plan, &by_machine);
    assert_eq!(profile.counts, observe(&example.0, &example.1, &walks).unwrap().0);
    assert_eq!((profile.paths.len(), profile.cut_short.len()), (1, 1));
}

/// A→B or A→C, both →D: the loop D→E→D or D→F→D, D→G. After B all turns go by E, after C by F.
#[test]
fn context_tells_how_the_loop_was_reached() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 3), (5, 3), (3, 6), (6, 7)];
    let (f, cfg) = case(7, &edges, &[]);
    let weighting = Weighting::heuristic(&cfg);
    let plan = path::plan_context(&f, &cfg, &weighting, PathOptions::default()).unwrap();
    // Each of B and C: the first turn or a later one, then E, F or G.
    assert_eq!(plan.key.paths, 12);
    let walk = |edges: &[u32]| GraphWalk {
        from: From::Entry,
        edges: edges.iter().map(|&e| Edge(e)).collect(),
        until: Until::Exit,
    };
    let mut walks =
        vec![walk(&[0, 2, 4, 6, 4, 6, 4, 6, 8, 9]), walk(&[1, 3, 5, 7, 5, 7, 8, 9]), walk(&[1, 3, 5, 7, 8, 9])];
    let by_machine = run(&f, &cfg, &plan, &mut walks);
    let profile = recover(&f, &cfg, &plan, &by_machine);
    assert_eq!(profile.counts, observe(&f, &cfg, &walks).unwrap().0);
    let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
    let told = profile.paths.iter().map(|&(number, count)| {
        let path = numbering.path(&cfg, number).unwrap();
        let context: Vec<u32> = path.context.iter().map(|e| e.0).collect();
        format!("{context:?} {} {count}", spell(&path))
    });
    assert_eq!(
        told.collect::<BTreeSet<_>>(),
        BTreeSet::from(
            ["[] ABDE 1", "[0, 2] DE 2", "[0, 2] DG 1", "[] ACDF 2", "[1, 3] DF 1", "[1, 3] DG 2"].map(String::from)
        )
    );
    // A plain path profile can't tell the two edges out apart.
    let (plain, numbering) = plan_of(&(f.clone(), cfg.clone()));
    let by_machine = run(&f, &cfg, &plain, &mut walks);
    let profile = recover(&f, &cfg, &plain, &by_machine);
    let out = |&&(n, _): &&(u64, u64)| spell(&numbering.path(&cfg, n).unwrap()) == "DG";
    assert_eq!(profile.paths.iter().filter(out).map(|p| p.1).collect::<Vec<_>>(), [3]);
}

#[test]
fn irreducible_loops_have_no_context() {
    let (f, cfg) = case(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3), (3, 4)], &[]);
    let refused = path::plan_context(&f, &cfg, &Weighting::heuristic(&cfg), PathOptions::default());
    assert_eq!(refused, Err(PathError::Irreducible(Block(1))));
}

/// The generator makes what the tests above claim to cover.
#[test]
fn random_cases_are_rich() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..1000 {
        let (f, cfg, mut walks, weighting, options) = cases().new_tree(&mut runner).unwrap().current();
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        let uncut = path::plan(&f, &cfg, &weighting, PathOptions::default()).unwrap();
        let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        let mut by_machine = run(&f, &cfg, &plan, &mut walks);
        let profile = recover(&f, &cfg, &plan, &by_machine);
        for entry in &mut by_machine.abandoned {
            entry.register = None;
        }
        let lost = recover(&f, &cfg, &plan, &by_machine);
        let graph = numbering.graph();
        let roles = |wanted: fn(Role) -> bool| (0..graph.arc_count()).filter(|&a| wanted(graph.role(a))).count();
        let calls = |wanted: fn(AtCalls) -> bool| plan.key.calls.iter().filter(|c| wanted(c.1)).count();
        for (what, n) in [
            ("dispatch nodes", roles(|r| matches!(r, Role::ToDispatch(_)))),
            ("cut edges", plan.key.cuts.edges.len()),
            ("cut blocks", plan.key.cuts.blocks.len()),
            (
                "cuts for their number",
                plan.key.cuts.edges.len() - uncut.key.cuts.edges.len().min(plan.key.cuts.edges.len()),
            ),
            ("self-loops", graph.self_loops().len()),
            ("query", calls(|c| matches!(c, AtCalls::Query(_)))),
            ("known", calls(|c| matches!(c, AtCalls::Known(_)))),
            ("counted", calls(|c| matches!(c, AtCalls::Counted))),
            ("revived", walks.iter().filter(|w| matches!(w.from, From::Site(_))).count()),
            ("pending", profile.pending.len()),
            ("cut short", profile.cut_short.len()),
            ("paths", profile.paths.len()),
            ("contexts", path::plan_context(&f, &cfg, &weighting, options).map_or(0, |plan| copies(&plan).count())),
            ("lost but found", usize::from(!lost.unresolved.is_empty() && lost.counts.flaws.is_empty())),
            ("lost and flagged", usize::from(lost.counts.flaws.contains(&Flaw::UnknownExit))),
        ] {
            *seen.entry(what).or_default() += n;
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.values().all(|&n| n > 20), "{seen:?}");
}
