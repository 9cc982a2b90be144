//! The cost of a path plan: how often each kind of probe runs (Ball & Larus 1996, §7, Table 1).

use super::classes::EdgeClasses;
use super::types::{Cuts, PATH_TABLE, PathKey, PathPlan, Window};
use super::{context, cuts};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::probe::{Place, PlacedProbe, Probe};
use crate::weight::weighting::Weighting;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Probes of path plans, as many as there are and as many as would be executed. Add them up for a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathCost {
    /// Functions with paths.
    pub functions: u64,
    /// How many of them have more paths than an array of `array` entries would hold.
    pub hashed_functions: u64,
    /// The most paths of one function.
    pub most_paths: u64,
    /// Entries of all arrays.
    pub array_entries: u64,
    /// Functions whose paths are cut only because of their number.
    pub limited_functions: u64,
    /// Functions whose paths have context.
    pub functions_with_context: u64,
    /// Probes.
    pub probes: u64,
    /// Updates of path registers, copies between registers among them.
    pub register_updates: f64,
    /// Increments of path tables.
    pub path_increments: f64,
    /// Increments of paths that always need a hash table; in functions that have one, the others do if the path is in
    /// no window.
    pub hashed_increments: f64,
    /// Increments of the counters of self-loops.
    pub self_loop_increments: f64,
    /// Call sites at which the register has to be found when an activation dies.
    pub sites_with_register: u64,
    /// Calls from these.
    pub calls_with_register: f64,
}

impl PathCost {
    /// Judges one plan, where path tables of at most `array` entries are arrays.
    #[must_use]
    pub fn of(plan: &PathPlan, function: &Function, cfg: &Cfg, judge: &Weighting, array: u64) -> Self {
        let key = &plan.key;
        if key.paths == 0 {
            return Self::default();
        }
        let executed = |place| executed(cfg, judge, place);
        let hashed = !key.in_array(array);
        let mut cost = Self {
            functions: 1,
            hashed_functions: u64::from(hashed),
            most_paths: key.paths,
            array_entries: if hashed { key.windows.iter().map(|window| window.len).sum() } else { key.paths },
            limited_functions: u64::from(limited(key, function, cfg)),
            functions_with_context: u64::from(key.context),
            probes: plan.probes.len() as u64,
            ..Self::default()
        };
        for site in key.sites_with_register(function) {
            cost.sites_with_register += 1;
            cost.calls_with_register += judge.block(function.calls[site].block);
        }
        for placed in &plan.probes {
            let times: f64 = executed(placed.place);
            match placed.probe {
                Probe::Set(..) | Probe::Add(..) | Probe::Linear { .. } => cost.register_updates += times,
                Probe::CountPath(table, ..) => {
                    cost.path_increments += times;
                    if hashed && Window::of(&key.windows, table).is_none() {
                        cost.hashed_increments += times;
                    }
                }
                _ => cost.self_loop_increments += times,
            }
        }
        cost
    }
}

/// The approximate cost, in instructions, of the probes of a function with a hash table, if this part of its paths is
/// in the window.
pub(super) fn price(probes: &[PlacedProbe], cfg: &Cfg, forecast: &Weighting, share: f64) -> f64 {
    let far = |k: i64| if i32::try_from(k).is_err() { 2.0 } else { 0.0 };
    let mut sum = 0.0;
    let mut last: Option<(Place, Probe)> = None;
    for &PlacedProbe { place, probe } in probes {
        let known = matches!(last, Some((before, Probe::Set(..))) if before == place);
        let price = match probe {
            Probe::Set(..) => 1.0,
            Probe::Add(_, k) => 1.0 + far(k),
            Probe::CountPath(..) if known => 0.0, // The word is known, and the register dead.
            Probe::CountPath(table, ..) if table == PATH_TABLE => HASH,
            Probe::CountPath(_, _, k) => LOOK + (1.0 - share) * HASH + far(k),
            _ => 0.0,
        };
        sum += price * executed(cfg, forecast, place);
        last = Some((place, probe));
    }
    sum
}

/// To count a path in the hash table.
const HASH: f64 = 12.0;
/// To look whether it is in a window, and count it there.
pub(super) const LOOK: f64 = 4.0;

/// How often control passes a place.
fn executed(cfg: &Cfg, judge: &Weighting, place: Place) -> f64 {
    match place {
        Place::Start(block) => judge.block(block),
        Place::End(block) => cfg.succs(block).iter().map(|&e| judge.edge(e)).sum(),
        Place::Edge(edge) => judge.edge(edge),
        // No probe of paths.
        Place::Call(_) | Place::After(_) => 0.0,
    }
}

/// Are there more cuts than any number of paths would need?
fn limited(key: &PathKey, function: &Function, cfg: &Cfg) -> bool {
    let classes = EdgeClasses::new(function, cfg);
    let necessary = match key.context {
        true => context::necessary(function, cfg, &classes),
        false => Ok(cuts::necessary(function, cfg, &classes)),
    };
    let count = |cuts: &Cuts| cuts.edges.len() + cuts.blocks.len() + cuts.loops.len();
    necessary.is_ok_and(|necessary| count(&key.cuts) > count(&necessary))
}

impl AddAssign for PathCost {
    fn add_assign(&mut self, other: Self) {
        self.functions += other.functions;
        self.hashed_functions += other.hashed_functions;
        self.most_paths = self.most_paths.max(other.most_paths);
        self.array_entries += other.array_entries;
        self.limited_functions += other.limited_functions;
        self.functions_with_context += other.functions_with_context;
        self.probes += other.probes;
        self.register_updates += other.register_updates;
        self.path_increments += other.path_increments;
        self.hashed_increments += other.hashed_increments;
        self.self_loop_increments += other.self_loop_increments;
        self.sites_with_register += other.sites_with_register;
        self.calls_with_register += other.calls_with_register;
    }
}
