//! Metrics along paths against what the walks themselves add up to.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::interpret::{From, GraphWalk, Machine, Until};
use cotree_core::method::path::graph::Role;
use cotree_core::method::path::numbering::Numbering;
use cotree_core::method::path::{self, AtCalls, PathMetric, PathOptions, PathPlan};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Events as a program could report them.
struct Events(u64);

impl Events {
    fn next(&mut self) -> i64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        i64::try_from(self.0 >> 60).unwrap()
    }
}

type Table = BTreeMap<u64, (u64, i64)>;

/// Counts and sums of the walks, cut into paths by hand.
struct Hand<'a> {
    numbering: &'a Numbering,
    events: Events,
    table: Table,
    number: u64,
    /// Since the path began.
    sum: i64,
    on_entry_to: BTreeMap<Block, u64>,
}

impl Hand<'_> {
    fn value(&self, role: Role) -> Option<u64> {
        let graph = self.numbering.graph();
        (0..graph.arc_count()).find(|&a| graph.role(a) == role).map(|a| self.numbering.value(a))
    }

    fn end(&mut self, value: u64, next: Option<Role>) {
        let entry = self.table.entry(self.number + value).or_default();
        *entry = (entry.0 + 1, entry.1 + std::mem::take(&mut self.sum));
        self.number = next.map_or(0, |role| self.value(role).unwrap());
    }

    fn enter(&mut self, block: Block) {
        if let Some(end) = self.value(Role::EndAtBlock(block)) {
            self.end(end, Some(Role::BeginAtBlock(block)));
        } else {
            self.on_entry_to.insert(block, self.number);
            self.number += self.value(Role::Inside(block)).unwrap();
        }
        self.sum += self.events.next();
    }

    fn take(&mut self, cfg: &Cfg, edge: Edge) {
        let dst = cfg.dst(edge);
        if let Some(end) = self.value(Role::EndOfTurn(edge)) {
            self.end(end, None);
            self.number = self.on_entry_to[&dst] + self.value(Role::Again(dst)).unwrap();
            self.sum += self.events.next();
            return;
        }
        if self.numbering.graph().self_loops().contains(&edge) {
            self.sum += self.events.next();
            return;
        }
        if let Some(end) = self.value(Role::EndOnEdge(edge)) {
            self.end(end, Some(Role::BeginAfterEdge(dst)));
        } else {
            self.number += self.value(Role::Real(edge)).unwrap_or_else(|| {
                let goto = self.value(Role::ToDispatch(cfg.src(edge))).unwrap();
                goto + self.value(Role::FromDispatch(dst)).unwrap()
            });
        }
        if dst == cfg.exit() {
            self.end(0, None);
        } else {
            self.enter(dst);
        }
    }

    fn walk(&mut self, f: &Function, cfg: &Cfg, walk: &GraphWalk) {
        let calls_last = |block: Block| f.sites().any(|site| site.terminator && site.block == block);
        (self.number, self.sum) = (self.value(Role::Enter).unwrap(), 0);
        self.enter(cfg.entry());
        for &edge in &walk.edges {
            self.sum += self.events.next(); // At the end of the block.
            if calls_last(cfg.src(edge)) {
                self.sum += self.events.next();
            }
            self.take(cfg, edge);
        }
        if let Until::Site(site) = walk.until
            && f.calls[site].terminator
        {
            self.events.next(); // In no sum: the path is not finished.
        }
    }
}

fn by_hand(f: &Function, cfg: &Cfg, plan: &PathPlan, walks: &[GraphWalk], seed: u64) -> Table {
    let numbering = Numbering::new(f, cfg, &plan.key.cuts).unwrap();
    let mut hand = Hand {
        numbering: &numbering,
        events: Events(seed),
        table: Table::new(),
        number: 0,
        sum: 0,
        on_entry_to: BTreeMap::new(),
    };
    walks.iter().for_each(|walk| hand.walk(f, cfg, walk));
    hand.table
}

fn by_machine(f: &Function, cfg: &Cfg, plan: &PathPlan, walks: &[GraphWalk], seed: u64) -> Table {
    let mut events = Events(seed);
    let mut next = || events.next();
    let mut machine = Machine::new(f, cfg, plan).with_events(&mut next);
    for walk in walks {
        machine.run(walk).unwrap();
    }
    let effects = machine.into_effects();
    let mut table = Table::new();
    for (key, &count) in &effects.paths {
        let entry = table.entry(key.1.cast_unsigned()).or_default();
        *entry = (entry.0 + count, entry.1 + effects.sums[key]);
    }
    table
}

fn copies(plan: &PathPlan) -> Vec<PlacedProbe> {
    plan.probes.iter().copied().filter(|placed| matches!(placed.probe, Probe::Linear { .. })).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// What each path adds up is what the walks did between its beginnings and ends; whatever is not in an unfinished
    /// path is in some sum.
    #[test]
    fn sums_are_those_of_the_walks(
        (f, choices, seed) in (random::functions_of_llvm(), random::choices(), any::<u64>()),
        weights in prop::collection::vec(0u8..5, 40),
        limit in prop_oneof![Just(u64::MAX), Just(1u64), 2..40u64],
        array in prop_oneof![Just(PathOptions::default().array), 0..20u64],
    ) {
        let cfg = f.cfg().unwrap();
        let mut walks = random::walks(&f, &cfg, &choices);
        walks.retain(|w| w.from == From::Entry);
        let weighting = Weighting::new(&cfg, weights.into_iter().map(f64::from).collect());
        let options = PathOptions { limit, array, window: array, metric: PathMetric::Events };
        let plan = path::plan(&f, &cfg, &weighting, options).unwrap();
        prop_assert_eq!(by_machine(&f, &cfg, &plan, &walks, seed), by_hand(&f, &cfg, &plan, &walks, seed));
        prop_assert!(plan.key.calls.iter().all(|(_, at)| *at != AtCalls::Counted));
        // Paths and their numbers are the same with a metric as without.
        let bare = path::plan(&f, &cfg, &weighting, PathOptions { metric: PathMetric::Count, ..options }).unwrap();
        prop_assert_eq!((&plan.key.cuts, plan.key.paths, copies(&plan)), (&bare.key.cuts, bare.key.paths, copies(&bare)));
        if let Ok(plan) = path::plan_context(&f, &cfg, &weighting, options) {
            prop_assert_eq!(by_machine(&f, &cfg, &plan, &walks, seed), by_hand(&f, &cfg, &plan, &walks, seed));
        }
    }
}

/// A return's path is counted behind its block's calls, and a loop of one block is part of the path around it.
#[test]
fn paths_are_counted_where_they_end() {
    let f = random::function(3, &[(0, 1, true), (1, 1, true), (1, 2, true), (2, 3, true)], &[(2, false)]);
    let cfg = f.cfg().unwrap();
    let options = PathOptions { metric: PathMetric::Cycles, ..PathOptions::default() };
    let plan = path::plan(&f, &cfg, &Weighting::heuristic(&cfg), options).unwrap();
    let counting = plan.probes.iter().filter(|p| matches!(p.probe, Probe::CountPath(..)));
    assert_eq!(counting.map(|p| p.place).collect::<Vec<_>>(), [Place::End(Block(2))]);
    let walk = GraphWalk { from: From::Entry, edges: [0, 1, 1, 2, 3].map(Edge).to_vec(), until: Until::Exit };
    let mut one = || 1;
    let mut machine = Machine::new(&f, &cfg, &plan).with_events(&mut one);
    machine.run(&walk).unwrap();
    assert_eq!(machine.effects().sums.values().copied().collect::<Vec<_>>(), [10]);
}
