//! Benchmarks for people.

use super::comparison::percent;
use super::{Amount, Comparison, KindChange, Measured, Verdict};
use crate::terminal::{Style, counted, grouped, number, text};
use cotree_core::facts::events::EventKind;
use std::fmt::Write as _;

/// Widths of amounts, as `cotree run` has them.
const AMOUNT: usize = 22;

/// The title of a benchmark, and a line for each of its amounts. `kinds`: only these; without any, all.
#[must_use]
pub fn measured(measured: &Measured, kinds: &[&str]) -> String {
    let runs = counted(measured.runs as u128, "run");
    let mut shown = format!(" Counts of '{}', {runs}:\n\n", measured.name);
    let known = EventKind::ALL.iter().filter_map(|kind| measured.totals.get_key_value(kind.name()));
    for (kind, amount) in known {
        if !kinds.is_empty() && !kinds.contains(&kind.as_str()) {
            continue;
        }
        let spread = match amount {
            Amount::Equal(_) if measured.runs < 2 => String::new(),
            Amount::Equal(_) => "equal in all runs".to_owned(),
            Amount::Range { most, .. } => format!("to {}: runs differ", grouped((*most).into())),
        };
        let line = format!("{:>AMOUNT$}  {kind:<13} {spread}", grouped(amount.least().into()));
        let _ = writeln!(shown, "{}", line.trim_end());
    }
    shown
}

/// What has changed since the baseline, as a table for kinds of events and one for functions, `top` rows at most of
/// these; 0: all.
#[must_use]
pub fn changed(comparison: &Comparison, of_functions: &str, top: usize, style: Style) -> String {
    let mut shown = String::new();
    let is_told = |change: &&KindChange| change.before != change.now || change.verdict == Some(Verdict::Unsure);
    let kinds: Vec<&KindChange> = comparison.kinds.iter().filter(is_told).collect();
    if kinds.is_empty() && comparison.functions.is_empty() {
        return format!("{}\n", style.good("Nothing has changed since the baseline."));
    }
    if !kinds.is_empty() {
        let columns = [text("events"), number("before"), number("now"), number("change"), text("")];
        let rows = kinds.iter().map(|change| {
            vec![
                change.kind.to_owned(),
                shown_amount(change.before),
                shown_amount(change.now),
                shown_change(change.before, change.now),
                verdict(change.verdict).to_owned(),
            ]
        });
        let _ = writeln!(shown, "{}", style.table(&columns, rows.collect()));
    }
    if !comparison.functions.is_empty() {
        let count = comparison.functions.len();
        let rows = if top == 0 { count } else { top.min(count) };
        let title = format!("Functions whose {of_functions} changed");
        let _ = writeln!(shown, "{} ({})", style.heading(&title), grouped(count as u128));
        let columns = [number("before"), number("now"), number("change"), text("function"), text("")];
        let rows = comparison.functions[..rows].iter().map(|change| {
            vec![
                shown_amount(change.before),
                shown_amount(change.now),
                shown_change(change.before, change.now),
                change.name.clone(),
                verdict(change.verdict).to_owned(),
            ]
        });
        let _ = writeln!(shown, "{}", style.table(&columns, rows.collect()));
    }
    shown
}

/// What has had how much, in a few words.
#[must_use]
pub fn sentence(name: &str, before: Amount, now: Amount) -> String {
    format!("{name} {} ({}, was {})", shown_change(before, now), shown_amount(now), shown_amount(before))
}

/// An amount, or the range of one.
pub(super) fn shown_amount(amount: Amount) -> String {
    match amount {
        Amount::Equal(amount) => grouped(amount.into()),
        Amount::Range { least, most } => format!("{} to {}", grouped(least.into()), grouped(most.into())),
    }
}

/// The change of an amount in percent, or the least and the most that it may be.
pub(super) fn shown_change(before: Amount, now: Amount) -> String {
    let shown = |percent: f64| {
        if percent.is_finite() { format!("{percent:+.2}%") } else { "new".to_owned() }
    };
    if before == now {
        return "0".to_owned();
    }
    let [least, most] = [(before.most(), now.least()), (before.least(), now.most())];
    let [least, most] = [least, most].map(|(before, now)| shown(percent(before, now)));
    if least == most { least } else { format!("{least} to {most}") }
}

fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Above) => "above the limit",
        Some(Verdict::Unsure) => "runs differ too much",
        Some(Verdict::Within) | None => "",
    }
}
