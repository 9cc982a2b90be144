//! The probes of the worked examples, as text.

use crate::random;
use cotree_core::ids::Block;
use cotree_core::method::path::{self, AtCalls, PathOptions, PathPlan};
use cotree_core::probe::{Place, Probe, Reg};
use cotree_core::weight::weighting::Weighting;
use std::fmt::Write;

fn name(block: Block) -> char {
    char::from(b'A' + u8::try_from(block.0).unwrap())
}

/// `r` for the path sum, `r` with the header's name for what it was when the loop was entered.
fn register(reg: Reg) -> String {
    match reg {
        Reg::LoopContext(header) => format!("r{}", name(header)),
        Reg::PathSum => "r".into(),
        other => other.to_string(),
    }
}

/// One line per place.
fn render(edges: &[(usize, usize)], plan: &PathPlan) -> String {
    let at = |place| match place {
        Place::Start(b) => format!("{}:", name(b)),
        Place::End(b) => format!("{}.", name(b)),
        Place::Edge(e) => {
            let (src, dst) = edges[e.index()];
            format!("{}→{}", name(Block::new(src)), name(Block::new(dst)))
        }
        Place::Call(call) | Place::After(call) => format!("{call}"),
    };
    let mut text = String::new();
    let mut last = None;
    for placed in &plan.probes {
        if last.replace(placed.place) != Some(placed.place) {
            write!(text, "\n{}", at(placed.place)).unwrap();
        }
        match placed.probe {
            Probe::Set(_, k) => write!(text, " r={k}"),
            Probe::Add(_, k) => write!(text, " r+={k}"),
            Probe::CountPath(_, _, 0) => write!(text, " count[r]"),
            Probe::CountPath(_, _, k) => write!(text, " count[r{k:+}]"),
            Probe::Count(c) => write!(text, " {c}"),
            Probe::Linear { to, from, times: 1, plus } => write!(text, " {}={}{plus:+}", register(to), register(from)),
            other => write!(text, " {other:?}"),
        }
        .unwrap();
    }
    for (block, calls) in &plan.key.calls {
        match calls {
            AtCalls::Query(k) => write!(text, "\ncalls of {}: r{k:+}", name(*block)),
            AtCalls::Known(k) => write!(text, "\ncalls of {}: {k}", name(*block)),
            AtCalls::Counted => write!(text, "\ncalls of {}: counted", name(*block)),
        }
        .unwrap();
    }
    text.trim_start().to_string()
}

fn probes(blocks: usize, edges: &[(usize, usize)], sites: &[(usize, bool)], context: bool) -> String {
    let all: Vec<_> = edges.iter().map(|&(a, b)| (a, b, true)).collect();
    let f = random::function(blocks, &all, sites);
    let cfg = f.cfg().unwrap();
    let plan = if context { path::plan_context } else { path::plan };
    render(edges, &plan(&f, &cfg, &Weighting::heuristic(&cfg), PathOptions::default()).unwrap())
}

#[test]
fn six_paths() {
    let edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (5, 6)];
    insta::assert_snapshot!(probes(6, &edges, &[], false), @r"
    E: count[r]
    A→C r=0
    B→C r=2
    B→D r=4
    D→F count[r+1]
    ");
}

#[test]
fn a_loop() {
    let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (5, 6)];
    insta::assert_snapshot!(probes(6, &edges, &[(0, false), (2, false), (5, false)], false), @r"
    F: count[r+1]
    A. r=0
    D. r+=2
    E→B count[r] r=4
    calls of A: 0
    calls of C: r+0
    calls of F: counted
    ");
}

#[test]
fn a_loop_with_context() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 3), (5, 3), (3, 6), (6, 7)];
    insta::assert_snapshot!(probes(7, &edges, &[(4, false), (6, false)], true), @r"
    E: count[r-2]
    F: count[r-1]
    G: count[r]
    B. r=2
    C. r=8
    B. rD=r+0
    C. rD=r+0
    E. r=rD+3
    F. r=rD+3
    calls of E: counted
    calls of G: counted
    ");
}

#[test]
fn a_self_loop() {
    insta::assert_snapshot!(probes(3, &[(0, 1), (1, 1), (1, 2), (2, 3)], &[], false), @r"
    C: r=0 count[r]
    B→B c0
    ");
}

/// `while (…) { if (…) continue; if (…) return; }`, with a straight tail.
#[test]
fn a_loop_with_a_return() {
    let edges = [(0, 1), (1, 2), (1, 6), (2, 3), (2, 4), (3, 1), (4, 5), (4, 3), (5, 6), (6, 7)];
    insta::assert_snapshot!(probes(7, &edges, &[], false), @r"
    F: count[r+2]
    A. r=0
    B→G count[r]
    C→D count[r+1]
    D. r=4
    E→D count[r+3]
    ");
}

/// The loop above, judged by a run of 1 entry and 10 turns, half of them through D.
#[test]
fn the_cost_of_a_loop() {
    use cotree_core::method::path::PathCost;
    let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (5, 6)];
    let all: Vec<_> = edges.iter().map(|&(a, b)| (a, b, true)).collect();
    let f = random::function(6, &all, &[]);
    let cfg = f.cfg().unwrap();
    let run = Weighting::new(&cfg, vec![1.0, 5.0, 5.0, 5.0, 5.0, 9.0, 1.0, 1.0, 1.0].into());
    let plan = path::plan(&f, &cfg, &Weighting::heuristic(&cfg), PathOptions::default()).unwrap();
    let mut cost = PathCost::default();
    for array in [8, 7] {
        cost += PathCost::of(&plan, &f, &cfg, &run, array);
    }
    assert_eq!((cost.functions, cost.hashed_functions, cost.probes), (2, 1, 10));
    assert_eq!((cost.path_increments, cost.hashed_increments, cost.register_updates), (20.0, 10.0, 30.0));
    assert_eq!((cost.most_paths, cost.array_entries, cost.limited_functions), (8, 8, 0));
    let few =
        path::plan(&f, &cfg, &Weighting::heuristic(&cfg), PathOptions { limit: 1, ..PathOptions::default() }).unwrap();
    assert!(few.key.paths < 8);
    assert_eq!(PathCost::of(&few, &f, &cfg, &run, 8).limited_functions, 1);
}
