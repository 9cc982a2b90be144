//! Plans all functions of a unit.

use super::calls;
use super::plan::{TraceCalls, plan};
use super::types::{TraceError, TracePlan};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::weight::weighting::Weighting;

/// Plans functions that are linked together. Of direct calls it finds out more; `calls` says what is known before.
///
/// # Errors
/// The first function that can't be planned, by its place.
pub fn plan_functions<'a>(
    functions: &[(&'a Function, &'a Cfg, Weighting)],
    mut calls: Vec<TraceCalls>,
) -> Result<Vec<TracePlan>, (usize, TraceError)> {
    let facts: Vec<&Function> = functions.iter().map(|&(function, ..)| function).collect();
    calls::refine(&facts, &mut calls);
    let planned = functions.iter().zip(&calls).enumerate();
    planned
        .map(|(number, ((function, cfg, weighting), calls))| {
            plan(function, cfg, weighting, calls).map_err(|error| (number, error))
        })
        .collect()
}
