//! Path plans and tables come from files: whatever they say, recovery answers with an error or a flaw.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge, Site};
use cotree_core::method::path::{
    self, Abandoned, AtCalls, Cuts, PathError, PathKey, PathOptions, PathPlan, recover, without_registers,
};
use cotree_core::profile::{EarlyExits, Flaw};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

/// A→B, B→B, B→C, B→D, C→B, D→EXIT with a call in C and in D.
fn case() -> (Function, Cfg, PathPlan) {
    let edges = [(0, 1, true), (1, 1, true), (1, 2, true), (1, 3, true), (2, 1, true), (3, 4, true)];
    let f = random::function(4, &edges, &[(2, false), (3, false)]);
    let cfg = f.cfg().unwrap();
    let plan = path::plan(&f, &cfg, &Weighting::heuristic(&cfg), PathOptions::default()).unwrap();
    (f, cfg, plan)
}

#[test]
fn what_does_not_belong_together() {
    let (f, cfg, plan) = case();
    let counters = vec![0; plan.key.self_loops.measures.len()];
    let with = |change: &dyn Fn(&mut PathPlan)| {
        let mut plan = plan.clone();
        change(&mut plan);
        recover(&f, &cfg, &plan.key, &counters, &[], &[]).unwrap_err()
    };
    assert_eq!(with(&|p| p.key.cuts.edges.clear()), PathError::Cyclic);
    assert_eq!(
        with(&|p| p.key.paths += 1),
        PathError::PathsMismatch { expected: plan.key.paths + 1, found: plan.key.paths }
    );
    assert_eq!(with(&|p| p.key.self_loops.measures.clear()), PathError::CounterMismatch { expected: 1, found: 1 });
    assert_eq!(
        with(&|p| p.key.self_loops.measures[0] = cotree_core::plan::Measure::Block(Block(1))),
        PathError::UnknownMeasure(0)
    );
    let run = |table: &[(u64, u64)], abandoned: &[Abandoned]| recover(&f, &cfg, &plan.key, &counters, table, abandoned);
    assert_eq!(run(&[(plan.key.paths, 1)], &[]), Err(PathError::NoSuchPath(plan.key.paths, plan.key.paths)));
    assert_eq!(run(&[(u64::MAX, 1)], &[]), Err(PathError::NoSuchPath(u64::MAX, plan.key.paths)));
    let nowhere = Abandoned { site: Site(2), register: None, count: 1 };
    assert_eq!(run(&[], &[nowhere]), Err(PathError::NoSuchSite(Site(2))));
    let other = Cfg::new(1, [(Block(0), Block(1))]).unwrap();
    assert_eq!(recover(&f, &other, &plan.key, &counters, &[], &[]), Err(PathError::ForeignGraph));
    let early = EarlyExits { at_site: vec![0, 3].into() };
    assert_eq!(without_registers(&early), [Abandoned { site: Site(1), register: None, count: 3 }]);
}

#[test]
fn what_cannot_have_happened_is_flagged() {
    let (f, cfg, plan) = case();
    // A path begins after the backedge, though none has ended there.
    let numbering = path::numbering::Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
    let begun =
        (0..plan.key.paths).find(|&n| numbering.path(&cfg, n).unwrap().class() == path::PathClass::BackedgeToExit);
    let begun = begun.unwrap();
    let profile = recover(&f, &cfg, &plan.key, &[0], &[(begun, 1)], &[]).unwrap();
    assert_eq!(profile.counts.flaws, [Flaw::Inconsistent]);
    // A call that no register has ever led to.
    let mut odd = plan.clone();
    odd.key.calls = vec![(Block(2), AtCalls::Query(0)), (Block(3), AtCalls::Counted)];
    let lost = Abandoned { site: Site(0), register: Some(-5), count: 1 };
    let profile = recover(&f, &cfg, &odd.key, &[0], &[], &[lost]).unwrap();
    assert!(profile.counts.flaws.contains(&Flaw::Damaged), "{profile:?}");
    assert_eq!(profile.unresolved, [(Site(0), 1)]);
}

fn ids() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..12u32, 0..6)
}

proptest! {
    /// Nonsense never panics.
    #[test]
    fn nonsense_is_survived(
        f in random::functions(6),
        (edges, blocks, loops) in (ids(), ids(), ids()),
        table in prop::collection::vec((0..20u64, any::<u64>()), 0..6),
        abandoned in prop::collection::vec((0..9u32, any::<Option<i64>>(), any::<i64>()), 0..6),
        calls in prop::collection::vec(prop_oneof![
            any::<i64>().prop_map(AtCalls::Query), any::<u64>().prop_map(AtCalls::Known), Just(AtCalls::Counted)
        ], 8),
    ) {
        let cfg = f.cfg().unwrap();
        let cuts = Cuts {
            edges: edges.into_iter().map(Edge).collect(),
            blocks: blocks.into_iter().map(Block).collect(),
            loops: loops.into_iter().map(Edge).collect(),
            ..Cuts::default()
        };
        if let Ok(numbering) = path::numbering::Numbering::new(&f, &cfg, &cuts) {
            let measures: Vec<_> =
                numbering.graph().self_loops().iter().map(|&e| cotree_core::plan::Measure::Edge(e)).collect();
            let counters = vec![u64::MAX; measures.len()];
            let mut key = PathKey { cuts, paths: numbering.paths(), ..PathKey::default() };
            key.self_loops.measures = measures;
            key.calls = calls.into_iter().enumerate().map(|(i, c)| (Block::new(i), c)).collect();
            let abandoned: Vec<_> = abandoned
                .into_iter()
                .map(|(site, register, count)| Abandoned { site: Site(site), register, count })
                .collect();
            let _ = recover(&f, &cfg, &key, &counters, &table, &abandoned);
        }
        let _ = path::plan(&f, &cfg, &Weighting::uniform(&cfg), PathOptions { limit: 3, ..PathOptions::default() }).unwrap();
        let _ = path::plan_context(&f, &cfg, &Weighting::uniform(&cfg), PathOptions { limit: 3, ..PathOptions::default() });
    }
}
