//! Benchmarks for people.

use super::comparison::percent;
use super::report::Report;
use super::{Amount, Comparison, KindChange, Measured, Verdict};
use crate::terminal::{Style, counted, grouped, number, text};
use cotree_core::facts::events::EventKind;
use std::fmt::Write as _;
use std::io;

/// Widths of amounts, as `cotree run` has them.
const AMOUNT: usize = 22;

/// The title of a benchmark, and a line for each of its amounts.
#[must_use]
pub fn measured(measured: &Measured) -> String {
    let runs = counted(measured.runs as u128, "run");
    let mut shown = format!(" Counts of '{}', {runs}:\n\n", measured.name);
    let known = EventKind::ALL.iter().filter_map(|kind| measured.totals.get_key_value(kind.name()));
    for (kind, amount) in known {
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
    let kinds: Vec<&KindChange> = comparison.kinds.iter().filter(|change| change.is_told()).collect();
    if !comparison.has_changes() {
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

/// Writes a table of benchmarks, a row for each with its events of one kind, and below it what has changed in each.
/// `top`: at most so many functions of each; 0: all.
///
/// # Errors
/// If the output can't be written.
pub fn write_all(
    reports: &[Report<'_>],
    kind: EventKind,
    top: usize,
    style: Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let kind = kind.name();
    let has_baseline = reports.iter().any(|report| report.comparison.is_some());
    let mut columns = vec![number(kind)];
    if has_baseline {
        columns.push(number("change"));
    }
    columns.extend([text("benchmark"), text("")]);
    let rows = reports.iter().map(|report| {
        let amount = report.measured.totals.get(kind).copied().unwrap_or(Amount::Equal(0));
        let mut row = vec![grouped(amount.least().into())];
        let change = report.comparison.and_then(|all| all.kinds.iter().find(|change| change.kind == kind));
        if has_baseline {
            row.push(change.map_or_else(String::new, |change| shown_change(change.before, change.now)));
        }
        row.push(report.measured.name.clone());
        row.push(match (amount, report.measured.exact) {
            (_, false) => "not all exact".to_owned(),
            (Amount::Range { most, .. }, _) => format!("to {}: runs differ", grouped(most.into())),
            (Amount::Equal(_), _) => change.map_or("", |change| verdict(change.verdict)).to_owned(),
        });
        row
    });
    writeln!(out, "{}", style.table(&columns, rows.collect()))?;
    for report in reports {
        let Some(comparison) = report.comparison.filter(|comparison| comparison.has_changes()) else { continue };
        writeln!(out, "{}\n", style.heading(&format!("Changes of '{}'", report.measured.name)))?;
        write!(out, "{}", changed(comparison, &report.measured.of_functions, top, style))?;
    }
    Ok(())
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
