//! The report of an event count: how many events of each kind there were.

use super::total::Total;
use crate::costs::Cost;
use crate::terminal::grouped;
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The kinds that were counted, and how often each happened.
fn totals<'a>(unit: &Unit<'a>) -> impl Iterator<Item = (EventKind, u64)> + use<'a> {
    let profile = unit.profile.method.events();
    profile.into_iter().flat_map(|profile| profile.kinds.iter().copied().zip(profile.totals.iter().copied()))
}

/// The amounts by kind; those that are not counted are 0.
pub(super) fn cost(unit: &Unit<'_>) -> Cost {
    let mut cost = Cost::default();
    totals(unit).for_each(|(kind, total)| cost.0[kind as usize] = total.into());
    cost
}

/// The totals, as the export has them.
pub(super) fn details(unit: &Unit<'_>) -> BTreeMap<&'static str, Value> {
    totals(unit).map(|(kind, total)| (kind.name(), total.into())).collect()
}

/// What was counted, for a title.
pub(super) fn measured(kinds: &[EventKind]) -> String {
    let titles: Vec<&str> = kinds.iter().map(|kind| kind.title()).collect();
    format!(" of {}", titles.join(", "))
}

/// Writes the report, below its head: the totals.
pub(super) fn write(unit: &Unit<'_>, out: &mut dyn Write) -> io::Result<()> {
    let totals: Vec<(EventKind, String)> =
        totals(unit).map(|(kind, total)| (kind, grouped(u128::from(total)))).collect();
    let name_width = totals.iter().map(|(kind, _)| kind.title().len()).max().unwrap_or(0);
    let number_width = totals.iter().map(|(_, total)| total.len()).max().unwrap_or(0);
    for (kind, total) in totals {
        writeln!(out, "  {:name_width$}  {total:>number_width$}", kind.title())?;
    }
    Ok(())
}

/// The total of the first kind.
pub(super) fn total(unit: &Unit<'_>) -> Total {
    totals(unit)
        .next()
        .map_or(("events", 0, String::new()), |(kind, total)| (kind.title(), total.into(), String::new()))
}
