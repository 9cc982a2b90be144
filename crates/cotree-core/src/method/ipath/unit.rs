//! Plans the paths of a link unit from what is known of it.

use super::supergraph::FunctionInput;
use super::types::{IpathMethod, IpathOptions, SMALL_ARRAY, UnitIpathPlan};
use super::{IpathError, plan};
use crate::method::path::windows::Room;
use crate::unit::{Guess, PlanError, Planner, callers, certain_calls};

/// Plans all functions together.
///
/// # Errors
/// See [`PlanError`].
pub(crate) fn plan_unit(method: IpathMethod, planner: &Planner<'_>) -> Result<UnitIpathPlan, PlanError> {
    let facts = planner.facts();
    let known = callers(facts.program, &facts.callers_known);
    let certain = certain_calls(facts.program, &facts.reached_by_name);
    let modules = facts.program.modules.iter().enumerate();
    let modules: Vec<usize> =
        modules.flat_map(|(number, module)| module.functions.iter().map(move |_| number)).collect();
    let input = |number: usize| {
        let Some(at) = planner.function(number, Guess::Predicted)? else { return Ok(None) };
        Ok(Some(FunctionInput {
            function: at.function,
            cfg: at.cfg,
            weighting: at.weighting,
            module: modules[number],
            callers: if known[number].is_empty() { certain[number].clone() } else { known[number].clone() },
            // One without callers may have any.
            only_callers: !known[number].is_empty(),
            pointed: facts.pointers.functions.get(number).copied().flatten(),
            pointers: facts.pointers.calls.get(number).cloned().unwrap_or_default(),
        }))
    };
    let functions = (0..planner.len()).map(input).collect::<Result<Vec<_>, PlanError>>()?;
    let ipath = planner.choices().ipath;
    let array = if planner.choices().room == Room::AsUsed { ipath.array } else { ipath.array.min(SMALL_ARRAY) };
    plan(&functions, method, IpathOptions { array, ..ipath }).map_err(|error: IpathError| PlanError::Unit(error.into()))
}
