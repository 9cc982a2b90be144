//! Every method against brute-force truth: `recover(plan, run(plan, walks)) == observe(walks)` on random graphs.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Counter, Edge};
use cotree_core::interpret::{GraphWalk, observe, run};
use cotree_core::method::counters::{CounterMethod, Measured, edge, plan, recover};
use cotree_core::place::placement::Placer;
use cotree_core::place::spanning::Extreme;
use cotree_core::plan::{CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// A function, its graph, walks over it, and a weighting out of nowhere.
fn cases() -> impl Strategy<Value = (Function, Cfg, Vec<GraphWalk>, Weighting)> {
    (random::functions(9), random::choices(), prop::collection::vec(0u8..5, 40)).prop_map(|(f, choices, weights)| {
        let cfg = f.cfg().unwrap();
        let walks = random::walks(&f, &cfg, &choices);
        let weighting = Weighting::new(&cfg, weights.into_iter().map(f64::from).collect());
        (f, cfg, walks, weighting)
    })
}

fn profile(method: CounterMethod, f: &Function, cfg: &Cfg, plan: &CounterPlan, walks: &[GraphWalk]) -> FunctionProfile {
    let (_, early) = observe(f, cfg, walks).unwrap();
    let counts = run(f, cfg, plan, walks).unwrap();
    recover(method, cfg, Measured { function: f, key: &plan.key, counts: &counts, early: &early }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn edge_profiles_are_exact((f, cfg, walks, weighting) in cases()) {
        let (truth, _) = observe(&f, &cfg, &walks).unwrap();
        for method in [CounterMethod::Edge, CounterMethod::Block] {
            let plan = plan(method, &f, &cfg, &weighting);
            prop_assert_eq!(profile(method, &f, &cfg, &plan, &walks), truth.clone(), "{:?}", method);
        }
    }

    #[test]
    fn vertex_profiles_are_exact((f, cfg, walks, weighting) in cases()) {
        let (mut truth, _) = observe(&f, &cfg, &walks).unwrap();
        truth.edges = None;
        for method in [CounterMethod::Vertex, CounterMethod::VertexEdge] {
            let plan = plan(method, &f, &cfg, &weighting);
            prop_assert_eq!(profile(method, &f, &cfg, &plan, &walks), truth.clone(), "{:?}", method);
        }
    }

    /// Clever places measure the same as a block on every counted edge would.
    #[test]
    fn placement_equals_naive_placement((f, cfg, walks, weighting) in cases()) {
        let placer = Placer::new(&f, &cfg);
        let tree = edge::spanning_tree(&placer, &cfg, &weighting, Extreme::Maximum);
        let naive = naive_plan(&cfg, tree.chords());
        let clever = plan(CounterMethod::Edge, &f, &cfg, &weighting);
        prop_assert_eq!(naive.key.measures.len(), clever.key.measures.len());
        prop_assert_eq!(
            profile(CounterMethod::Edge, &f, &cfg, &naive, &walks),
            profile(CounterMethod::Edge, &f, &cfg, &clever, &walks)
        );
    }

    /// No probe stands where the back end could not put it, or where it would say something else than it means.
    #[test]
    fn places_can_be_built((f, cfg, _, weighting) in cases()) {
        for method in [CounterMethod::Edge, CounterMethod::Block, CounterMethod::Vertex, CounterMethod::VertexEdge] {
            let plan = plan(method, &f, &cfg, &weighting);
            for placed in &plan.probes {
                match (placed.place, placed.probe) {
                    (Place::Edge(e), Probe::Count(_)) => {
                        prop_assert!(f.splittable(e));
                        prop_assert!(cfg.succs(cfg.src(e)).len() > 1 || f.sites_of(cfg.src(e)).any(|(_, s)| s.terminator));
                    }
                    (Place::Start(b), Probe::Count(_)) => prop_assert!(b < cfg.exit()),
                    (Place::End(b), Probe::Count(_)) => {
                        prop_assert_eq!(cfg.succs(b).len(), 1);
                        prop_assert!(f.sites_of(b).all(|(_, s)| !s.terminator));
                    }
                    (Place::End(b), Probe::CountIfTaken(_, e)) => {
                        prop_assert!(!f.splittable(e) && cfg.src(e) == b);
                    }
                    other => prop_assert!(false, "unexpected probe {:?}", other),
                }
            }
        }
    }
}

fn naive_plan(cfg: &Cfg, edges: impl Iterator<Item = Edge>) -> CounterPlan {
    let mut plan = CounterPlan::default();
    for (i, e) in edges.enumerate() {
        assert_ne!(e, cfg.exit_edge());
        plan.key.measures.push(Measure::Edge(e));
        plan.probes.push(PlacedProbe { place: Place::Edge(e), probe: Probe::Count(Counter::new(i)) });
    }
    plan
}

/// The generator makes what the tests above claim to cover.
#[test]
fn random_walks_are_rich() {
    use cotree_core::interpret::{From, Until};
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut returned, mut abandoned, mut revived, mut long, mut if_taken, mut freed) = (0, 0, 0, 0, 0, 0);
    for _ in 0..1000 {
        let (f, cfg, walks, weighting) = cases().new_tree(&mut runner).unwrap().current();
        returned += walks.iter().filter(|w| w.until == Until::Exit).count();
        abandoned += walks.iter().filter(|w| matches!(w.until, Until::Site(_))).count();
        revived += walks.iter().filter(|w| matches!(w.from, From::Site(_))).count();
        long += walks.iter().filter(|w| w.edges.len() > 5).count();
        let edge = plan(CounterMethod::Edge, &f, &cfg, &weighting);
        if_taken += edge.probes.iter().filter(|p| matches!(p.probe, Probe::CountIfTaken(..))).count();
        freed += edge.key.measures.len() - plan(CounterMethod::VertexEdge, &f, &cfg, &weighting).key.measures.len();
    }
    let seen = [returned, abandoned, revived, long, if_taken, freed];
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}
