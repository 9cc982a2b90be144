//! What a path plan would cost: how often each kind of probe runs (Ball & Larus 1996, §7, Table 1).

use super::PathPlan;
use crate::cfg::Cfg;
use crate::probe::{Place, Probe};
use crate::weighting::Weighting;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Probes of path plans, as many as there are and as many as would be executed. Add them up for a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathCost {
    /// Functions with paths.
    pub functions: u64,
    /// How many of them have more paths than an array of `array` entries would hold.
    pub hashed_functions: u64,
    /// Probes.
    pub probes: u64,
    /// Updates of path registers, copies between registers among them.
    pub register_updates: f64,
    /// Increments of path tables.
    pub path_increments: f64,
    /// Those of them in functions that need a hash table.
    pub hashed_increments: f64,
    /// Increments of the counters of self-loops.
    pub self_loop_increments: f64,
    /// Call sites at which the register has to be found when an activation dies.
    pub sites_with_register: u64,
}

impl PathCost {
    /// Judges one plan, where path tables of at most `array` entries are arrays.
    #[must_use]
    pub fn of(plan: &PathPlan, cfg: &Cfg, judge: &Weighting, sites_with_register: usize, array: u64) -> Self {
        let executed = |place| match place {
            Place::Start(block) => judge.block(block),
            Place::End(block) => cfg.succs(block).iter().map(|&e| judge.edge(e)).sum(),
            Place::Edge(edge) => judge.edge(edge),
        };
        let hashed = plan.paths > array;
        let mut cost = Self {
            functions: u64::from(plan.paths > 0),
            hashed_functions: u64::from(hashed),
            probes: (plan.plan.probes.len() + plan.copies.len()) as u64,
            sites_with_register: sites_with_register as u64,
            ..Self::default()
        };
        for placed in &plan.plan.probes {
            let times: f64 = executed(placed.place);
            match placed.probe {
                Probe::Set(..) | Probe::Add(..) => cost.register_updates += times,
                Probe::CountPath(..) => cost.path_increments += times,
                _ => cost.self_loop_increments += times,
            }
        }
        cost.register_updates += plan.copies.iter().map(|copy| executed(copy.place)).sum::<f64>();
        if hashed {
            cost.hashed_increments = cost.path_increments;
        }
        cost
    }
}

impl AddAssign for PathCost {
    fn add_assign(&mut self, other: Self) {
        self.functions += other.functions;
        self.hashed_functions += other.hashed_functions;
        self.probes += other.probes;
        self.register_updates += other.register_updates;
        self.path_increments += other.path_increments;
        self.hashed_increments += other.hashed_increments;
        self.self_loop_increments += other.self_loop_increments;
        self.sites_with_register += other.sites_with_register;
    }
}
