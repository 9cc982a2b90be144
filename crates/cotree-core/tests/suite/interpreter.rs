//! The interpreter itself: the order of probes, registers, tables, traces, and what is no walk.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Counter, Edge, Site, Table};
use cotree_core::interpret::{From, GraphWalk, GraphWalkError, Machine, Until, observe};
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use std::collections::BTreeMap;

/// 0→1, 1→1, 1→EXIT; calls s0 in 0, s1 and the terminator s2 in 1.
fn example() -> (Function, Cfg) {
    let function =
        random::function(2, &[(0, 1, true), (1, 1, true), (1, 2, true)], &[(0, false), (1, false), (1, true)]);
    let cfg = function.cfg().unwrap();
    (function, cfg)
}

fn plan(probes: &[(Place, Probe)]) -> CounterPlan {
    CounterPlan {
        probes: probes.iter().map(|&(place, probe)| PlacedProbe { place, probe }).collect(),
        key: CounterKey { measures: vec![Measure::Block(Block(0)); 2], ..CounterKey::default() },
    }
}

fn walk(from: From, edges: &[u32], until: Until) -> GraphWalk {
    GraphWalk { from, edges: edges.iter().map(|&e| Edge(e)).collect(), until }
}

#[test]
fn registers_tables_traces_and_events() {
    let (function, cfg) = example();
    let (r, t) = (Reg::PathSum, Table(0));
    let plan = plan(&[
        (Place::Start(Block(0)), Probe::Set(r, 5)),
        (Place::Edge(Edge(1)), Probe::Add(r, 2)),
        (Place::Edge(Edge(1)), Probe::Emit { reg: Some(r), plus: 0x100, bytes: 1 }),
        (Place::Edge(Edge(2)), Probe::Emit { reg: None, plus: -2, bytes: 2 }),
        (Place::Edge(Edge(2)), Probe::EmitFull { reg: Reg::Token, limit: 1, bytes: 1 }),
        (Place::End(Block(1)), Probe::RecordEntry),
        (Place::Edge(Edge(2)), Probe::CountPath(t, r, -1)),
        (Place::Edge(Edge(2)), Probe::AddTo(Counter(1), r, 10)),
        (Place::End(Block(1)), Probe::CountBy(Counter(0), 3)),
        (Place::End(Block(1)), Probe::CountIfTaken(Counter(0), Edge(1))),
    ]);
    let mut machine = Machine::new(&function, &cfg, &plan);
    let registers = machine.run(&walk(From::Entry, &[0, 1, 1, 2], Until::Exit)).unwrap();
    assert_eq!(registers.get(r), 9);
    machine.run(&walk(From::Entry, &[0, 2], Until::Exit)).unwrap();
    let effects = machine.into_effects();
    assert_eq!(effects.paths, BTreeMap::from([((t, 8), 1), ((t, 4), 1)]));
    assert_eq!(effects.trace, [16, 0, 7, 16, 0, 9, 16, 0, 0xfe, 0xff, 16, 0, 0xfe, 0xff]);
    assert_eq!(effects.counters, [2 + 12, 19 + 15]);
}

/// Probes of one place run in order, and registers of different owners are different registers.
#[test]
fn linear_functions_of_registers() {
    let (function, cfg) = example();
    let (sum, kept) = (Reg::PathSum, Reg::LoopContext(Block(1)));
    let plan = plan(&[
        (Place::Start(Block(0)), Probe::Set(sum, 5)),
        (Place::Start(Block(0)), Probe::copy(kept, sum, 2)),
        (Place::Edge(Edge(1)), Probe::Linear { to: sum, from: kept, times: -3, plus: 1 }),
        (Place::Edge(Edge(1)), Probe::Add(Reg::Promoted(1), 1)),
        (Place::Edge(Edge(2)), Probe::Linear { to: kept, from: kept, times: i64::MAX, plus: 0 }),
    ]);
    let mut machine = Machine::new(&function, &cfg, &plan);
    let registers = machine.run(&walk(From::Entry, &[0, 1, 2], Until::Exit)).unwrap();
    let registers =
        [sum, kept, Reg::Promoted(0), Reg::Promoted(1), Reg::LoopContext(Block(0))].map(|r| registers.get(r));
    assert_eq!(registers, [-20, 7_i64.wrapping_mul(i64::MAX), 0, 1, 0]);
}

#[test]
fn abandoned_calls_skip_what_follows() {
    let (function, cfg) = example();
    let at = |place| {
        let plan = plan(&[(place, Probe::Count(Counter(0)))]);
        move |walk: &GraphWalk| {
            let (function, cfg) = example();
            let mut machine = Machine::new(&function, &cfg, &plan);
            machine.run(walk).unwrap();
            machine.effects().counters[0]
        }
    };
    let (start, end, edge) = (at(Place::Start(Block(1))), at(Place::End(Block(1))), at(Place::Edge(Edge(2))));
    let all = |walk: &GraphWalk| [start(walk), end(walk), edge(walk)];
    assert_eq!(all(&walk(From::Entry, &[0, 2], Until::Exit)), [1, 1, 1]);
    assert_eq!(all(&walk(From::Entry, &[0], Until::Site(Site(1)))), [1, 0, 0]);
    assert_eq!(all(&walk(From::Entry, &[0], Until::Site(Site(2)))), [1, 1, 0], "the terminator runs after the end");
    assert_eq!(all(&walk(From::Site(Site(1)), &[2], Until::Exit)), [0, 1, 1]);
    assert_eq!(all(&walk(From::Site(Site(2)), &[2], Until::Exit)), [0, 0, 1]);
    assert_eq!(all(&walk(From::Site(Site(1)), &[], Until::Site(Site(2)))), [0, 1, 0]);
    assert_eq!(all(&walk(From::Site(Site(2)), &[], Until::Site(Site(2)))), [0, 0, 0]);

    let (profile, early) = observe(
        &function,
        &cfg,
        &[walk(From::Site(Site(1)), &[1, 2], Until::Exit), walk(From::Entry, &[0], Until::Site(Site(2)))],
    )
    .unwrap();
    assert_eq!((profile.entries, profile.blocks), (1, vec![1, 2].into()));
    assert_eq!(profile.edges, Some(vec![1, 1, 1].into()));
    assert_eq!(early.at_site, [0, -1, 1]);
}

#[test]
fn registers_outlive_a_second_return() {
    let (function, cfg) = example();
    let plan = plan(&[(Place::Start(Block(1)), Probe::Add(Reg::PathSum, 1))]);
    let mut machine = Machine::new(&function, &cfg, &plan);
    let registers = machine.run(&walk(From::Entry, &[0, 1], Until::Site(Site(1)))).unwrap();
    let registers = machine.run_with(&walk(From::Site(Site(1)), &[1, 2], Until::Exit), registers).unwrap();
    assert_eq!(registers.get(Reg::PathSum), 3);
}

#[test]
fn what_is_no_walk_is_refused() {
    let (function, cfg) = example();
    let refused = |w: GraphWalk| observe(&function, &cfg, &[w]).unwrap_err();
    assert_eq!(refused(walk(From::Entry, &[1], Until::Exit)), GraphWalkError::Detached(Edge(1), Block(0)));
    assert_eq!(refused(walk(From::Entry, &[3], Until::Exit)), GraphWalkError::Detached(Edge(3), Block(0)));
    assert_eq!(refused(walk(From::Entry, &[0], Until::Exit)), GraphWalkError::EndsIn(Block(1)));
    assert_eq!(refused(walk(From::Entry, &[0, 2, 3], Until::Exit)), GraphWalkError::EndsIn(Block(2)));
    assert_eq!(refused(walk(From::Entry, &[0], Until::Site(Site(0)))), GraphWalkError::NoSuchSite(Site(0), Block(1)));
    assert_eq!(refused(walk(From::Site(Site(3)), &[], Until::Exit)), GraphWalkError::NoSuchSite(Site(3), Block(2)));
    let backwards = walk(From::Site(Site(2)), &[], Until::Site(Site(1)));
    assert_eq!(refused(backwards), GraphWalkError::NoSuchSite(Site(1), Block(1)));
}
