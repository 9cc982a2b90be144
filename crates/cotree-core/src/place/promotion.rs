//! Promotion: a counter that is bumped in a tight loop is kept in a register there, and the register is added to the
//! counter where the loop is left.
//!
//! An increment costs one instruction, in memory or in a register. But a counter in memory has to be
//! written and read back before it can be bumped again. That takes four or five cycles, and a loop of a few
//! instructions waits for it. Besides, the optimiser does not change increments in memory. It merges a register with a
//! variable of the loop that moves in step with it, and sums it up where the loop is unrolled.
//!
//! Promotion is the replacement of [`crate::place::affine`], with a variable of our own. Nothing in the loop may
//! abandon an activation. An interruption at an arbitrary place loses the register's count, and is flagged, too.
//!
//! The register is 0 outside of the loop, so where the loop is entered only this 0 is needed.
//!
//! Estimates of how often loops run are unreliable for loops in which nothing moves by constant steps. Such loops look
//! at bits, or follow pointers, and soon find what they search. They also have no variable to merge a register with.

use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Edge, IdMap, Loop};
use crate::place::affine::{AffineVariable, LARGE};
use crate::plan::{CounterPlan, FunctionPlan};
use crate::probe::{Place, PlacedProbe, Probe, Reg};
use crate::weight::weighting::Weighting;
use std::collections::BTreeMap;

/// How many instructions a processor executes while it waits until a counter in memory can be bumped again.
const INSTRUCTIONS_MEANWHILE: f64 = 24.0;

/// The cost of that wait, in increments, in a loop that does nothing else.
const WAIT: f64 = 4.0;

/// The cost of a register each time that its loop is entered, in increments: a zero, and an addition at the end.
const ROUND_TRIP: f64 = 2.0;

/// One more increment is added for this many blocks of the function: a promoted counter takes a register from the
/// program, and large functions have none to spare.
const CROWD: f64 = 100.0;

/// The factor for estimates of how often a loop runs.
const SURE_TRIPS: f64 = 0.5;

/// Promotes counters of the plan wherever that is expected to pay. Functions above [`LARGE`] are left out: whether
/// their loops find registers for their own values depends on single instructions. `variables` are those of the
/// function that move by constant steps.
pub fn promote(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    variables: &[AffineVariable],
    plan: &mut CounterPlan,
) {
    let counts = plan.probes.iter().any(|placed| matches!(placed.probe, Probe::Count(_)));
    if !counts || function.blocks.len() > LARGE {
        return;
    }
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    let tight = tight_loops(function, cfg, weighting, variables, &loops);
    if tight.is_empty() {
        return;
    }
    let mut next = 0;
    let mut closings = Vec::new();
    for placed in &mut plan.probes {
        let Probe::Count(counter) = placed.probe else { continue };
        let (around, bumps) = match placed.place {
            Place::Start(block) | Place::End(block) => (loops.innermost(block), weighting.block(block)),
            Place::Edge(edge) => (loops.common(cfg.src(edge), cfg.dst(edge)), weighting.edge(edge)),
            Place::Call(_) | Place::After(_) => continue,
        };
        let Some(tight) = around.and_then(|l| tight.get(&l)) else { continue };
        if bumps * tight.gain <= tight.cost {
            continue;
        }
        let register = Reg::Promoted(next);
        next += 1;
        placed.probe = Probe::Add(register, 1);
        for &place in &tight.left {
            closings.push(PlacedProbe { place, probe: Probe::AddTo(counter, register, 0) });
            closings.push(PlacedProbe { place, probe: Probe::Set(register, 0) });
        }
    }
    plan.probes.append(&mut closings);
}

/// Does the plan count in registers?
#[must_use]
pub fn promotes<'p>(plan: impl Into<FunctionPlan<'p>>) -> bool {
    plan.into().probes.iter().any(|placed| matches!(placed.probe, Probe::AddTo(..)))
}

/// A loop in which registers may count.
struct Tight {
    /// What a register gains for each expected bump, in increments.
    gain: f64,
    /// What a register costs.
    cost: f64,
    /// Where code runs whenever, and only when, the loop is left.
    left: Vec<Place>,
}

/// The innermost loops in which nothing is called and that would wait for counters in memory.
fn tight_loops(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    variables: &[AffineVariable],
    loops: &LoopForest,
) -> BTreeMap<Loop, Tight> {
    let mut fit: IdMap<Loop, bool> =
        loops.loops().map(|l| !loops.is_irreducible(l) && loops.exit_count(l) > 0).collect();
    for outer in loops.loops().filter_map(|l| loops.parent(l)) {
        fit[outer] = false;
    }
    let calls = (cfg.blocks().zip(&function.blocks)).filter(|(_, facts)| facts.instructions.calls > 0).map(|(b, _)| b);
    for l in function.sites().map(|site| site.block).chain(calls).filter_map(|block| loops.innermost(block)) {
        fit[l] = false;
    }
    let mut exits: BTreeMap<Loop, Vec<Edge>> = BTreeMap::new();
    for edge in cfg.edges().filter(|&e| e != cfg.exit_edge()) {
        let from = loops.innermost(cfg.src(edge)).filter(|&l| fit[l]);
        if let Some(l) = from.filter(|&l| !loops.contains(l, cfg.dst(edge))) {
            exits.entry(l).or_default().push(edge);
        }
    }
    // Estimates do not fit searches, which end early.
    let moves = |l: Loop| variables.iter().any(|variable| !variable.shifted && variable.header == loops.header(l));
    exits.retain(|&l, exits| !weighting.is_guess() || (weighting.likely(exits.iter().copied()) == 1 && moves(l)));
    let mut instructions: IdMap<Loop, f64> = IdMap::filled(0.0, loops.len());
    for (block, facts) in cfg.blocks().zip(&function.blocks) {
        if let Some(l) = loops.innermost(block) {
            instructions[l] += weighting.block(block) * f64::from(facts.instructions.total);
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "costs are estimates")]
    let crowd = function.blocks.len() as f64 / CROWD;
    let judge = |(l, exits): (Loop, Vec<Edge>)| {
        let circuits = weighting.block(loops.header(l));
        let idle = 1.0 - instructions[l] / circuits.max(f64::MIN_POSITIVE) / INSTRUCTIONS_MEANWHILE;
        let sure = if weighting.is_guess() { SURE_TRIPS } else { 1.0 };
        let entries: f64 = exits.iter().map(|&e| weighting.edge(e)).sum();
        let mut left = exits.iter().map(|&e| place(function, cfg, loops, l, e)).collect::<Option<Vec<_>>>()?;
        left.sort_unstable();
        left.dedup();
        Some((l, Tight { gain: sure * WAIT * idle, cost: entries * (ROUND_TRIP + crowd), left }))
    };
    exits.into_iter().filter_map(judge).filter(|(_, tight)| tight.gain > 0.0).collect()
}

/// Where code runs whenever the loop is left by this exit, or by another, and only then.
fn place(function: &Function, cfg: &Cfg, loops: &LoopForest, l: Loop, exit: Edge) -> Option<Place> {
    let dst = cfg.dst(exit);
    if dst != cfg.exit() && cfg.preds(dst).iter().all(|&e| loops.contains(l, cfg.src(e))) {
        return Some(Place::Start(dst));
    }
    let kind = function.edges.get(exit)?.kind;
    let splittable = kind.splittable() && !kind.exceptional() && kind != EdgeKind::CallBrIndirect;
    splittable.then_some(Place::Edge(exit))
}
