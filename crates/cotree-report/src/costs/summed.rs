//! Costs where the events of functions and calls are counted, and no blocks
//! ([`cotree_core::method::events::call_sums`]).
//!
//! What a function did itself is known, but not on which of its lines: all of it stands on the line where the function
//! begins. What calls by name led to is known for each of them. Other calls have sums as well, which belong to several
//! callees, or to none that has a profile.

use super::all::Costs;
use super::calls::CallGraph;
use super::cost::Cost;
use super::function::{FunctionCosts, Line};
pub use super::sums::Summed;
use crate::method::event_sums;
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;
use cotree_core::ids::CallId;
use cotree_core::method::events::call_sums::{CallSum, FunctionSums};
use std::collections::{BTreeMap, BTreeSet};

/// The costs of units whose functions and calls have sums; `None` if one of them has none.
#[must_use]
pub fn costs<'a>(units: &'a [Unit<'a>]) -> Option<Costs<'a>> {
    let mut functions = Vec::new();
    let mut sums: Vec<&FunctionSums> = Vec::new();
    let mut kinds = BTreeSet::new();
    let mut exact = true;
    for (number, unit) in units.iter().enumerate() {
        let (counted, calls, vouched) = event_sums(unit)?;
        kinds.extend(counted);
        exact &= vouched;
        for function in unit.functions() {
            let Some(own) = calls.functions.get(function.index.index()).and_then(Option::as_ref) else { continue };
            let exclusive = cost(counted, &own.exclusive);
            let line = Line { inlined: None, at: function.facts.position.map(|at| (at.file, at.line)) };
            let made = |(call, sum): (usize, &Option<CallSum>)| {
                let sum = sum.as_ref().filter(|sum| sum.happened())?;
                Some((CallId::new(call), sum.calls))
            };
            functions.push(FunctionCosts {
                unit: number,
                entries: Some(own.entries),
                lines: if exclusive.is_none() { BTreeMap::new() } else { BTreeMap::from([(line, exclusive)]) },
                calls: own.calls.iter().enumerate().filter_map(made).collect(),
                function,
            });
            sums.push(own);
        }
    }
    let graph = CallGraph::new(units, &functions);
    let kinds_of = |function: usize| event_sums(&units[functions[function].unit]).map_or(&[][..], |(kinds, ..)| kinds);
    let of_call = |function: usize, call: CallId| {
        let sum = sums[function].calls.get(call.index()).and_then(Option::as_ref);
        sum.map_or(Cost::default(), |sum| cost(kinds_of(function), &sum.inclusive))
    };
    let named: BTreeSet<(usize, CallId)> = graph.arcs().iter().map(|arc| (arc.caller, arc.call)).collect();
    let all_calls = functions.iter().enumerate();
    let mut all_calls =
        all_calls.flat_map(|(number, function)| function.calls.iter().map(move |&(call, _)| (number, call)));
    let complete =
        all_calls.all(|(function, call)| named.contains(&(function, call)) || of_call(function, call).is_none());
    let summed = Summed {
        functions: (0..sums.len()).map(|number| cost(kinds_of(number), &sums[number].inclusive)).collect(),
        arcs: graph.arcs().iter().map(|arc| of_call(arc.caller, arc.call)).collect(),
        complete,
        exact,
    };
    let kinds = kinds.into_iter().collect();
    Some(Costs { units, functions, graph, traced: None, summed: Some(summed), kinds, missing: false })
}

/// Amounts of these kinds.
fn cost(kinds: &[EventKind], amounts: &[u64]) -> Cost {
    let mut cost = Cost::default();
    kinds.iter().zip(amounts).for_each(|(&kind, &amount)| cost.0[kind as usize] = amount.into());
    cost
}
