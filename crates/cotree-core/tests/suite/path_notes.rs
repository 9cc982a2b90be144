//! What the path register says in every block, against the walks themselves.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::interpret::{From, GraphWalk};
use cotree_core::method::path::numbering::Numbering;
use cotree_core::method::path::{self, AtCalls, PathMethod, PathOptions, PathPlan, PathStart};
use cotree_core::probe::{Place, Probe, Reg};
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn cases() -> impl Strategy<Value = (Function, Cfg, Vec<GraphWalk>, Weighting, PathOptions, PathMethod)> {
    let limit = prop_oneof![Just(u64::MAX), Just(1u64), 2..40u64];
    let array = prop_oneof![Just(PathOptions::default().array), 0..20u64];
    let method = prop_oneof![Just(PathMethod::Plain), Just(PathMethod::Context)];
    let weights = prop::collection::vec(0u8..5, 40);
    (random::functions_of_llvm(), random::choices(), weights, limit, array, method).prop_map(
        |(f, choices, weights, limit, array, method)| {
            let cfg = f.cfg().unwrap();
            let walks = random::walks(&f, &cfg, &choices);
            let weighting = Weighting::new(&cfg, weights.into_iter().map(f64::from).collect());
            let options = PathOptions { limit, array, window: array, ..PathOptions::default() };
            (f, cfg, walks, weighting, options, method)
        },
    )
}

/// The registers of an activation.
#[derive(Default)]
struct Registers(BTreeMap<Reg, i64>);

impl Registers {
    fn run(&mut self, plan: &PathPlan, place: Place) {
        for placed in plan.probes.iter().filter(|placed| placed.place == place) {
            match placed.probe {
                Probe::Set(register, k) => _ = self.0.insert(register, k),
                Probe::Add(register, k) => *self.0.entry(register).or_default() += k,
                Probe::Linear { to, from, times, plus } => {
                    let value = self.0.get(&from).copied().unwrap_or(0);
                    self.0.insert(to, value.wrapping_mul(times).wrapping_add(plus));
                }
                _ => {}
            }
        }
    }
}

proptest! {
    /// In each block of a walk the register says how the path began, whether the block has calls or not.
    #[test]
    fn the_register_says_the_path_in_every_block((f, cfg, walks, weighting, options, method) in cases()) {
        let plan = path::plan_as(method, &f, &cfg, &weighting, options).unwrap();
        let numbering = Numbering::new(&f, &cfg, &plan.key.cuts).unwrap();
        let apart: BTreeSet<Edge> = numbering.graph().self_loops().iter().copied().collect();
        for &(block, at_calls) in &plan.key.calls {
            prop_assert_eq!(plan.in_blocks.get(block), Some(&at_calls));
        }
        for walk in walks.iter().filter(|walk| walk.from == From::Entry) {
            let mut registers = Registers::default();
            let (mut start, mut blocks, mut edges) = (PathStart::Entry, Vec::new(), Vec::new());
            let mut at = cfg.entry();
            let mut taken = walk.edges.iter();
            let mut turned = false;
            loop {
                if plan.key.cuts.blocks.contains(&at) && !turned {
                    (start, blocks, edges) = (PathStart::Cut(at), Vec::new(), Vec::new());
                }
                if !turned {
                    blocks.push(at);
                }
                registers.run(&plan, Place::Start(at));
                check(&plan, &numbering, &cfg, (at, &registers), (start, &blocks, &edges))?;
                let Some(&edge) = taken.next() else { break };
                registers.run(&plan, Place::End(at));
                registers.run(&plan, Place::Edge(edge));
                turned = apart.contains(&edge);
                at = cfg.dst(edge);
                if at == cfg.exit() {
                    break;
                }
                if turned {
                    continue;
                }
                edges.push(edge);
                let backedge = plan.key.cuts.loops.contains(&edge);
                if plan.key.cuts.edges.contains(&edge) || backedge {
                    (start, blocks, edges) = (PathStart::Cut(at), Vec::new(), Vec::new());
                }
            }
        }
    }
}

fn check(
    plan: &PathPlan,
    numbering: &Numbering,
    cfg: &Cfg,
    (at, registers): (Block, &Registers),
    (start, blocks, edges): (PathStart, &[Block], &[Edge]),
) -> Result<(), TestCaseError> {
    let prefix = match plan.in_blocks[at] {
        AtCalls::Counted => return Ok(()),
        AtCalls::Known(prefix) => prefix,
        AtCalls::Query(less) => registers.0.get(&Reg::PathSum).copied().unwrap_or(0).wrapping_add(less).cast_unsigned(),
    };
    prop_assert!(prefix <= plan.highest);
    let arcs = numbering.arcs_up_to(at, prefix);
    prop_assert!(arcs.is_some(), "{at:?} {prefix}");
    let path = numbering.path_along(cfg, &arcs.unwrap());
    let same_start = plan.key.context || path.start == start;
    prop_assert!(same_start && path.blocks == blocks && path.edges == edges, "{path:?} {blocks:?} {edges:?}");
    Ok(())
}
