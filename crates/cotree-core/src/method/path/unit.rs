//! Plans the paths of a whole link unit, and decides which of its functions get large arrays or windows.

use super::windows;
use super::{PathCost, PathMethod, PathOptions, PathPlan, UnitPathPlan, Window, loops, plan_as};
use crate::place::affine::LARGE;
use crate::unit::{FunctionGraph, Guess, PlanError, Planner};
use rayon::prelude::*;

/// Plans the paths of all functions, then plans those anew that are worth a large array or a window.
///
/// # Errors
/// See [`PlanError`].
pub(crate) fn plan_unit(method: PathMethod, planner: &Planner<'_>) -> Result<UnitPathPlan, PlanError> {
    let options = planner.choices().paths;
    let all = 0..planner.len();
    let plan = |number: usize, options: PathOptions| -> Result<PathPlan, PlanError> {
        graph(planner, number)?.map_or_else(|| Ok(PathPlan::default()), |at| plan_one(method, planner, &at, options))
    };
    let without_window = PathOptions { window: 0, ..options };
    let mut plans: Vec<PathPlan> =
        all.clone().into_par_iter().map(|number| plan(number, without_window)).collect::<Result<_, _>>()?;
    // How many paths an activation counts, of functions that have no array yet.
    let counts = |(number, plan): (usize, &PathPlan)| {
        if plan.key.paths <= options.array {
            return Ok(0.0);
        }
        let at = graph(planner, number)?;
        let cost = at.map(|at| PathCost::of(plan, at.function, &at.cfg, &at.weighting, options.array));
        Ok(cost.map_or(0.0, |cost| cost.path_increments))
    };
    let counts: Vec<f64> = plans.par_iter().enumerate().map(counts).collect::<Result<_, PlanError>>()?;

    let functions = planner.facts().program.functions().map(|(_, function)| function);
    let judged: Vec<_> =
        functions.zip(&plans).zip(&counts).map(|((function, plan), &counts)| (function, &plan.key, counts)).collect();
    let room = planner.choices().room;
    let in_arrays = windows::worth_arrays(&judged, options.array, room).into_par_iter().map(|number| {
        let mut plan = plan(number, PathOptions { array: u64::MAX, ..options })?;
        plan.key.windows = vec![Window { first: 0, len: plan.key.paths }];
        plan.key.behind = plan.key.paths > windows::FRONT;
        Ok((number, plan))
    });
    for (number, in_array) in in_arrays.collect::<Result<Vec<_>, PlanError>>()? {
        plans[number] = in_array;
    }

    let hashed: Vec<usize> = all.filter(|&number| !plans[number].key.in_array(options.array)).collect();
    let counts: Vec<f64> = hashed.iter().map(|&number| counts[number]).collect();
    let words = windows::worth_windows(&counts, options.array, room);
    let windowed = hashed.into_par_iter().zip(words).map(|(number, window)| {
        let mut plan = plan(number, PathOptions { window, ..options })?;
        plan.key.behind = plan.key.words_of_windows() > windows::FRONT;
        Ok((number, plan))
    });
    for (number, windowed) in windowed.collect::<Result<Vec<_>, PlanError>>()? {
        plans[number] = windowed;
    }
    Ok(UnitPathPlan { method, functions: plans, array: options.array, metric: options.metric })
}

/// A function with its graph. In large functions, where registers are scarce, it hangs on single probes what a path
/// register pushes out of them, and predictions only move these about: bzip2's decoder takes half as many instructions
/// again by them.
fn graph<'a>(planner: &Planner<'a>, number: usize) -> Result<Option<FunctionGraph<'a>>, PlanError> {
    let blocks = planner.facts_of(number).blocks.len();
    planner.function(number, if blocks <= LARGE { Guess::Predicted } else { Guess::Expected })
}

fn plan_one(
    method: PathMethod,
    planner: &Planner<'_>,
    at: &FunctionGraph<'_>,
    options: PathOptions,
) -> Result<PathPlan, PlanError> {
    let mut plan = plan_as(method, at.function, &at.cfg, &at.weighting, options).map_err(|error| at.failed(error))?;
    if planner.choices().affine {
        loops::replacement(&mut plan, at.function, &at.cfg, &at.weighting, at.variables);
    }
    Ok(plan)
}
