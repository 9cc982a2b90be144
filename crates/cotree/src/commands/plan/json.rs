//! `cotree plan --json`.

use super::costs::Costs;
use cotree_core::facts::ProgramMap;
use cotree_core::facts::hints::Hints;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::path::PathCost;
use cotree_core::place::affine::{AffineVariable, Replacements};

use cotree_core::statistics::PlacementCost;
use cotree_core::weight::weighting::Weighting;
use cotree_report::names::matches;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Loops, and the variables that count in them.
#[derive(Default)]
pub struct Affine {
    loops: u64,
    variables: u64,
    usable: u64,
    used: u64,
    fixed: u64,
}

impl Affine {
    /// Describes all functions that match.
    pub fn of(
        program: &ProgramMap,
        hints: &[Hints],
        variables: &[Vec<AffineVariable>],
        pattern: Option<&str>,
    ) -> Affine {
        let mut sum = Affine::default();
        for (((_, function), variables), hints) in program.functions().zip(variables).zip(hints) {
            let wanted = pattern.is_none_or(|pattern| matches(pattern, &function.symbol));
            let Some(cfg) = function.cfg().ok().filter(|_| wanted) else { continue };
            let weighting = Weighting::predicted(function, &cfg, hints);
            let replacements = Replacements::new(function, &cfg, &weighting, variables);
            let plan = ChordMethod::Edge.plan_with_replacements(function, &cfg, &weighting, &replacements);
            let mut replaced: Vec<usize> =
                (plan.probes.iter()).filter_map(|placed| Some(placed.probe.closing()?.0.index())).collect();
            replaced.sort_unstable();
            replaced.dedup();
            sum.loops += LoopForest::new(&cfg, &Dfs::new(&cfg)).len() as u64;
            sum.variables += variables.len() as u64;
            sum.usable += replacements.verdicts.iter().filter(|verdict| verdict.is_ok()).count() as u64;
            sum.used += replaced.len() as u64;
            sum.fixed += plan.key.fixed.len() as u64;
        }
        sum
    }
}

/// The object, `cotree-plan/1`.
pub fn write(costs: &Costs, affine: Option<&Affine>, out: &mut dyn Write) -> io::Result<()> {
    let counters = &costs.counters;
    let placement = |cost: &PlacementCost| {
        json!({
            "counters": cost.counters,
            "jumps": cost.jumps,
            "increments": cost.increments,
            "jumps_executed": cost.jumps_executed,
        })
    };
    let mut plan = json!({
        "schema": "cotree-plan/1",
        "blocks": counters.blocks,
        "edges": counters.edges,
        "methods": {
            "redundant": placement(&counters.redundant),
            "edge": placement(&counters.edge),
            "edge_minimum": placement(&counters.edge_minimum),
            "vertex": placement(&counters.vertex),
            "vertex_edge": placement(&counters.vertex_edge),
            "block": placement(&counters.block),
        },
        "paths": { "path": paths(&costs.paths), "path_context": paths(&costs.context) },
    });
    if let Some(affine) = affine {
        plan["affine"] = json!({
            "loops": affine.loops,
            "variables": affine.variables,
            "usable": affine.usable,
            "used": affine.used,
            "fixed": affine.fixed,
        });
    }
    serde_json::to_writer_pretty(&mut *out, &plan)?;
    writeln!(out)
}

fn paths(cost: &PathCost) -> Value {
    json!({
        "functions": cost.functions,
        "hashed_functions": cost.hashed_functions,
        "limited_functions": cost.limited_functions,
        "functions_with_context": cost.functions_with_context,
        "most_paths": cost.most_paths,
        "array_entries": cost.array_entries,
        "probes": cost.probes,
        "register_updates": cost.register_updates,
        "increments": cost.path_increments,
        "hashed_increments": cost.hashed_increments,
        "self_loop_increments": cost.self_loop_increments,
        "sites_with_register": cost.sites_with_register,
        "calls_with_register": cost.calls_with_register,
    })
}
