//! The parts of views that depend on the method: one module per family of methods. Only this file, `title` and
//! `totals` know all of them.

mod calls;
mod counters;
mod event_calls;
mod events;
pub mod ipath;
pub mod path;
pub mod pending;
pub mod targets;
pub(crate) mod title;
mod total;
pub(crate) mod totals;
pub mod trace;

use crate::costs::Cost;
use crate::report::{self, ReportOptions};
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::events::EventKind;
use cotree_core::method::MethodPlan;
use cotree_core::method::calls::CallProfile;
use cotree_core::method::events::call_sums::CallSums;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the report, below its head.
pub(crate) fn write_report(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    match &unit.map.plan.method {
        MethodPlan::None
        | MethodPlan::Counters(_)
        | MethodPlan::Paths(_)
        | MethodPlan::Ipath(_)
        | MethodPlan::Traces(_) => report::write_blocks(unit, options, out),
        MethodPlan::Calls(_) => calls::write(unit, options, out),
        MethodPlan::Events(_) => {
            events::write(unit, out)?;
            event_calls::write(unit, options, out)
        }
    }
}

/// What the export has of one function besides its blocks and edges, by name.
pub(crate) fn details(unit: &Unit<'_>, function: &UnitFunction<'_>) -> BTreeMap<&'static str, Value> {
    match &unit.map.plan.method {
        MethodPlan::Counters(_) => {
            targets::details(unit, function).map(|targets| ("targets", targets)).into_iter().collect()
        }
        MethodPlan::None | MethodPlan::Paths(_) | MethodPlan::Ipath(_) | MethodPlan::Traces(_) => BTreeMap::new(),
        MethodPlan::Events(_) => event_calls::details(unit, function),
        MethodPlan::Calls(_) => calls::details(unit, function),
    }
}

/// The events of the whole unit, if the method counts these and nothing else.
pub(crate) fn event_totals(unit: &Unit<'_>) -> Option<Cost> {
    matches!(unit.map.plan.method, MethodPlan::Events(_)).then(|| events::cost(unit))
}

/// The kinds of events that are counted, the sums of functions and calls, and whether all of these are right; `None`
/// where there are none.
pub(crate) fn event_sums<'a>(unit: &Unit<'a>) -> Option<(&'a [EventKind], &'a CallSums, bool)> {
    event_calls::Sums::of(unit).map(|sums| (sums.kinds, sums.calls, event_calls::exact(unit)))
}

/// How often the calls of each function were made, if the method counts these and nothing else.
pub(crate) fn call_profiles<'a>(unit: &Unit<'a>) -> Option<&'a [Option<CallProfile>]> {
    matches!(unit.map.plan.method, MethodPlan::Calls(_)).then(|| unit.profile.method.calls())
}

/// The events of a unit, as the export has them: by kind.
pub(crate) fn unit_events(unit: &Unit<'_>) -> Option<BTreeMap<&'static str, Value>> {
    matches!(unit.map.plan.method, MethodPlan::Events(_)).then(|| events::details(unit))
}
