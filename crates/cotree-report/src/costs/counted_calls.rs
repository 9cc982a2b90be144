//! Costs where calls are counted, and nothing else ([`cotree_core::method::calls`]): one kind of events, calls.
//!
//! Each call is an event of its line. How often a function was entered is known where all calls of it are counted.

use super::all::Costs;
use super::calls::CallGraph;
use super::cost::Cost;
use super::function::{FunctionCosts, Line};
use crate::method::call_profiles;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::events::EventKind;
use cotree_core::facts::{Linkage, linker_name};
use cotree_core::ids::CallId;
use std::collections::{BTreeMap, HashMap};

/// The costs of units whose calls are counted; `None` if those of one of them are not.
#[must_use]
pub fn costs<'a>(units: &'a [Unit<'a>]) -> Option<Costs<'a>> {
    let mut functions = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let profiles = call_profiles(unit)?;
        let counts = |function: &UnitFunction<'_>| Some(&profiles.get(function.index.index())?.as_ref()?.calls);
        let mut calls_of: HashMap<(&str, &str), Option<u64>> = HashMap::new();
        for function in unit.functions() {
            let counts = counts(&function);
            for (call, facts) in function.facts.calls.numbered() {
                let Some(name) = facts.callee_name() else { continue };
                let vouched = function.flaws().is_empty() && !facts.callee_uncertain;
                let count = counts.and_then(|counts| *counts.get(call.index())?).filter(|_| vouched);
                let sum = calls_of.entry((function.module.name.as_str(), name)).or_insert(Some(0));
                *sum = sum.zip(count).and_then(|(sum, count)| sum.checked_add(count));
            }
        }
        for function in unit.functions() {
            let Some(counts) = counts(&function) else { continue };
            let all_counted = function.facts.linkage == Linkage::Internal && !function.facts.address_taken;
            let called = calls_of.get(&(function.module.name.as_str(), linker_name(&function.facts.symbol)));
            let made: Vec<(CallId, u64)> = (function.facts.calls.numbered().zip(counts))
                .filter_map(|((call, _), count)| Some((call, (*count)?)).filter(|&(_, count)| count > 0))
                .collect();
            let mut costs = FunctionCosts {
                unit: number,
                entries: called.copied().unwrap_or(Some(0)).filter(|_| all_counted),
                lines: BTreeMap::new(),
                calls: made,
                function,
            };
            costs.lines = by_line(&costs);
            functions.push(costs);
        }
    }
    let graph = CallGraph::new(units, &functions);
    let kinds = vec![EventKind::Calls];
    Some(Costs { units, functions, graph, traced: None, summed: None, kinds, missing: false })
}

/// Calls by the line that makes them.
fn by_line(costs: &FunctionCosts<'_>) -> BTreeMap<Line, Cost> {
    let mut lines: BTreeMap<Line, Cost> = BTreeMap::new();
    for &(call, count) in &costs.calls {
        lines.entry(costs.line_of_call(call)).or_default().0[EventKind::Calls as usize] += u128::from(count);
    }
    lines
}
