//! Benchmarks for other programs.

use super::report::Report;
use super::text::{shown_amount, shown_change};
use super::{Amount, Comparison, UnitBuild, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The name and version of the JSON form of a benchmark.
pub const JSON: &str = "cotree-stat/1";

/// The name and version of the JSON form of several.
pub const JSON_OF_SEVERAL: &str = "cotree-bench/1";

/// Writes the JSON of one benchmark (docs/json.md).
///
/// # Errors
/// If the output can't be written.
pub fn write_json(report: Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(report))?;
    writeln!(out)
}

/// Writes the JSON of several benchmarks (docs/json.md).
///
/// # Errors
/// If the output can't be written.
pub fn write_all_json(reports: &[Report<'_>], out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Documents<'a> {
        schema: &'static str,
        benchmarks: Vec<Document<'a>>,
    }
    let benchmarks = reports.iter().map(|report| document(*report)).collect();
    serde_json::to_writer_pretty(&mut *out, &Documents { schema: JSON_OF_SEVERAL, benchmarks })?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    name: &'a str,
    runs: usize,
    exact: bool,
    equal: bool,
    builds: &'a BTreeMap<String, BTreeSet<UnitBuild>>,
    totals: &'a BTreeMap<String, Amount>,
    of_functions: &'a str,
    functions: &'a BTreeMap<String, Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    refused: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Value>,
}

/// What has changed, as an object.
pub(super) fn changes(comparison: &Comparison) -> Value {
    let kinds = comparison.kinds.iter().map(|it| change(it.kind, it.before, it.now, it.verdict));
    let functions = comparison.functions.iter().map(|it| change(&it.name, it.before, it.now, it.verdict));
    json!({ "totals": kinds.collect::<Vec<_>>(), "functions": functions.collect::<Vec<_>>() })
}

fn change(name: &str, before: Amount, now: Amount, verdict: Option<Verdict>) -> Value {
    json!({ "name": name, "before": before, "now": now, "above": verdict.map(|verdict| verdict == Verdict::Above) })
}

fn document(report: Report<'_>) -> Document<'_> {
    let Report { measured, comparison, refused } = report;
    let changes = comparison.map(changes);
    Document {
        schema: JSON,
        name: &measured.name,
        runs: measured.runs,
        exact: measured.exact,
        equal: measured.all_equal(),
        builds: &measured.builds,
        totals: &measured.totals,
        of_functions: &measured.of_functions,
        functions: &measured.functions,
        verdict: report.verdict(),
        refused,
        changes,
    }
}

/// Writes Bencher's Metric Format: for each benchmark a measure for each kind of events.
///
/// # Errors
/// If the output can't be written.
pub fn write_bencher(reports: &[Report<'_>], out: &mut dyn Write) -> io::Result<()> {
    let measures = |report: &Report<'_>| -> BTreeMap<String, Value> {
        let totals = report.measured.totals.iter().map(|(kind, amount)| {
            let value = match amount {
                Amount::Equal(amount) => json!({ "value": amount }),
                Amount::Range { least, most } => json!({ "value": most, "lower_value": least, "upper_value": most }),
            };
            (kind.clone(), value)
        });
        totals.collect()
    };
    let all: BTreeMap<&String, _> = reports.iter().map(|report| (&report.measured.name, measures(report))).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}

/// Writes a step summary for GitHub Actions, in Markdown. `top`: at most so many functions; 0: all.
///
/// # Errors
/// If the output can't be written.
pub fn write_github(report: Report<'_>, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let Report { measured, comparison, refused } = report;
    writeln!(out, "### {}\n", markdown(&measured.name))?;
    for reason in refused {
        writeln!(out, "> **Not compared:** {}\n", markdown(reason))?;
    }
    let Some(comparison) = comparison else {
        writeln!(out, "| events | amount |\n| --- | ---: |")?;
        for (kind, amount) in &measured.totals {
            writeln!(out, "| {kind} | {} |", shown_amount(*amount))?;
        }
        return writeln!(out);
    };
    let mark = |verdict: Option<Verdict>| match verdict {
        Some(Verdict::Above) => " **above the limit**",
        Some(Verdict::Unsure) => " runs differ too much",
        Some(Verdict::Within) | None => "",
    };
    writeln!(out, "| events | before | now | change |\n| --- | ---: | ---: | ---: |")?;
    for kind in &comparison.kinds {
        let (before, now) = (shown_amount(kind.before), shown_amount(kind.now));
        let change = shown_change(kind.before, kind.now);
        writeln!(out, "| {} | {before} | {now} | {change}{} |", kind.kind, mark(kind.verdict))?;
    }
    if comparison.functions.is_empty() {
        return writeln!(out);
    }
    let count = comparison.functions.len();
    let rows = if top == 0 { count } else { top.min(count) };
    writeln!(out, "\n| function, {} | before | now | change |\n| --- | ---: | ---: | ---: |", measured.of_functions)?;
    for function in &comparison.functions[..rows] {
        let (before, now) = (shown_amount(function.before), shown_amount(function.now));
        let change = shown_change(function.before, function.now);
        writeln!(out, "| {} | {before} | {now} | {change}{} |", markdown(&function.name), mark(function.verdict))?;
    }
    if rows < count {
        writeln!(out, "\nAnd {} more functions.", count - rows)?;
    }
    writeln!(out)
}

/// Text that no part of is taken for Markdown or HTML.
fn markdown(text: &str) -> String {
    let mut shown = String::new();
    for sign in crate::visible::name(text).chars() {
        match sign {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => shown.extend(['\\', sign]),
            sign => shown.push(sign),
        }
    }
    shown
}
