//! The figures of Ball & Larus 1994 that belong to tracing. Our copy of the paper has lost the drawings of Figs 15, 16
//! and 18: the graphs here are those that its text describes.

use crate::paper_witnesses::{
    Ambiguity, blockers, blocks, check, place, place_unblocked, regenerate, without_needless, witness_set,
};
use crate::{random, structured};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge, FunctionId};
use cotree_core::interpret::Frames;
use cotree_core::method::trace::stream::Control;
use cotree_core::method::trace::{
    Encoding, Event, Reader, Tables, TraceBy, TraceCalls, TraceError, TraceKey, TraceOptions, TracePlan, plan_functions,
};
use cotree_core::probe::Probe;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// A graph with named vertices, the last of which is EXIT; weights follow the edges.
struct Figure {
    names: Vec<&'static str>,
    cfg: Cfg,
    weighting: Weighting,
}

impl Figure {
    fn new(names: &'static str, edges: &[(&str, f64)]) -> Self {
        let names: Vec<&str> = names.split(' ').collect();
        let number = |name: &str| Block::new(names.iter().position(|&n| n == name).unwrap());
        let ends = |(edge, _): &(&str, f64)| {
            let (src, dst) = edge.split_once('→').unwrap();
            (number(src), number(dst))
        };
        let cfg = Cfg::new(names.len() - 1, edges.iter().map(ends)).unwrap();
        let weighting = Weighting::new(&cfg, edges.iter().map(|edge| edge.1).chain([1.0]).collect());
        Self { names, cfg, weighting }
    }

    fn block(&self, name: &str) -> Block {
        Block::new(self.names.iter().position(|&n| n == name).unwrap())
    }

    fn edges(&self, names: &str) -> Vec<Edge> {
        let edge = |name: &str| {
            let (src, dst) = name.split_once('→').unwrap();
            let leads = |edge: &&Edge| self.cfg.dst(**edge) == self.block(dst);
            *self.cfg.succs(self.block(src)).iter().find(leads).unwrap()
        };
        let mut edges: Vec<Edge> = names.split(' ').map(edge).collect();
        edges.sort_unstable();
        edges
    }

    fn is_one_of(&self, names: &str) -> impl Fn(Block) -> bool {
        let blocks: Vec<Block> = names.split(' ').map(|name| self.block(name)).collect();
        move |block| blocks.contains(&block)
    }

    fn execution(&self, names: &str) -> Vec<Block> {
        names.split(' ').map(|name| self.block(name)).collect()
    }

    /// The witnesses that an execution writes.
    fn trace(&self, execution: &[Block], witnesses: &[Edge]) -> Vec<Edge> {
        let edge = |pair: &[Block]| {
            let leads = |edge: &&Edge| self.cfg.dst(**edge) == pair[1];
            *self.cfg.succs(pair[0]).iter().find(leads).unwrap()
        };
        execution.windows(2).map(edge).filter(|edge| witnesses.contains(edge)).collect()
    }

    /// The figure as a function, in which some vertices call who knows whom.
    fn function(&self, calls: &str) -> Function {
        let edges = self.cfg.edges().filter(|&edge| edge != self.cfg.exit_edge());
        let edges: Vec<_> = edges.map(|edge| (self.cfg.src(edge).index(), self.cfg.dst(edge).index(), true)).collect();
        let sites: Vec<_> =
            calls.split(' ').filter(|name| !name.is_empty()).map(|name| (self.block(name).index(), false)).collect();
        random::function(self.names.len() - 1, &edges, &sites)
    }

    /// What is shipped makes of that.
    fn plan(&self, function: &Function, encoding: Encoding) -> TracePlan {
        let calls = TraceCalls { records_entry: true, ..TraceCalls::default() };
        let options = TraceOptions { by: TraceBy::Only(encoding), ..TraceOptions::default() };
        let mut plans = plan_functions(&[(function, &self.cfg, self.weighting.clone())], vec![calls], options).unwrap();
        let plan = plans.remove(0);
        assert_eq!(plan.key.encoding, encoding);
        plan
    }

    /// The bytes that an execution without calls writes by a key of witnesses.
    fn stream(&self, execution: &[Block], key: &TraceKey) -> Vec<u8> {
        let mut stream = Vec::new();
        Control::Entered(FunctionId(0)).write(&mut stream);
        let value = |edge: Edge| key.witnesses.iter().find(|witness| witness.0 == edge).unwrap().1 as u8;
        let edges: Vec<Edge> = key.witnesses.iter().map(|witness| witness.0).collect();
        stream.extend(self.trace(execution, &edges).into_iter().map(value));
        stream
    }

    fn cost(&self, witnesses: &[Edge]) -> f64 {
        witnesses.iter().map(|&edge| self.weighting.edge(edge)).sum()
    }
}

fn figure_13() -> Figure {
    let edges = ["P→A", "P→B", "B→A", "B→C", "A→C", "C→P", "C→EXIT"].map(|edge| (edge, 1.0));
    Figure::new("P A B C EXIT", &edges)
}

#[test]
fn figure_13_has_these_witness_sets() {
    let figure = figure_13();
    let witnesses = figure.edges("P→A B→A B→C");
    let [t, u, v] = ["P→A", "B→A", "B→C"].map(|name| figure.edges(name)[0]);
    let set = |edge: &str| witness_set(&figure.cfg, &witnesses, figure.edges(edge)[0]).into_iter().collect::<Vec<_>>();
    assert_eq!(set("P→A"), [Some(t)]);
    assert_eq!(set("P→B"), [Some(u), Some(v)]);
    assert_eq!(set("B→A"), [Some(u)]);
    assert_eq!(set("B→C"), [Some(v)]);
    assert_eq!(set("C→P"), [Some(t), Some(u), Some(v)]);
    assert_eq!(set("C→EXIT"), [None]);
    assert_eq!(check(&figure.cfg, &witnesses), Ok(()));
}

#[test]
fn figure_13_is_regenerated() {
    let figure = figure_13();
    let witnesses = figure.edges("P→A B→A B→C");
    let execution = figure.execution("P A C P B A C P B C EXIT");
    let trace = figure.trace(&execution, &witnesses);
    assert_eq!(trace, ["P→A", "B→A", "B→C"].map(|name| figure.edges(name)[0]));
    assert_eq!(regenerate(&figure.cfg, &witnesses, &trace), Some(execution));
    assert_eq!(regenerate(&figure.cfg, &witnesses, &trace[1..2]), Some(figure.execution("P B A C EXIT")));
}

#[test]
fn figure_13_without_a_witness_is_ambiguous() {
    let figure = figure_13();
    let witnesses = figure.edges("B→A B→C");
    let [a, b] = ["P A C P B C EXIT", "P B C EXIT"].map(|names| figure.trace(&figure.execution(names), &witnesses));
    assert_eq!(a, b, "two executions leave the same trace");
    let ambiguity = check(&figure.cfg, &witnesses).unwrap_err();
    let edges = figure.edges("P→A P→B");
    assert_eq!((ambiguity.predicate, ambiguity.edges), (figure.block("P"), (edges[0], edges[1])));
    for dropped in ["P→A", "B→A", "B→C"] {
        let rest: Vec<Edge> =
            figure.edges("P→A B→A B→C").into_iter().filter(|edge| *edge != figure.edges(dropped)[0]).collect();
        assert!(matches!(check(&figure.cfg, &rest), Err(Ambiguity { .. })), "without {dropped}");
    }
}

/// B, H and I call. Blocking each edge to a call leaves a witness on H→I that is not needed, and one on G→I (2) where
/// one on B→E (1) does.
fn figure_15() -> Figure {
    Figure::new(
        "A B C D E F G H I EXIT",
        &[
            ("A→B", 2.0),
            ("A→C", 2.0),
            ("B→D", 1.0),
            ("B→E", 1.0),
            ("C→F", 1.0),
            ("C→H", 1.0),
            ("D→EXIT", 1.0),
            ("E→G", 1.0),
            ("F→G", 1.0),
            ("G→I", 2.0),
            ("H→I", 1.0),
            ("I→EXIT", 3.0),
        ],
    )
}

#[test]
fn figure_15_blocks_far_from_calls() {
    let figure = figure_15();
    let calls = figure.is_one_of("B H I");
    assert_eq!(blockers(&figure.cfg, figure.block("I")), figure.edges("B→E C→F C→H"));
    assert_eq!(blockers(&figure.cfg, figure.block("B")), figure.edges("A→B"));
    let near = figure.edges("A→B C→H G→I H→I B→D");
    assert!(check(&figure.cfg, &near).is_err() || blocks(&figure.cfg, &near, &calls));
    let far = place(&figure.cfg, &figure.weighting, &calls);
    assert_eq!(check(&figure.cfg, &far), Ok(()));
    assert!(blocks(&figure.cfg, &far, &calls));
    assert!(!far.contains(&figure.edges("H→I")[0]) && !far.contains(&figure.edges("G→I")[0]));
    assert!(far.contains(&figure.edges("B→D")[0]) && far.contains(&figure.edges("B→E")[0]));
    assert!(figure.cost(&far) < figure.cost(&near));
}

/// The two paths to D, one of which calls in C, join in D, which has two successors. Blocking comes first: the other
/// order costs more.
fn figure_16() -> Figure {
    Figure::new(
        "A B C D E EXIT",
        &[("A→B", 1.0), ("A→C", 1.0), ("B→D", 1.0), ("C→D", 1.0), ("D→E", 1.0), ("E→EXIT", 1.0)],
    )
}

#[test]
fn figure_16_blocks_first() {
    let figure = figure_16();
    let calls = figure.is_one_of("C");
    let block_first = place(&figure.cfg, &figure.weighting, &calls);
    assert_eq!(check(&figure.cfg, &block_first), Ok(()));
    assert!(blocks(&figure.cfg, &block_first, &calls));
    assert_eq!(block_first, figure.edges("A→B A→C"), "the path that does not call leads to EXIT");
    // A tree alone leaves a single witness anywhere on the diamond, and blocking then adds to it.
    let tree_first = place_unblocked(&figure.cfg, &figure.weighting);
    assert_eq!(tree_first.len(), 1);
    assert_eq!(check(&figure.cfg, &tree_first), Ok(()));
    assert!(!blocks(&figure.cfg, &tree_first, &calls));
}

fn edges_of(key: &TraceKey) -> Vec<Edge> {
    key.witnesses.iter().map(|witness| witness.0).collect()
}

/// Figure 13 behind an entry of its own. EXIT is blocked, so a witness on C→EXIT stands for EOF.
#[test]
fn figure_13_is_what_is_shipped() {
    let edges = ["ROOT→P", "P→A", "P→B", "B→A", "B→C", "A→C", "C→P", "C→EXIT"];
    // The cheapest places are those of the figure.
    let weights = [1.0, 4.0, 6.0, 3.0, 3.0, 7.0, 9.0, 1.0];
    let all: Vec<_> = edges.into_iter().zip(weights).collect();
    let figure = Figure::new("ROOT P A B C EXIT", &all);
    let function = figure.function("");
    let key = figure.plan(&function, Encoding::EachWitness).key;
    assert_eq!(edges_of(&key), figure.edges("P→A B→A B→C C→EXIT"));
    let execution = figure.execution("ROOT P A C P B A C P B C EXIT");
    assert_eq!(
        figure.trace(&execution, &edges_of(&key)),
        ["P→A", "B→A", "B→C", "C→EXIT"].map(|name| figure.edges(name)[0]),
    );
    let tables = [Some(Tables::new(&function, &key).unwrap())];
    let stream = figure.stream(&execution, &key);
    let mut reader = Reader::new(&tables, &stream[..], Frames);
    let mut found = Vec::new();
    while let Some(event) = reader.next().unwrap() {
        found.extend(match event {
            Event::Block { block, .. } => Some(block),
            Event::Leave { .. } => Some(figure.block("EXIT")),
            _ => None,
        });
    }
    assert_eq!(found, execution);
    for dropped in 0..key.witnesses.len() {
        let mut rest = key.clone();
        rest.witnesses.remove(dropped);
        // Two executions leave the same trace: that of a turn and of none if nothing is written in the loop.
        let error = Tables::new(&function, &rest).unwrap_err();
        assert!(matches!(error, TraceError::Ambiguous | TraceError::Endless), "without witness {dropped}: {error}");
    }
}

#[test]
fn figures_15_and_16_are_what_is_shipped() {
    let figure = figure_15();
    let key = figure.plan(&figure.function("B H I"), Encoding::EachWitness).key;
    assert_eq!(edges_of(&key), figure.edges("A→B B→D B→E C→F C→H"));
    let figure = figure_16();
    let key = figure.plan(&figure.function("C"), Encoding::EachWitness).key;
    assert_eq!(edges_of(&key), figure.edges("A→B A→C"));
}

/// Figure 18: a loop of three predicates. Its four witnesses need different values, so two bits each, and an iteration
/// writes one or two of them. By bits for each branch an iteration writes three.
#[test]
fn figure_18_trades_witnesses_for_bits() {
    let figure = Figure::new(
        "ROOT P A B Q C D R EXIT",
        &[
            ("ROOT→P", 1.0),
            ("P→A", 4.0),
            ("P→B", 6.0),
            ("A→Q", 4.0),
            ("B→Q", 6.0),
            ("Q→C", 4.0),
            ("Q→D", 6.0),
            ("C→R", 4.0),
            ("D→R", 6.0),
            ("R→P", 9.0),
            ("R→EXIT", 1.0),
        ],
    );
    let function = figure.function("");
    let witnesses = figure.plan(&function, Encoding::EachWitness).key.witnesses;
    let mut values: Vec<u32> = witnesses.iter().map(|witness| witness.1).collect();
    values.sort_unstable();
    assert_eq!(values, [0, 1, 2, 3]);
    let edges: Vec<Edge> = witnesses.iter().map(|witness| witness.0).collect();
    let mut bits = Vec::new();
    for turn in ["P A Q C R P", "P A Q D R P", "P B Q C R P", "P B Q D R P"] {
        bits.push(2 * figure.trace(&figure.execution(turn), &edges).len());
    }
    bits.sort_unstable();
    assert_eq!(bits, [2, 2, 4, 4]);

    let plan = figure.plan(&function, Encoding::EachBranch);
    let all = plan.probes.iter().filter(|placed| matches!(placed.probe, Probe::EmitBits { bits: 1, .. })).count();
    assert_eq!(all, 6, "both edges out of each predicate write a bit: {:?}", plan.probes);
    assert_eq!(plan.probes.len(), all + 1, "and the function its entry");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The paper's placement solves `Trace(Ewit)` and blocks, and of what is left without needless witnesses none can
    /// be dropped. The cheapest set of all costs as much or less: to find it is NP-complete.
    #[test]
    fn placements_suffice_and_none_is_needless(
        edges in prop::collection::vec((0..4u32, 1..=4u32, 1..9u8), 1..8),
        calls in 0..16u32,
    ) {
        let mut all: Vec<(Block, Block, f64)> =
            edges.iter().map(|&(src, dst, weight)| (Block(src), Block(dst), f64::from(weight))).collect();
        // Every vertex leads to EXIT.
        all.extend((0..4).map(|block| (Block(block), Block(4), 1.0)));
        let cfg = Cfg::new(4, all.iter().map(|&(src, dst, _)| (src, dst))).unwrap();
        let weighting = Weighting::new(&cfg, all.iter().map(|edge| edge.2).chain([1.0]).collect());
        let ends = |block: Block| block.0 < 4 && calls >> block.0 & 1 == 1;
        let cost = |edges: &[Edge]| edges.iter().map(|&edge| weighting.edge(edge)).sum::<f64>();
        let solves = |edges: &[Edge]| check(&cfg, edges).is_ok() && blocks(&cfg, edges, ends);

        let placed = place(&cfg, &weighting, ends);
        prop_assert!(solves(&placed));
        let reduced = without_needless(&cfg, &weighting, placed.clone(), |edges| blocks(&cfg, edges, ends));
        prop_assert!(solves(&reduced));
        prop_assert!(cost(&reduced) <= cost(&placed));
        for dropped in &reduced {
            let rest: Vec<Edge> = reduced.iter().copied().filter(|edge| edge != dropped).collect();
            prop_assert!(!solves(&rest), "{} is needless", dropped);
        }
        // Brute force: the cheapest of all sets.
        let count = cfg.edge_count() - 1;
        let sets = (0..1u32 << count).map(|set| {
            (0..count as u32).filter(|edge| set >> edge & 1 == 1).map(Edge).collect::<Vec<_>>()
        });
        let least = sets.filter(|set| solves(set)).map(|set| cost(set.as_slice())).fold(f64::INFINITY, f64::min);
        prop_assert!(least <= cost(&reduced));
    }

    /// What is shipped solves `Trace(Ewit)` and blocks, too, at no more cost, and none of its witnesses can be dropped.
    #[test]
    fn shipped_placements_suffice(edges in prop::collection::vec((1..6usize, 1..=6usize, 1..9u8), 1..12)) {
        let mut all = vec![(0, 1, 1.0)];
        all.extend(edges.iter().map(|&(src, dst, weight)| (src, dst, f64::from(weight))));
        // Every vertex leads to EXIT.
        all.extend((1..6).map(|block| (block, 6, 1.0)));
        let splittable: Vec<_> = all.iter().map(|edge| (edge.0, edge.1, true)).collect();
        let function = random::function(6, &splittable, &[]);
        let cfg = function.cfg().unwrap();
        let weighting = Weighting::new(&cfg, all.iter().map(|edge| edge.2).chain([1.0]).collect());
        let cost = |edges: &[Edge]| edges.iter().map(|&edge| weighting.edge(edge)).sum::<f64>();
        let figure = Figure { names: vec![""; 7], cfg: cfg.clone(), weighting: weighting.clone() };
        let shipped = edges_of(&figure.plan(&function, Encoding::EachWitness).key);
        prop_assert_eq!(check(&cfg, &shipped), Ok(()));
        prop_assert!(blocks(&cfg, &shipped, |_| false));
        prop_assert!(cost(&shipped) <= cost(&place(&cfg, &weighting, |_| false)));
        for dropped in &shipped {
            let rest: Vec<Edge> = shipped.iter().copied().filter(|edge| edge != dropped).collect();
            prop_assert!(check(&cfg, &rest).is_err() || !blocks(&cfg, &rest, |_| false), "{} is needless", dropped);
        }
    }

    /// For structured programs without calls the placement is the cheapest of all, under any weighting that obeys the
    /// law of flow: it is that of the edge profile (§4.1).
    #[test]
    fn structured_programs_have_the_cheapest_witnesses(cfg in structured::programs_without_jumps(), seed in any::<u64>()) {
        let count = cfg.edge_count() - 1;
        prop_assume!(count <= 14);
        let weighting = Weighting::new(&cfg, runs(&cfg, seed).into());
        let cost = |edges: &[Edge]| edges.iter().map(|&edge| weighting.edge(edge)).sum::<f64>();
        let placed = place_unblocked(&cfg, &weighting);
        prop_assert_eq!(check(&cfg, &placed), Ok(()));
        for set in 0..1u32 << count {
            let set: Vec<Edge> = (0..count as u32).filter(|edge| set >> edge & 1 == 1).map(Edge).collect();
            if cost(&set) < cost(&placed) {
                prop_assert!(check(&cfg, &set).is_err(), "{:?} does", set);
            }
        }
    }
}

/// How often each edge is taken in some executions.
fn runs(cfg: &Cfg, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut counts = vec![0.0; cfg.edge_count()];
    for _ in 0..20 {
        let mut at = cfg.entry();
        while at != cfg.exit() {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let successors = cfg.succs(at);
            let edge = successors[(state >> 33) as usize % successors.len()];
            counts[edge.index()] += 1.0;
            at = cfg.dst(edge);
        }
        counts[cfg.exit_edge().index()] += 1.0;
    }
    counts
}
