//! Replaces counters of loops of a single block, which are not part of paths, by the loops' own variables
//! ([`crate::place::affine`]) where that is cheaper.

use super::types::PathPlan;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::Counter;
use crate::place::affine::{AffineVariable, Replacements};
use crate::plan::Measure;
use crate::probe::Probe;
use crate::weight::weighting::Weighting;

/// Functions of more blocks keep their counters. They have a path register already, and one more value that is live
/// while a loop runs costs more than the counter in loops that copy some bytes: zstd's decoder of sequences (102
/// blocks) takes 5 % more instructions.
const CROWDED: usize = 96;

/// Replaces counters of self-loops in a plan of the function.
pub fn replacement(
    plan: &mut PathPlan,
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    variables: &[AffineVariable],
) {
    if plan.key.self_loops.measures.is_empty() || variables.is_empty() || function.blocks.len() > CROWDED {
        return;
    }
    let replacements = Replacements::new(function, cfg, weighting, variables);
    for (index, measure) in plan.key.self_loops.measures.iter().enumerate() {
        let Measure::Edge(edge) = *measure else { continue };
        let Some((_, replacement)) = replacements.of(edge) else { continue };
        let counter = Counter::new(index);
        let counts = |probe: Probe| matches!(probe, Probe::Count(c) | Probe::CountIfTaken(c, _) if c == counter);
        plan.probes.retain(|placed| !counts(placed.probe));
        plan.probes.extend(replacement.probes(counter));
    }
}
