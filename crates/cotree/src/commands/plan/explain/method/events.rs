//! How the events of a function are counted.

use super::super::code::Code;
use cotree_core::method::events::{EventPlan, UnitEventPlan};
use cotree_core::probe::Probe;
use std::fmt::Write;

/// One line per probe, then what the counters lack at calls.
pub(super) fn write(code: Code<'_>, unit: &UnitEventPlan, plan: &EventPlan, out: &mut String) -> std::fmt::Result {
    for placed in &plan.probes {
        let (counter, amount) = match placed.probe {
            Probe::CountBy(counter, by) => (counter, by.to_string()),
            Probe::CloseBy { counter, times, .. } => (counter, format!("{times} times what a loop variable counted")),
            _ => continue,
        };
        let sign = if counter.index() % 2 == 0 { "adds" } else { "takes away" };
        let kind = unit.kinds.get(counter.index() / 2).map_or("events", |kind| kind.title());
        writeln!(out, "  {}: {sign} {amount} ({kind})", code.place(placed.place))?;
    }
    for (kind, lacking) in unit.kinds.iter().zip(&plan.key.at_sites) {
        for (site, lacking) in lacking.iter().enumerate().filter(|(_, lacking)| **lacking != 0) {
            writeln!(out, "  call site {site}: {lacking} {} are counted behind it", kind.title())?;
        }
    }
    writeln!(out, "  nothing else is counted")
}
