//! The worked figures of Ball 1994.

use crate::random;
use cotree_core::facts::{BlockFacts, EdgeKind, Function, InstructionCounts, Module, ProgramMap, Run};
use cotree_core::ids::{Block, Edge};
use cotree_core::method::events::{EventPlan, counters_of};
use cotree_core::method::{Method, MethodPlan};
use cotree_core::probe::{Place, Probe};
use cotree_core::profile::FunctionProfile;
use cotree_core::unit::{Choices, UnitFacts, UnitPlan};
use std::collections::BTreeMap;

/// The blocks of the figures. Their order makes the paper's tree the first of those that are equally good.
const NAMES: [&str; 7] = ["P", "A", "B", "C", "Q", "R", "EXIT"];
/// The edges in the same order, and how often each runs.
const EDGES: [(&str, u64); 9] = [
    ("P Q", 105),
    ("P EXIT", 5),
    ("A R", 53),
    ("B R", 52),
    ("C P", 100),
    ("Q A", 53),
    ("Q B", 52),
    ("R C", 100),
    ("R EXIT", 5),
];

fn block(name: &str) -> Block {
    Block::new(NAMES.iter().position(|n| *n == name).unwrap())
}

fn edge(name: &str) -> Edge {
    Edge::new(EDGES.iter().position(|(edge, _)| *edge == name).unwrap())
}

/// The events of a block: every sum of them is another number.
fn events(name: &str) -> i64 {
    10i64.pow(block(name).0)
}

fn sum(blocks: &[&str]) -> i64 {
    let signed = |name: &&str| name.strip_prefix('-').map_or_else(|| events(name), |name| -events(name));
    blocks.iter().map(signed).sum()
}

fn function() -> Function {
    let ends = |(edge, _): &(&str, u64)| {
        let (from, to) = edge.split_once(' ').unwrap();
        (block(from).index(), block(to).index(), true)
    };
    let list: Vec<_> = EDGES.iter().map(ends).chain([(6, 7, true)]).collect();
    let mut function = random::function(7, &list, &[]);
    assert_eq!(function.edges[Edge(9)].kind, EdgeKind::Return);
    for name in NAMES {
        let instructions =
            InstructionCounts { total: u32::try_from(events(name)).unwrap(), ..InstructionCounts::default() };
        let runs = vec![Run { instructions, ..Run::default() }];
        function.blocks[block(name)] = BlockFacts { instructions, runs, ..BlockFacts::default() };
    }
    function
}

/// The plan with the spanning tree of the figures, which is a maximum one for the counts of an earlier run; EXIT's is
/// exaggerated, since an edge that needs a block of its own costs more than one that does not.
fn plan() -> EventPlan {
    let module = Module { functions: vec![function()], ..Module::default() };
    let map = ProgramMap { modules: vec![module], ..ProgramMap::default() };
    let counts: Vec<u64> = EDGES.iter().map(|(_, count)| *count).chain([1000]).collect();
    let entries = |name: &str| {
        let inwards = EDGES.iter().filter(|(edge, _)| edge.ends_with(&format!(" {name}")));
        inwards.map(|(_, count)| count).sum::<u64>() + if name == "P" { 10 } else { 0 }
    };
    let previous = FunctionProfile {
        entries: 10,
        blocks: NAMES.map(entries).to_vec().into(),
        edges: Some(counts.into()),
        early: Vec::new().into(),
        flaws: Vec::new(),
    };
    let facts = UnitFacts { previous: vec![Some(&previous)], ..UnitFacts::new(&map) };
    match UnitPlan::of(&facts, Method::Events, Choices::default(), false).unwrap().method {
        MethodPlan::Events(mut plan) => plan.functions.remove(0),
        _ => panic!("another method's plan"),
    }
}

fn increments(plan: &EventPlan) -> BTreeMap<Place, i64> {
    let [up, down] = counters_of(0);
    let increment = |placed: &cotree_core::probe::PlacedProbe| match placed.probe {
        Probe::CountBy(counter, by) if counter == up => (placed.place, by as i64),
        Probe::CountBy(counter, by) if counter == down => (placed.place, -(by as i64)),
        other => panic!("{other:?}"),
    };
    plan.probes.iter().map(increment).collect()
}

/// Fig. 1: the increments of the chords w, x, y and z. Q→A and Q→B are the only edges into their blocks, so x and y
/// stand there.
#[test]
fn figure_1() {
    let plan = plan();
    let [w, z] = ["P EXIT", "R EXIT"].map(|name| Place::Edge(edge(name)));
    let [x, y] = ["A", "B"].map(|name| Place::Start(block(name)));
    let expected = BTreeMap::from([
        (w, sum(&["P", "EXIT"])),
        (x, sum(&["P", "Q", "A", "R", "C"])),
        (y, sum(&["P", "Q", "B", "R", "C"])),
        (z, sum(&["-C", "EXIT"])),
    ]);
    assert_eq!(increments(&plan), expected);
    // The paper's query increments are those at the end of a block; ours are at its beginning.
    let at_end = |name: &str| plan.queries[0].at_block(block(name)) + events(name);
    assert_eq!(at_end("P"), sum(&["P"]));
    assert_eq!(at_end("Q"), sum(&["P", "Q"]));
    for name in ["A", "B"] {
        assert_eq!(at_end(name), sum(&["-R", "-C"]), "{name}: behind the chord's increment");
    }
    assert_eq!(at_end("R"), sum(&["-C"]));
    assert_eq!(at_end("C"), 0);
    // On the edge from P the counter has EXIT's events already.
    assert_eq!(at_end("EXIT"), 0);
}

/// Vertices and edges of Fig. 2: per block, the edge from where it begins to where it ends, and EXIT→P behind them.
struct Split {
    /// Ends and events of each edge.
    edges: Vec<(usize, usize, i64)>,
    chords: Vec<usize>,
}

impl Split {
    fn new() -> Self {
        let [begin, end] = [|name: &str| 2 * block(name).index(), |name: &str| 2 * block(name).index() + 1];
        let vertices = NAMES.iter().map(|name| (begin(name), end(name), events(name)));
        let between = EDGES.iter().map(|(edge, _)| {
            let (from, to) = edge.split_once(' ').unwrap();
            (end(from), begin(to), 0)
        });
        let edges = vertices.chain(between).chain([(end("EXIT"), begin("P"), 0)]).collect();
        let chords = ["P EXIT", "Q A", "Q B", "R EXIT"].map(|name| NAMES.len() + edge(name).index()).to_vec();
        Self { edges, chords }
    }

    /// The edges of the tree that lead from one vertex to another, each with whether they are taken forwards.
    fn tree_path(&self, from: usize, to: usize) -> Vec<(usize, bool)> {
        let mut open = vec![(from, Vec::new())];
        let mut seen = vec![from];
        while let Some((at, path)) = open.pop() {
            if at == to {
                return path;
            }
            for (number, &(src, dst, _)) in self.edges.iter().enumerate() {
                let next = if src == at { Some((dst, true)) } else { (dst == at).then_some((src, false)) };
                if let Some((next, forwards)) = next.filter(|(next, _)| !seen.contains(next))
                    && !self.chords.contains(&number)
                {
                    seen.push(next);
                    open.push((next, path.iter().copied().chain([(number, forwards)]).collect()));
                }
            }
        }
        panic!("the tree spans the graph");
    }

    /// What an edge *from*→*to* adds up to around its fundamental cycle.
    fn around(&self, from: usize, to: usize) -> i64 {
        self.tree_path(to, from)
            .iter()
            .map(|&(edge, forwards)| if forwards { self.edges[edge].2 } else { -self.edges[edge].2 })
            .sum()
    }
}

/// Fig. 3: each increment is the sum around the chord's fundamental cycle, and the cycles are those that are drawn.
#[test]
fn figure_3() {
    let split = Split::new();
    let blocks_in = |chord: &str| -> Vec<&str> {
        let (from, to, _) = split.edges[NAMES.len() + edge(chord).index()];
        let mut blocks: Vec<&str> = split
            .tree_path(to, from)
            .iter()
            .filter(|(edge, _)| *edge < NAMES.len())
            .map(|&(edge, _)| NAMES[edge])
            .collect();
        blocks.sort_unstable();
        blocks
    };
    assert_eq!(blocks_in("P EXIT"), ["EXIT", "P"]);
    assert_eq!(blocks_in("Q A"), ["A", "C", "P", "Q", "R"]);
    assert_eq!(blocks_in("Q B"), ["B", "C", "P", "Q", "R"]);
    assert_eq!(blocks_in("R EXIT"), ["C", "EXIT"], "P and R are not in it");
    let increments = increments(&plan());
    for (chord, place) in [
        ("P EXIT", Place::Edge(edge("P EXIT"))),
        ("Q A", Place::Start(block("A"))),
        ("Q B", Place::Start(block("B"))),
        ("R EXIT", Place::Edge(edge("R EXIT"))),
    ] {
        let (from, to, _) = split.edges[NAMES.len() + edge(chord).index()];
        assert_eq!(increments[&place], split.around(from, to), "{chord}");
    }
}

/// Fig. 5: the query increment of a point is what a further chord B′ from there to the root would add.
#[test]
fn figure_5() {
    let split = Split::new();
    let queries = &plan().queries[0];
    let around = |name: &str| split.around(2 * block(name).index() + 1, 2 * block("P").index());
    assert_eq!(around("B"), sum(&["-R", "-C"]));
    for name in NAMES {
        assert_eq!(queries.at_block(block(name)) + events(name), around(name), "{name}");
    }
}
