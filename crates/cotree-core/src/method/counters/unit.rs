//! Plans the counters of a whole link unit. Counters on chords are fewer where the entries of a function follow
//! from its callers ([`crate::place::supergraph`]).

use super::chords::ChordMethod;
use super::{CounterMethod, UnitCounterPlan, block, edge, vertex};
use crate::ids::{Block, IdMap};
use crate::place::affine::Replacements;
use crate::place::promotion;
use crate::place::spanning::Extreme;
use crate::place::supergraph::{self, Candidate};
use crate::plan::{CallPoint, CounterPlan, DerivedEntry};
use crate::unit::{FunctionGraph, PlanError, Planner, call_points};

/// Plans the counters of all functions.
///
/// # Errors
/// See [`PlanError`].
pub(crate) fn plan_unit(method: CounterMethod, planner: &Planner<'_>) -> Result<UnitCounterPlan, PlanError> {
    let (functions, entries) = match method {
        CounterMethod::Edge if planner.choices().spanning_tree == Extreme::Maximum => {
            on_chords(ChordMethod::Edge, planner)?
        }
        CounterMethod::Edge => {
            let plan = |at: &FunctionGraph<'_>| {
                edge::plan_extreme(at.function, &at.cfg, &at.weighting, planner.choices().spanning_tree)
            };
            (planner.each(plan)?, Vec::new())
        }
        CounterMethod::VertexEdge => on_chords(ChordMethod::VertexEdge, planner)?,
        CounterMethod::Block => (plan_redundant(planner)?, Vec::new()),
        CounterMethod::Vertex => (planner.each(|at| vertex::plan(at.function, &at.cfg, &at.weighting))?, Vec::new()),
    };
    Ok(UnitCounterPlan { method, functions, entries })
}

/// A counter on every block and every edge of all functions.
///
/// # Errors
/// See [`PlanError`].
pub(crate) fn plan_redundant(planner: &Planner<'_>) -> Result<Vec<CounterPlan>, PlanError> {
    planner.each(|at| block::plan(at.function, &at.cfg))
}

/// The counters of one function, and what the choice between its plans hangs on.
#[derive(Default)]
struct ChordPlans {
    /// The plan of the function by itself.
    alone: CounterPlan,
    /// If its entries may follow from its callers: that plan, with what it saves.
    entered: Option<(Candidate, CounterPlan)>,
    /// What its blocks weigh per activation.
    weights: IdMap<Block, f64>,
}

impl ChordPlans {
    fn new(method: ChordMethod, at: &FunctionGraph<'_>, planner: &Planner<'_>, calls: &[CallPoint]) -> Self {
        let FunctionGraph { number, function, cfg, weighting, variables, .. } = at;
        let choices = planner.choices();
        let replacements = Replacements::new(function, cfg, weighting, if choices.affine { variables } else { &[] });
        let promoted = |mut plan: CounterPlan| {
            if choices.promote {
                promotion::promote(function, cfg, weighting, variables, &mut plan);
            }
            plan
        };
        // Weights are an estimate for one activation, or the counts of all activations of an earlier run.
        let activations = if weighting.is_guess() { 1.0 } else { weighting.edge(cfg.exit_edge()).max(1.0) };
        let weights = cfg.blocks().map(|block| weighting.block(block) / activations).collect();
        if calls.is_empty() {
            let checks_thread = planner.facts().check_thread.get(*number) == Some(&true);
            let plan = if checks_thread {
                method.plan_counting_entries(function, cfg, weighting, &replacements)
            } else {
                method.plan_with_replacements(function, cfg, weighting, &replacements)
            };
            return Self { alone: promoted(plan), entered: None, weights };
        }
        let (alone, entered) = method.plan_both(function, cfg, weighting, &replacements);
        let entered = entered.and_then(|(plan, saves)| {
            let candidate = Candidate::new(method, function, cfg, &plan, calls.to_vec(), saves / activations)?;
            Some((candidate, promoted(plan)))
        });
        Self { alone: promoted(alone), entered, weights }
    }
}

/// Counters on chords: plans each function separately, then leaves out the counters that follow from callers.
fn on_chords(method: ChordMethod, planner: &Planner<'_>) -> Result<(Vec<CounterPlan>, Vec<DerivedEntry>), PlanError> {
    let facts = planner.facts();
    let calls = if planner.choices().interprocedural_flow {
        call_points(facts.program, &facts.callers_known)
    } else {
        vec![Vec::new(); planner.len()]
    };
    let planned = planner.each(|at| ChordPlans::new(method, at, planner, &calls[at.number]))?;
    let weigh = |call: &CallPoint| {
        let weights = planned.get(call.function.index()).map(|plans| &plans.weights);
        weights.and_then(|weights| weights.get(call.block)).copied().unwrap_or(0.0)
    };
    let frequencies = supergraph::frequencies(&calls, weigh);
    let candidate = |(plans, often): (&ChordPlans, f64)| {
        let (candidate, _) = plans.entered.as_ref()?;
        Some(Candidate { saves: candidate.saves * often, ..candidate.clone() })
    };
    let entries = supergraph::choose(planned.iter().zip(frequencies).map(candidate).collect());
    let mut derived = entries.iter().map(|entry| entry.function.index()).peekable();
    let choose = |(number, plans): (usize, ChordPlans)| match plans.entered {
        Some((_, entered)) if derived.next_if(|&function| function == number).is_some() => entered,
        _ => plans.alone,
    };
    let functions = planned.into_iter().enumerate().map(choose).collect();
    Ok((functions, entries))
}
