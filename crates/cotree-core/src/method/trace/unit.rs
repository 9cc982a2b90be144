//! Plans all functions of a unit.

use super::calls;
use super::plan::{TraceCalls, plan};
use super::types::{CallKind, TraceError, TraceOptions, TracePlan, UnitTracePlan};
use crate::facts::{Call, Callee, Function, Linkage};
use crate::graph::cfg::Cfg;
use crate::ids::FunctionId;
use crate::unit::{Guess, Names, PlanError, Planner, call_points};
use crate::weight::weighting::Weighting;
use rayon::prelude::*;

/// Plans functions that are linked together. Of direct calls it finds out more; `calls` says what is known before.
///
/// # Errors
/// The first function that can't be planned, by its place.
pub fn plan_functions<'a>(
    functions: &[(&'a Function, &'a Cfg, Weighting)],
    mut calls: Vec<TraceCalls>,
    options: TraceOptions,
) -> Result<Vec<TracePlan>, (usize, TraceError)> {
    let facts: Vec<&Function> = functions.iter().map(|&(function, ..)| function).collect();
    calls::refine(&facts, &mut calls);
    let planned = functions.iter().zip(&calls).enumerate();
    planned
        .map(|(number, ((function, cfg, weighting), calls))| {
            plan(function, cfg, weighting, calls, options).map_err(|error| (number, error))
        })
        .collect()
}

/// Plans the functions of a unit.
///
/// # Errors
/// See [`PlanError`].
pub fn plan_unit(planner: &Planner<'_>) -> Result<UnitTracePlan, PlanError> {
    let facts: Vec<&Function> = (0..planner.len()).map(|number| planner.facts_of(number)).collect();
    let mut calls = known_calls(planner);
    calls::refine(&facts, &mut calls);
    let options = planner.choices().traces;
    let plan = |number: usize| match planner.function(number, Guess::Predicted)? {
        Some(at) => {
            plan(at.function, &at.cfg, &at.weighting, &calls[number], options).map_err(|error| at.failed(error))
        }
        None => Ok(TracePlan::default()),
    };
    let functions = (0..planner.len()).into_par_iter().map(plan).collect::<Result<_, _>>()?;
    Ok(UnitTracePlan { functions })
}

/// What the names in calls say, and who records its entry: whoever may be called other than by name in the unit, and
/// with times all that call others.
fn known_calls(planner: &Planner<'_>) -> Vec<TraceCalls> {
    let facts = planner.facts();
    let modules = facts.program.modules.iter().enumerate();
    let functions: Vec<(usize, &Function)> =
        modules.flat_map(|(module, facts)| facts.functions.iter().map(move |function| (module, function))).collect();
    let names = Names::new(&functions);
    let records_entry: Vec<bool> =
        call_points(facts.program, &facts.callers_known).iter().map(|points| points.is_empty()).collect();
    let certain = |callee: usize| {
        let function = functions[callee].1;
        // Of a copy another unit may have the one that is called, as of `extern template`s.
        let here = match function.linkage {
            Linkage::Internal => true,
            Linkage::Copy => !records_entry[callee],
            Linkage::External => !records_entry[callee] || !facts.preemptible,
        };
        here && function.untouched.is_none()
    };
    let kind = |module: usize, function: &Function, call: &Call| {
        if call.resume_marker || call.callee == Callee::Assembly {
            return CallKind::Untraced;
        }
        let Some(name) = call.callee_name().filter(|_| !call.callee_uncertain) else { return CallKind::Opaque };
        match *names.find(module, name) {
            [callee] if certain(callee) => CallKind::Direct(FunctionId::new(callee)),
            [] if function.calls_quietly(call, name) => CallKind::Untraced,
            _ => CallKind::Opaque,
        }
    };
    let timed = planner.choices().traces.timed;
    let calls = functions.iter().zip(&records_entry).map(|(&(module, function), &records_entry)| {
        let mut kinds: Vec<_> =
            function.calls.numbered().map(|(id, call)| (id, kind(module, function, call))).collect();
        let tells_time = timed && kinds.iter().any(|&(_, kind)| kind != CallKind::Untraced);
        kinds.retain(|&(_, kind)| kind != CallKind::Opaque);
        TraceCalls { records_entry: records_entry || tells_time, kinds }
    });
    calls.collect()
}
