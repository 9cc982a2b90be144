//! How the events of a function are counted.

use super::super::code::Code;
use cotree_core::ids::Counter;
use cotree_core::method::events::{EventPlan, UnitEventPlan};
use cotree_core::probe::{OutermostStep, Probe};
use std::fmt::Write;

/// One line per probe, then what the counters lack at calls.
pub(super) fn write(code: Code<'_>, unit: &UnitEventPlan, plan: &EventPlan, out: &mut String) -> std::fmt::Result {
    for placed in &plan.probes {
        let (counter, amount) = match placed.probe {
            Probe::CountBy(counter, by) if by > u64::MAX / 2 => {
                (Counter::new(counter.index() ^ 1), by.wrapping_neg().to_string())
            }
            Probe::CountBy(counter, by) => (counter, by.to_string()),
            Probe::AddCounter { to, minus, .. } => {
                let what = if minus { "taken away from" } else { "added to" };
                writeln!(out, "  {}: the count is {what} sum {}", code.place(placed.place), to.index())?;
                continue;
            }
            Probe::Outermost { step, sums, .. } => {
                let what = match step {
                    OutermostStep::Begin => "the count is taken away from",
                    OutermostStep::End => "the count is added to",
                    OutermostStep::Again => "what a jump has ended early is taken up again in",
                };
                let place = code.place(placed.place);
                writeln!(out, "  {place}: if nothing of it is under way already, {what} sum {}", sums.index())?;
                continue;
            }
            Probe::Count(counter) => {
                writeln!(out, "  {}: counter {} counts", code.place(placed.place), counter.index())?;
                continue;
            }
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
