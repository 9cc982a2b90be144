//! Counters in registers against counters in memory.

use crate::mixed;
use crate::random;
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge};
use cotree_core::interpret::{From, GraphWalk, Machine, observe};
use cotree_core::method::counters::{CounterMethod, Measured, edge, recover};
use cotree_core::place::affine::AffineVariable;
use cotree_core::place::promotion::{promote, promotes};
use cotree_core::plan::CounterPlan;
use cotree_core::probe::{Place, Probe};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

#[derive(Debug)]
struct Case {
    function: Function,
    cfg: Cfg,
    walks: Vec<GraphWalk>,
    weighting: Weighting,
}

fn cases() -> impl Strategy<Value = Case> {
    let weights = prop::collection::vec(1u8..5, 40);
    (mixed::functions(2), random::choices(), weights).prop_map(|(function, choices, weights)| {
        let cfg = function.cfg().unwrap();
        let dfs = Dfs::new(&cfg);
        let mut walks = random::walks(&function, &cfg, &choices);
        walks.retain(|w| !matches!(w.from, From::Site(s) if !dfs.is_reached(function.calls[s].block)));
        let loops = LoopForest::new(&cfg, &dfs);
        let within = |e: Edge| loops.common(cfg.src(e), cfg.dst(e)).is_some();
        let weight = |e: Edge| f64::from(weights[e.index() % 40]) * if within(e) { 20.0 } else { 1.0 };
        let weighting = Weighting::new(&cfg, cfg.edges().map(weight).collect());
        Case { function, cfg, walks, weighting }
    })
}

fn promoted(case: &Case, plan: &CounterPlan) -> CounterPlan {
    let mut plan = plan.clone();
    promote(&case.function, &case.cfg, &case.weighting, &[], &mut plan);
    plan
}

fn run(case: &Case, plan: &CounterPlan) -> Vec<u64> {
    let mut machine = Machine::new(&case.function, &case.cfg, plan);
    for walk in &case.walks {
        machine.run(walk).unwrap();
    }
    machine.into_effects().counters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Wherever an activation ends early or comes to life, nothing is pending in a register.
    #[test]
    fn registers_and_memory_agree(case in cases()) {
        let Case { function, cfg, walks, weighting } = &case;
        let plan = edge::plan(function, cfg, weighting);
        let kept = promoted(&case, &plan);
        prop_assert_eq!(&kept.key.measures, &plan.key.measures);
        let counts = run(&case, &kept);
        prop_assert_eq!(&counts, &run(&case, &plan));
        let (truth, early) = observe(function, cfg, walks).unwrap();
        prop_assert_eq!(recover(CounterMethod::Edge, cfg, Measured { function, key: &kept.key, counts: &counts, early: &early }).unwrap(), truth);
    }

    /// What is added when a loop is left stands where code can be put, and outside of all that counts.
    #[test]
    fn places_can_be_built(case in cases()) {
        let Case { function, cfg, weighting, .. } = &case;
        let loops = LoopForest::new(cfg, &Dfs::new(cfg));
        for placed in promoted(&case, &edge::plan(function, cfg, weighting)).probes {
            let Probe::AddTo(..) = placed.probe else { continue };
            match placed.place {
                Place::Start(b) => {
                    let from: Vec<_> = cfg.preds(b).iter().map(|&e| loops.innermost(cfg.src(e)).unwrap()).collect();
                    prop_assert!(from.iter().all(|&l| l == from[0] && !loops.contains(l, b)), "{:?}", placed);
                }
                Place::Edge(e) => prop_assert!(function.splittable(e) && loops.outermost_left(e).is_some(), "{:?}", placed),
                Place::End(_) | Place::Call(_) | Place::After(_) => prop_assert!(false, "{:?}", placed),
            }
        }
    }
}

#[test]
fn random_loops_are_promoted() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut counted, mut shared, mut split, mut with_sites) = (0, 0, 0, 0);
    for _ in 0..1000 {
        let case = cases().new_tree(&mut runner).unwrap().current();
        let plan = promoted(&case, &edge::plan(&case.function, &case.cfg, &case.weighting));
        let added = |p: &&cotree_core::probe::PlacedProbe| matches!(p.probe, Probe::AddTo(..));
        with_sites += usize::from(promotes(&plan) && !case.function.calls.is_empty());
        for placed in plan.probes.iter().filter(added) {
            match placed.place {
                Place::Start(b) if case.cfg.preds(b).len() > 1 => shared += 1,
                Place::Edge(_) => split += 1,
                _ => {}
            }
        }
        counted += usize::from(run(&case, &plan).iter().any(|&c| c > 1) && promotes(&plan));
    }
    let seen = [counted, shared, split, with_sites];
    assert!(seen.iter().all(|&n| n > 10), "{seen:?}");
}

/// A function from blocks' successors, each block of so many instructions; the last block returns.
fn function(successors: &[&[usize]], instructions: u32, sites: &[(usize, bool)]) -> (Function, Cfg) {
    let edges: Vec<_> = successors.iter().enumerate().flat_map(|(b, s)| s.iter().map(move |&d| (b, d, true))).collect();
    let mut function = random::function(successors.len(), &edges, sites);
    for block in &mut function.blocks {
        block.instructions.total = instructions;
    }
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

/// Blocks 1 to 4 are a loop with a branch in it, entered from 0 and left to 5.
const BRANCHING: [&[usize]; 6] = [&[1], &[2, 3], &[4], &[4], &[1, 5], &[6]];

fn expected(function: &Function, cfg: &Cfg) -> CounterPlan {
    let weighting = Weighting::expected(function, cfg);
    let mut plan = edge::plan(function, cfg, &weighting);
    promote(function, cfg, &weighting, &moving(cfg), &mut plan);
    plan
}

/// A variable in each loop, of which no more is known than that it moves.
fn moving(cfg: &Cfg) -> Vec<AffineVariable> {
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    let of = |header| AffineVariable {
        name: "i".into(),
        header,
        bits: 32,
        pointer: false,
        shifted: false,
        steps: Vec::new(),
        ahead: Vec::new(),
        from_constant: false,
        never_wraps: false,
        circuits: None,
        rounds: None,
        trips: None,
        steady: Vec::new(),
    };
    loops.loops().map(|l| of(loops.header(l))).collect()
}

#[test]
fn a_tight_loop_counts_in_registers() {
    let (f, cfg) = function(&BRANCHING, 2, &[]);
    let plan = expected(&f, &cfg);
    let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
    let in_loop = |place| matches!(place, Place::Start(b) | Place::End(b) if loops.innermost(b).is_some());
    let inside = plan.probes.iter().filter(|p| in_loop(p.place));
    assert!(inside.clone().count() == 2 && inside.clone().all(|p| matches!(p.probe, Probe::Add(_, 1))), "{plan:?}");
    let left = plan.probes.iter().filter(|p| matches!(p.probe, Probe::AddTo(..)));
    assert!(left.clone().count() == 2 && left.clone().all(|p| p.place == Place::Start(Block(5))), "{plan:?}");
}

#[test]
fn others_count_in_memory() {
    let (roomy, cfg) = function(&BRANCHING, 9, &[]);
    assert!(!promotes(&expected(&roomy, &cfg)), "a loop that does much does not wait");
    let (calling, cfg) = function(&BRANCHING, 2, &[(3, false)]);
    assert!(!promotes(&expected(&calling, &cfg)), "what is in a register dies with its activation");
    let (mut returning, cfg) = function(&BRANCHING, 2, &[]);
    returning.blocks[Block(3)].instructions.calls = 1;
    assert!(!promotes(&expected(&returning, &cfg)), "a call takes longer than memory, also if it certainly comes back");
    let (searching, cfg) = function(&[&[1], &[2, 5], &[3], &[4], &[1, 5], &[6]], 2, &[]);
    assert!(!promotes(&expected(&searching, &cfg)), "a search may end at once");
    let (still, cfg) = function(&BRANCHING, 2, &[]);
    let weighting = Weighting::expected(&still, &cfg);
    let mut plan = edge::plan(&still, &cfg, &weighting);
    promote(&still, &cfg, &weighting, &[], &mut plan);
    assert!(!promotes(&plan), "where nothing moves, something is looked for");
    let (straight, cfg) = function(&[&[1, 2], &[2], &[3]], 1, &[]);
    assert!(!promotes(&expected(&straight, &cfg)));
}

/// A check that fails once is no search.
#[test]
fn exits_to_failures_are_none() {
    let (mut f, cfg) = function(&[&[1], &[2, 6], &[3], &[4], &[1, 5], &[7], &[7]], 2, &[]);
    assert!(!promotes(&expected(&f, &cfg)));
    f.edges.iter_mut().find(|edge| edge.src == Block(6)).unwrap().kind = EdgeKind::Unreachable;
    assert!(promotes(&expected(&f, &cfg)));
    let exits =
        [(1, 6), (4, 5)].map(|(from, to)| *cfg.succs(Block(from)).iter().find(|&&e| cfg.dst(e) == Block(to)).unwrap());
    assert_eq!(Weighting::expected(&f, &cfg).likely(exits.into_iter()), 1);
    assert_eq!(Weighting::uniform(&cfg).likely(exits.into_iter()), 2);
}

/// Measured weights say how often a loop runs, with several exits, too.
#[test]
fn measured_trips_decide() {
    let (f, cfg) = function(&[&[1], &[2, 5], &[3], &[4], &[1, 5], &[6]], 2, &[]);
    let plan = |trips: f64| {
        let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
        let within = |e: Edge| loops.common(cfg.src(e), cfg.dst(e)).is_some();
        let weighting = Weighting::new(&cfg, cfg.edges().map(|e| if within(e) { trips } else { 1.0 }).collect());
        let mut plan = edge::plan(&f, &cfg, &weighting);
        promote(&f, &cfg, &weighting, &[], &mut plan);
        plan
    };
    assert!(promotes(&plan(50.0)));
    assert!(!promotes(&plan(1.0)));
}

/// A loop behind so many others that registers are short.
#[test]
fn large_functions_are_left_alone() {
    let of = |blocks: usize| {
        let line: Vec<[usize; 1]> = (1..=blocks).map(|next| [next]).collect();
        let mut successors: Vec<&[usize]> = line.iter().map(|next| &next[..]).collect();
        let around = [blocks - 2, blocks - 1];
        successors[blocks - 2] = &around;
        let (f, cfg) = function(&successors, 2, &[]);
        promotes(&expected(&f, &cfg))
    };
    assert!(of(20) && !of(300));
}
