//! The cost of each method's counters: the numbers behind Table 2 and Graphs 2–4 of Ball & Larus (1994, §6).
//!
//! Counters are placed under one weighting and judged under another: "we used the profile information collected from
//! a previous run to determine how many times each counter would have been incremented and how many extra jumps would
//! have been needed" (§6.1). With the static heuristic for the first and a profile for the second this gives
//! *Heuristic-Max* and *Heuristic-Min* of Graph 4, with a profile for both *Exact-Max* and *Exact-Min*.

use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::method::counters::{block, edge, vertex, vertex_edge};
use crate::place::placement::add_block_counter;
use crate::place::spanning::Extreme;
use crate::plan::{CounterPlan, Measure};
use crate::probe::Place;
use crate::weight::weighting::Weighting;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Instructions of one increment, as the paper counts them (§6.1).
const INCREMENT_INSTRUCTIONS: f64 = 5.0;

/// The counters of one method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacementCost {
    /// How many counters there are (*Profiled Edges* of Table 2, where edges are counted).
    pub counters: u64,
    /// How many of them need a block of their own, and so perhaps a jump. (The others are the *No-Jump Edges*.)
    pub jumps: u64,
    /// How many increments would be executed.
    pub increments: f64,
    /// How many jumps would be executed, if each block of its own needs one.
    pub jumps_executed: f64,
}

impl PlacementCost {
    fn of(plan: &CounterPlan, judge: &Weighting) -> Self {
        let increments = plan.key.measures.iter().map(|&measure| match measure {
            Measure::Edge(edge) => judge.edge(edge),
            Measure::Block(block) => judge.block(block),
        });
        let jumps = plan.probes.iter().filter_map(|placed| match placed.place {
            Place::Edge(edge) => Some(judge.edge(edge)),
            Place::Start(_) | Place::End(_) | Place::Call(_) | Place::After(_) => None,
        });
        Self {
            counters: plan.key.measures.len() as u64,
            jumps: jumps.clone().count() as u64,
            increments: increments.sum(),
            jumps_executed: jumps.sum(),
        }
    }

    /// Instructions executed, at five per increment and one per jump.
    #[must_use]
    pub fn instructions(&self) -> f64 {
        INCREMENT_INSTRUCTIONS * self.increments + self.jumps_executed
    }

    /// How many times fewer increments this is than `redundant`; `None` where there are none.
    #[must_use]
    pub fn increment_reduction(&self, redundant: &Self) -> Option<f64> {
        (self.increments > 0.0).then(|| redundant.increments / self.increments)
    }

    /// How many times fewer instructions this is than `redundant`; `None` where there are none.
    #[must_use]
    pub fn instruction_reduction(&self, redundant: &Self) -> Option<f64> {
        (self.instructions() > 0.0).then(|| redundant.instructions() / self.instructions())
    }
}

impl AddAssign for PlacementCost {
    fn add_assign(&mut self, other: Self) {
        self.counters += other.counters;
        self.jumps += other.jumps;
        self.increments += other.increments;
        self.jumps_executed += other.jumps_executed;
    }
}

/// A function's graph and what each method costs on it. Add them up for a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanStatistics {
    /// Basic blocks, EXIT not counted.
    pub blocks: u64,
    /// Edges, EXIT→entry not counted (*Total Edges* of Table 2).
    pub edges: u64,
    /// A counter in every block: the paper's *Redundant* mode.
    pub redundant: PlacementCost,
    /// *Eprof(Ecnt)* on the maximum spanning tree: what [`crate::method::Method::Edge`] does.
    pub edge: PlacementCost,
    /// *Eprof(Ecnt)* on the minimum spanning tree: the worst choice of tree.
    pub edge_minimum: PlacementCost,
    /// *Vprof(Vcnt)*: [`crate::method::Method::Vertex`].
    pub vertex: PlacementCost,
    /// *Vprof(Ecnt)*: [`crate::method::Method::VertexEdge`].
    pub vertex_edge: PlacementCost,
    /// A counter in every block and on every edge: [`crate::method::Method::Block`].
    pub block: PlacementCost,
}

impl PlanStatistics {
    /// Plans one function with every method under `guide`, and judges the plans under `judge`.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg, guide: &Weighting, judge: &Weighting) -> Self {
        if function.untouched.is_some() {
            return Self::default();
        }
        let mut redundant = CounterPlan::default();
        for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
            add_block_counter(&mut redundant, block);
        }
        let cost = |plan: &CounterPlan| PlacementCost::of(plan, judge);
        Self {
            blocks: cfg.block_count() as u64 - 1,
            edges: cfg.edge_count() as u64 - 1,
            redundant: cost(&redundant),
            edge: cost(&edge::plan(function, cfg, guide)),
            edge_minimum: cost(&edge::plan_extreme(function, cfg, guide, Extreme::Minimum)),
            vertex: cost(&vertex::plan(function, cfg, guide)),
            vertex_edge: cost(&vertex_edge::plan(function, cfg, guide)),
            block: cost(&block::plan(function, cfg)),
        }
    }
}

impl AddAssign for PlanStatistics {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.edges += other.edges;
        self.redundant += other.redundant;
        self.edge += other.edge;
        self.edge_minimum += other.edge_minimum;
        self.vertex += other.vertex;
        self.vertex_edge += other.vertex_edge;
        self.block += other.block;
    }
}
