//! Affine variables against brute-force truth, and the programs of Frenot & Pereira 2024.

use crate::mixed;
use crate::random;
use cotree_core::facts::{Calls, EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge, Loop, Variable};
use cotree_core::interpret::{From, GraphWalk, Machine, Until, observe};
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::counters::{CounterMethod, Measured, recover};
use cotree_core::place::affine::region::LoopRegion;
use cotree_core::place::affine::{AffineVariable, Refusal, Replacements};
use cotree_core::plan::CounterPlan;
use cotree_core::probe::{Place, Probe};
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// What a random variable is made from: a loop, an edge of it, a step, potentials, a width, noise, whether anything is
/// known of it, and which values are ahead.
type Seed = (u8, u8, i64, Vec<i64>, u32, bool, bool, u8);

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let step = prop_oneof![Just(1), Just(-1), Just(2), Just(3), Just(-5), Just(8), Just(12), Just(24), Just(-64)];
    let potentials = prop_oneof![
        3 => Just(vec![0]),
        2 => prop::collection::vec(prop_oneof![Just(0), Just(1)], 1..10),
        1 => prop::collection::vec(-20..20i64, 1..10),
    ];
    let bits = prop_oneof![4 => Just(64), 1 => Just(32), 1 => Just(8), 1 => Just(4), 1 => Just(3)];
    let seed = (
        any::<u8>(),
        any::<u8>(),
        step,
        potentials,
        bits,
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.8),
        any::<u8>(),
    );
    prop::collection::vec(seed, 0..6)
}

/// A variable that counts some edge of some loop, or (noisy) nothing.
fn variable(cfg: &Cfg, loops: &LoopForest, walks: &[GraphWalk], seed: &Seed) -> Option<AffineVariable> {
    let (l, edge, step, potentials, bits, noisy, known, ahead) = seed;
    let l = loops.loops().nth(usize::from(*l) % loops.len().max(1))?;
    let header = loops.header(l);
    let inner: Vec<Edge> = within(cfg, loops, l).collect();
    let edge = inner[usize::from(*edge) % inner.len()];
    let potential = |b: Block| {
        if b == header { 0 } else { potentials[b.index() % potentials.len()] * if *noisy { 1 } else { *step } }
    };
    let movement = |e: Edge| {
        let noise = i64::from(*noisy && e.index().is_multiple_of(3));
        step * i64::from(e == edge) + potential(cfg.dst(e)) - potential(cfg.src(e)) + noise
    };
    let steps: Vec<(Edge, i64)> = inner.iter().map(|&e| (e, movement(e))).filter(|s| s.1 != 0).collect();
    let circuits = walks.iter().map(|walk| most_circuits(cfg, loops, l, walk)).max().unwrap_or(0);
    let swing: u64 = steps.iter().map(|s| s.1.unsigned_abs()).sum::<u64>() + 3 + step.unsigned_abs();
    // In every other block the next step has been made, in some it is another one.
    let ahead = |b: Block| match (ahead >> (b.index() % 8) & 1, b.index() % 5) {
        (0, _) => 0,
        (_, 4) => -3,
        _ => *step,
    };
    let ahead: Vec<(Block, i64)> =
        cfg.blocks().filter(|&b| loops.contains(l, b)).map(|b| (b, ahead(b))).filter(|a| a.1 != 0).collect();
    Some(AffineVariable {
        name: String::new(),
        header,
        bits: *bits,
        pointer: false,
        shifted: false,
        steps,
        ahead,
        from_constant: *known,
        never_wraps: *known && swing.saturating_mul(40) < 1 << (bits - 1),
        circuits: known.then_some(circuits),
        rounds: rounds(cfg, loops, l, walks),
        trips: None,
        steady: cfg.blocks().filter(|&b| is_steady(cfg, loops, l, walks, b)).collect(),
    })
}

/// Is it a branch with two edges, both within the loop, of which no run of the loop takes both?
fn is_steady(cfg: &Cfg, loops: &LoopForest, l: Loop, walks: &[GraphWalk], branch: Block) -> bool {
    let &[one, other] = cfg.succs(branch) else { return false };
    let inside = |b: Block| b != cfg.exit() && loops.contains(l, b);
    let mut seen = None;
    let edges = walks.iter().flat_map(|walk| walk.edges.iter().map(Some).chain([None]));
    inside(branch)
        && [one, other].iter().all(|&e| inside(cfg.dst(e)))
        && edges.into_iter().all(|edge| {
            let Some(&edge) = edge else {
                seen = None;
                return true;
            };
            if !inside(cfg.src(edge)) {
                seen = None;
            }
            cfg.src(edge) != branch || *seen.get_or_insert(edge) == edge
        })
}

fn within(cfg: &Cfg, loops: &LoopForest, l: Loop) -> impl Iterator<Item = Edge> {
    cfg.edges().filter(move |&e| loops.contains(l, cfg.src(e)) && loops.contains(l, cfg.dst(e)))
}

/// How often one activation of the loop goes around, at most.
fn most_circuits(cfg: &Cfg, loops: &LoopForest, l: Loop, walk: &GraphWalk) -> u64 {
    let (mut most, mut now) = (0, 0);
    for &e in &walk.edges {
        if cfg.dst(e) == loops.header(l) {
            now = if loops.contains(l, cfg.src(e)) { now + 1 } else { 0 };
            most = most.max(now);
        }
    }
    most
}

/// How often the loop goes around each time that it is entered, if that is always the same.
fn rounds(cfg: &Cfg, loops: &LoopForest, l: Loop, walks: &[GraphWalk]) -> Option<u64> {
    let mut all = Vec::new();
    for walk in walks {
        let mut now = None;
        for &e in &walk.edges {
            let (from, to) = (loops.contains(l, cfg.src(e)), loops.contains(l, cfg.dst(e)));
            now = match now {
                Some(rounds) if to && cfg.dst(e) == loops.header(l) => Some(rounds + 1),
                None if to && !from => Some(0),
                now => now,
            };
            if from && !to {
                all.extend(now.take());
            }
        }
        // Entered at its start.
        if walk.edges.first().is_some_and(|&e| loops.contains(l, cfg.src(e))) {
            return None;
        }
    }
    let first = all.first().copied().unwrap_or(7);
    all.iter().all(|&rounds| rounds == first).then_some(first)
}

struct Case {
    function: Function,
    cfg: Cfg,
    walks: Vec<GraphWalk>,
    weighting: Weighting,
    variables: Vec<AffineVariable>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let edges: Vec<String> = self.cfg.edges().map(|e| format!("{}→{}", self.cfg.src(e), self.cfg.dst(e))).collect();
        writeln!(f, "{edges:?} {:?} {:?}", self.walks, self.variables)
    }
}

/// A walk from the entry to EXIT in which each run of any loop takes one edge at each branch that `steady` has a bit
/// for.
fn steady_walk(cfg: &Cfg, loops: &LoopForest, steady: u8, choices: &[u8]) -> Option<GraphWalk> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut taken: Vec<(Block, Edge)> = Vec::new();
    let mut at = cfg.entry();
    for (time, &choice) in choices.iter().cycle().enumerate().take(150) {
        if at == cfg.exit() {
            return Some(GraphWalk { from: From::Entry, edges, until: Until::Exit });
        }
        let leaving = cfg.succs(at).iter().find(|&&e| time > 50 && loops.outermost_left(e).is_some());
        let known = taken.iter().find(|branch| branch.0 == at).map(|branch| &branch.1);
        let random = || cfg.succs(at).get(usize::from(choice) % cfg.succs(at).len().max(1));
        let edge = *known.or(leaving).or_else(random)?;
        let within = loops.innermost(at).is_some_and(|l| cfg.succs(at).iter().all(|&e| loops.contains(l, cfg.dst(e))));
        if within && steady >> (at.index() % 8) & 1 == 1 && known.is_none() {
            taken.push((at, edge));
        }
        edges.push(edge);
        at = cfg.dst(edge);
        taken.retain(|branch| loops.innermost(branch.0).is_some_and(|l| at != cfg.exit() && loops.contains(l, at)));
    }
    None
}

fn cases() -> impl Strategy<Value = Case> {
    let weights = prop::collection::vec(1u8..5, 40);
    let steady = prop::option::of(any::<u8>());
    (mixed::functions(4), random::choices(), weights, seeds(), prop::bool::weighted(0.7), steady).prop_map(
        |(mut function, choices, weights, seeds, leaf, steady)| {
            if leaf {
                function.calls = Calls::default();
            }
            let cfg = function.cfg().unwrap();
            let dfs = Dfs::new(&cfg);
            let mut walks = random::walks(&function, &cfg, &choices);
            // What can't be reached is not in a program map, and would be a second edge into loops.
            walks.retain(|w| !matches!(w.from, From::Site(s) if !dfs.is_reached(function.calls[s].block)));
            let loops = LoopForest::new(&cfg, &dfs);
            if let Some(steady) = steady {
                let choices = choices.iter().filter(|choices| !choices.is_empty());
                walks = choices.filter_map(|choices| steady_walk(&cfg, &loops, steady, choices)).collect();
            }
            let around = |e: Edge, l: &Loop| loops.contains(*l, cfg.src(e)) && loops.contains(*l, cfg.dst(e));
            let hot = |e: Edge| loops.loops().filter(|l| around(e, l)).fold(1.0, |hot, _| 20.0 * hot);
            let weight = |e: Edge| f64::from(weights[e.index() % 40]) * hot(e);
            let weighting = Weighting::new(&cfg, cfg.edges().map(weight).collect());
            let variables = seeds.iter().filter_map(|s| variable(&cfg, &loops, &walks, s)).collect();
            Case { function, cfg, walks, weighting, variables }
        },
    )
}

/// What the method promises of the truth.
fn promised(method: ChordMethod, truth: &FunctionProfile) -> FunctionProfile {
    let edges = truth.edges.clone().filter(|_| method == ChordMethod::Edge);
    FunctionProfile { edges, ..truth.clone() }
}

fn run(case: &Case, plan: &CounterPlan) -> Vec<u64> {
    let mut machine = Machine::new(&case.function, &case.cfg, plan).with_variables(&case.variables);
    for walk in &case.walks {
        machine.run(walk).unwrap();
    }
    machine.into_effects().counters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn profiles_stay_exact(case in cases()) {
        let Case { function, cfg, walks, weighting, variables } = &case;
        let (truth, early) = observe(function, cfg, walks).unwrap();
        for method in ChordMethod::ALL {
            let plan = method.plan_affine(function, cfg, weighting, variables);
            let counts = run(&case, &plan);
            let measured = Measured { function, key: &plan.key, counts: &counts, early: &early };
            prop_assert_eq!(recover(method.into(), cfg, measured).unwrap(), promised(method, &truth));
        }
    }

    /// So they do where the first block counts entries, for which one counter elsewhere is saved.
    #[test]
    fn profiles_that_count_entries_stay_exact(case in cases()) {
        let Case { function, cfg, walks, weighting, variables } = &case;
        let (truth, early) = observe(function, cfg, walks).unwrap();
        let replacements = Replacements::new(function, cfg, weighting, variables);
        for method in ChordMethod::ALL {
            let plan = method.plan_counting_entries(function, cfg, weighting, &replacements);
            let entries = |plan: &CounterPlan| plan.probes.iter().any(|p| p.place == Place::Start(Block(0)));
            let alone = method.plan_with_replacements(function, cfg, weighting, &replacements);
            prop_assert!(plan.key.measures.len() <= alone.key.measures.len());
            if method == ChordMethod::Edge {
                prop_assert_eq!(plan.key.measures.len(), alone.key.measures.len());
            }
            prop_assert!(entries(&plan) || plan == alone);
            let counts = run(&case, &plan);
            let measured = Measured { function, key: &plan.key, counts: &counts, early: &early };
            prop_assert_eq!(recover(method.into(), cfg, measured).unwrap(), promised(method, &truth));
        }
    }

    /// So they do where the entries are known from elsewhere; and what is foreseen without them is true.
    #[test]
    fn entered_profiles_stay_exact(case in cases()) {
        let Case { function, cfg, walks, weighting, variables } = &case;
        let (truth, early) = observe(function, cfg, walks).unwrap();
        let replacements = Replacements::new(function, cfg, weighting, variables);
        for method in ChordMethod::ALL {
            let Some((plan, _)) = method.plan_entered(function, cfg, weighting, &replacements) else { continue };
            let counts = run(&case, &plan);
            let measured = Measured { function, key: &plan.key, counts: &counts, early: &early };
            for (block, count) in method.foresee(cfg, measured).unwrap().into_iter().enumerate() {
                prop_assert!(count.is_none_or(|count| count == i128::from(truth.blocks[Block::new(block)])), "block {}", block);
            }
            let recovered = method.recover_entered(cfg, measured, i128::from(truth.entries)).unwrap();
            prop_assert_eq!(recovered, promised(method, &truth));
        }
    }

    /// Every replacement that is offered, whether it is taken or not, counts its edge.
    #[test]
    fn every_replacement_counts_its_edge(case in cases()) {
        let Case { function, cfg, walks, weighting, variables } = &case;
        let (truth, _) = observe(function, cfg, walks).unwrap();
        let replacements = Replacements::new(function, cfg, weighting, variables);
        for replacement in replacements.verdicts.iter().flatten().chain(replacements.conditional.iter().map(|(_, replacement)| replacement)) {
            let mut plan = CounterPlan::default();
            replacement.add(&mut plan);
            prop_assert_eq!(run(&case, &plan)[0], truth.edges.as_ref().unwrap()[replacement.edge], "{:?}", replacement);
        }
    }

    /// The edges found by covering are those for which the surpluses agree; two edges are counted by the same variable
    /// only if each closes the other's account.
    #[test]
    fn counted_edges_are_all_that_can_be_counted(case in cases()) {
        let Case { cfg, variables, .. } = &case;
        let loops = LoopForest::new(cfg, &Dfs::new(cfg));
        let mut numbers = LoopRegion::numbers(cfg);
        for variable in variables {
            let l = loops.headed_by(variable.header).unwrap();
            if loops.is_irreducible(l) {
                continue;
            }
            let region = LoopRegion::new(cfg, &loops, l, &mut numbers);
            let mut edges: Vec<Edge> = region.edges().collect();
            edges.sort_unstable();
            prop_assert_eq!(&edges, &within(cfg, &loops, l).collect::<Vec<_>>());
            let movement =
                |e: Edge| variable.steps.iter().find(|s| s.0 == e).map_or(0, |s| i128::from(s.1));
            let found = region.counted(movement);
            let able: Vec<Edge> = edges.into_iter().filter(|&e| region.count(e, movement).is_some()).collect();
            // Where surpluses differ, covering still finds candidates.
            prop_assert!(able.iter().all(|e| found.contains(e)), "{:?} {:?}", found, able);
            prop_assert!(able.is_empty() || able == found, "{:?} {:?}", found, able);
        }
    }

    /// Closings stand where code can be put.
    #[test]
    fn places_can_be_built(case in cases()) {
        let Case { function, cfg, weighting, variables, .. } = &case;
        for placed in ChordMethod::Edge.plan_affine(function, cfg, weighting, variables).probes {
            if let Some((_, closing)) = placed.probe.closing() {
                match placed.place {
                    Place::Start(b) => prop_assert!(cfg.preds(b).len() == 1 && cfg.src(cfg.preds(b)[0]) == closing.from),
                    Place::Edge(e) => prop_assert!(function.splittable(e) && cfg.src(e) == closing.from),
                    Place::End(_) | Place::Call(_) | Place::After(_) => prop_assert!(false, "{:?}", placed),
                }
            }
        }
    }
}

/// The generator makes what the tests above claim to cover.
#[test]
fn random_variables_are_rich() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut taken, mut narrow, mut offsets, mut wraps, mut abandoned, mut no_edge, mut passed) = (0, 0, 0, 0, 0, 0, 0);
    let (mut fixed, mut nested, mut around) = (0, 0, 0);
    let (mut conditional, mut used, mut busy, mut idle) = (0, 0, 0, 0);
    let (mut freed, mut freed_beside_fixed) = (0, 0);
    for _ in 0..4000 {
        let case = cases().new_tree(&mut runner).unwrap().current();
        let replacements = Replacements::new(&case.function, &case.cfg, &case.weighting, &case.variables);
        wraps += replacements.verdicts.iter().filter(|v| **v == Err(Refusal::Wraps)).count();
        abandoned += replacements.verdicts.iter().filter(|v| matches!(v, Err(Refusal::Abandoned(_)))).count();
        no_edge += replacements.verdicts.iter().filter(|v| **v == Err(Refusal::NoEdge)).count();
        let plan = ChordMethod::Edge.plan_affine(&case.function, &case.cfg, &case.weighting, &case.variables);
        let counts = run(&case, &plan);
        let of_blocks =
            ChordMethod::VertexEdge.plan_with_replacements(&case.function, &case.cfg, &case.weighting, &replacements);
        let fewer = plan.key.measures.len() - of_blocks.key.measures.len();
        freed += usize::from(fewer > 0);
        freed_beside_fixed += usize::from(fewer > 0 && !of_blocks.key.fixed.is_empty());
        fixed += plan.key.fixed.len();
        nested += plan.key.fixed.iter().filter(|fixed| fixed.depth > 0).count();
        around += plan.key.fixed.iter().filter(|fixed| (1..7).contains(&fixed.times)).count();
        conditional += replacements.conditional.len();
        let truth = observe(&case.function, &case.cfg, &case.walks).unwrap().0.edges.unwrap();
        for (_, replacement) in &replacements.conditional {
            let sibling =
                case.cfg.succs(case.cfg.src(replacement.edge)).iter().find(|&&e| e != replacement.edge).unwrap();
            busy += usize::from(truth[replacement.edge] > 2);
            idle += usize::from(truth[replacement.edge] == 0 && truth[*sibling] > 0);
        }
        for placed in &plan.probes {
            used += usize::from(matches!(placed.probe, Probe::CloseIf(..)));
            let Probe::Close(counter, closing) = placed.probe else { continue };
            taken += 1;
            narrow += usize::from(case.variables[closing.variable.index()].bits < 16);
            offsets += usize::from(closing.offset != 0 || closing.plus != 0);
            passed += usize::from(counts[counter.index()] > 1);
        }
    }
    let seen = [taken, narrow, offsets, wraps, abandoned, no_edge, passed, fixed, nested, around];
    let seen = seen.into_iter().chain([conditional, used, busy, idle, freed]).collect::<Vec<_>>();
    assert!(seen.iter().all(|&n| n > 25), "{seen:?}");
    assert!(freed_beside_fixed > 10, "{freed_beside_fixed}");
}

/// A function from blocks' successors; the last block returns.
fn function(successors: &[&[usize]]) -> (Function, Cfg) {
    let edges: Vec<_> = successors.iter().enumerate().flat_map(|(b, s)| s.iter().map(move |&d| (b, d, true))).collect();
    let function = random::function(successors.len(), &edges, &[]);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

fn edge_between(cfg: &Cfg, src: usize, dst: usize) -> Edge {
    let to = |e: &&Edge| cfg.dst(**e) == Block::new(dst);
    *cfg.succs(Block::new(src)).iter().find(to).unwrap()
}

fn counter(cfg: &Cfg, header: usize, steps: &[(usize, usize, i64)], bits: u32) -> AffineVariable {
    let mut steps: Vec<_> = steps.iter().map(|&(src, dst, by)| (edge_between(cfg, src, dst), by)).collect();
    steps.sort_unstable();
    AffineVariable {
        name: String::new(),
        header: Block::new(header),
        bits,
        pointer: false,
        shifted: false,
        steps,
        ahead: Vec::new(),
        from_constant: false,
        never_wraps: true,
        circuits: None,
        rounds: None,
        trips: None,
        steady: Vec::new(),
    }
}

fn counts_inside(plan: &CounterPlan, cfg: &Cfg) -> usize {
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    let inside = |place: Place| match place {
        Place::Start(b) | Place::End(b) => loops.innermost(b).is_some(),
        Place::Edge(e) => loops.innermost(cfg.src(e)).is_some() && loops.innermost(cfg.dst(e)).is_some(),
        Place::Call(call) | Place::After(call) => panic!("edges are not counted at {call}"),
    };
    plan.probes.iter().filter(|p| inside(p.place)).count()
}

/// Fig. 2: entry 0, L2 the header 1, L6 2, L9 3, LA 4, LD 5.
fn count_zeros() -> (Function, Cfg) {
    function(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[6]])
}

#[test]
fn count_zeros_has_no_counter_in_its_loop() {
    let (f, cfg) = count_zeros();
    let weighting = Weighting::expected(&f, &cfg);
    let plain = ChordMethod::Edge.plan_affine(&f, &cfg, &weighting, &[]);
    assert_eq!(counts_inside(&plain, &cfg), 2);
    let i = counter(&cfg, 1, &[(4, 1, 1)], 32);
    let sum = counter(&cfg, 1, &[(3, 4, 1)], 32);
    let plan = ChordMethod::Edge.plan_affine(&f, &cfg, &weighting, &[i, sum]);
    assert_eq!(plan.key.measures.len(), plain.key.measures.len(), "as many counters as ever");
    assert_eq!(counts_inside(&plan, &cfg), 0, "{plan:?}");
}

#[test]
fn a_branch_that_stays_is_counted_by_how_often_its_loop_went_around() {
    // for (i = 0; i < n; i++) { if (map) … ; … }: 1 is the header and has the branch, 4 goes back or leaves.
    let (f, cfg) = function(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[6]]);
    let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
    let inside = |e: Edge| loops.common(cfg.src(e), cfg.dst(e)).is_some();
    let weighting = Weighting::new(&cfg, cfg.edges().map(|e| if inside(e) { 20.0 } else { 1.0 }).collect());
    let i = |steady: &[usize]| {
        let steady = steady.iter().map(|&b| Block::new(b)).collect();
        [AffineVariable { steady, ..counter(&cfg, 1, &[(4, 1, 1)], 64) }]
    };
    let plain = ChordMethod::Edge.plan_affine(&f, &cfg, &weighting, &i(&[]));
    let variables = i(&[1]);
    let plan = ChordMethod::Edge.plan_affine(&f, &cfg, &weighting, &variables);
    assert_eq!((counts_inside(&plain, &cfg), counts_inside(&plan, &cfg)), (1, 0), "{plan:?}");
    assert_eq!(plan.key.measures.len(), plain.key.measures.len());
    // Three turns through one block, one through the other, two through the first again.
    let mut machine = Machine::new(&f, &cfg, &plan).with_variables(&variables);
    let mut walks = Vec::new();
    for (turns, through) in [(3, 2), (1, 3), (2, 2)] {
        let turn = [(1, through), (through, 4), (4, 1)];
        let edges = [(0, 1)].into_iter().chain((0..turns).flat_map(|_| turn)).collect::<Vec<_>>();
        let edges = edges[..edges.len() - 1].iter().chain(&[(4, 5), (5, 6)]).map(|&(a, b)| edge_between(&cfg, a, b));
        walks.push(GraphWalk { from: From::Entry, edges: edges.collect(), until: Until::Exit });
        machine.run(walks.last().unwrap()).unwrap();
    }
    let (truth, early) = observe(&f, &cfg, &walks).unwrap();
    assert_eq!(truth.edges.as_ref().unwrap()[edge_between(&cfg, 1, 2)], 5);
    let counts = machine.into_effects().counters;
    assert_eq!(
        recover(CounterMethod::Edge, &cfg, Measured { function: &f, key: &plan.key, counts: &counts, early: &early })
            .unwrap(),
        truth
    );
}

#[test]
fn first_occurrence_has_no_counter_in_its_loop() {
    // Fig. 7: while (*p != q) p++, in steps of eight bytes.
    let (f, cfg) = function(&[&[1], &[2, 3], &[1], &[4]]);
    let p = counter(&cfg, 1, &[(2, 1, 8)], 64);
    let plan = ChordMethod::Edge.plan_affine(&f, &cfg, &Weighting::expected(&f, &cfg), &[p]);
    assert_eq!((plan.key.measures.len(), counts_inside(&plan, &cfg)), (2, 0));
}

#[test]
fn the_sum_of_non_sese_is_refused() {
    // Fig. 5: sum++; if (!v[i]) sum++;
    let (f, cfg) = count_zeros();
    let sum = counter(&cfg, 1, &[(2, 3, 1), (2, 4, 1), (3, 4, 1)], 32);
    let replacements = Replacements::new(&f, &cfg, &Weighting::expected(&f, &cfg), &[sum]);
    assert_eq!(replacements.verdicts, [Err(Refusal::NoEdge)]);
}

#[test]
fn control_equivalent_increments_add_up() {
    let (f, cfg) = count_zeros();
    let sum = counter(&cfg, 1, &[(2, 3, 1), (2, 4, 1), (4, 1, 2)], 32);
    let replacements = Replacements::new(&f, &cfg, &Weighting::expected(&f, &cfg), &[sum]);
    let Ok(replacement) = &replacements.verdicts[Variable(0)] else { panic!("{replacements:?}") };
    assert_eq!(replacement.closings[0].1.step, 3);
}

#[test]
fn a_loop_that_never_runs_twice_keeps_its_counter() {
    let (f, cfg) = count_zeros();
    let i = AffineVariable { trips: Some(2), ..counter(&cfg, 1, &[(4, 1, 1)], 32) };
    let replacements = Replacements::new(&f, &cfg, &Weighting::expected(&f, &cfg), &[i]);
    let edge = replacements.verdicts[Variable(0)].as_ref().unwrap().edge;
    assert_eq!(replacements.of(edge), None);
}

/// How often a loop with two likely exits runs is relied on less than in one with a single exit.
#[test]
fn a_search_is_relied_on_less() {
    // 1 is the header with an exit, 2 breaks out to 4 or goes back with i++.
    let (mut f, cfg) = function(&[&[1], &[2, 3], &[1, 4], &[5], &[5]]);
    let replacement = |f: &Function| {
        let i = [counter(&cfg, 1, &[(2, 1, 1)], 64)];
        Replacements::new(f, &cfg, &Weighting::expected(f, &cfg), &i).verdicts.remove(0).unwrap()
    };
    let search = replacement(&f);
    // A failed check is no search.
    f.edges.iter_mut().find(|edge| edge.src == Block(4)).unwrap().kind = EdgeKind::Unreachable;
    let checked = replacement(&f);
    assert_eq!(search.edge, checked.edge);
    assert!(checked.counter_cost > 2.0 * search.counter_cost, "{search:?} {checked:?}");
}

#[test]
fn two_backedges_with_an_increment_each() {
    // while (n-- > 0) { if (a) continue; … }: 1 is the header, 2 tests, 3 and 4 go back.
    let (f, cfg) = function(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[6]]);
    let n = counter(&cfg, 1, &[(3, 1, -1), (4, 1, -1)], 64);
    let weighting = Weighting::expected(&f, &cfg);
    let replacements = Replacements::new(&f, &cfg, &weighting, std::slice::from_ref(&n));
    assert_eq!(replacements.verdicts[Variable(0)].as_ref().unwrap().edge, edge_between(&cfg, 1, 2));
    assert_eq!(counts_inside(&ChordMethod::Edge.plan_affine(&f, &cfg, &weighting, &[n]), &cfg), 1);
}

#[test]
fn an_exit_in_the_middle_knows_what_it_has_missed() {
    // 1 is the header with an exit, 2 breaks out to 4 or goes back with i++.
    let (f, cfg) = function(&[&[1], &[2, 3], &[1, 4], &[5], &[5]]);
    let case = |walk: &[(usize, usize)]| {
        let edges = walk.iter().map(|&(a, b)| edge_between(&cfg, a, b)).collect();
        GraphWalk { from: From::Entry, edges, until: Until::Exit }
    };
    let walks = [
        case(&[(0, 1), (1, 3), (3, 5)]),
        case(&[(0, 1), (1, 2), (2, 4), (4, 5)]),
        case(&[(0, 1), (1, 2), (2, 1), (1, 2), (2, 1), (1, 2), (2, 4), (4, 5)]),
    ];
    let i = [counter(&cfg, 1, &[(2, 1, -3)], 64)];
    let replacements = Replacements::new(&f, &cfg, &Weighting::expected(&f, &cfg), &i);
    let mut plan = CounterPlan::default();
    let replacement = replacements.verdicts[Variable(0)].as_ref().unwrap();
    replacement.add(&mut plan);
    let mut machine = Machine::new(&f, &cfg, &plan).with_variables(&i);
    walks.iter().for_each(|w| drop(machine.run(w).unwrap()));
    assert_eq!((replacement.edge, machine.into_effects().counters), (edge_between(&cfg, 1, 2), vec![4]));
}
