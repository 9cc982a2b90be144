//! What a reader unfolds below a line: the outcomes of its conditions, the instances of a template.
//!
//! Whatever else belongs to a line, such as its decisions, is one more [`Below`].

use super::text::{Text, shown};
use crate::html::figures::level;
use crate::names::Names;
use crate::region_coverage::conditions::{Condition, conditions};
use crate::region_coverage::functions::CountedFunction;
use crate::region_coverage::line_runs::LineRuns;
use crate::region_coverage::program::Group;
use crate::region_coverage::segments::{segments, without_repeats};
use crate::region_coverage::source_decisions::{CountedCondition, SourceDecisions};
use crate::terminal::{counted, grouped, percent};
use crate::visible;
use cotree_profile::coverage::{Place, Region, SourceCondition};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// What can be unfolded below a line.
pub(super) struct Below {
    /// What stands behind the line.
    pub(super) label: String,
    /// What a hover and a screen reader say of it.
    pub(super) title: String,
    /// Whether it is complete: `full`, `part`, `none`; or `void` if that does not apply.
    pub(super) level: &'static str,
    /// Whether the line is covered only in part if this is incomplete.
    pub(super) of_line: bool,
    /// What is unfolded.
    pub(super) body: Markup,
}

/// By line.
pub(super) type ByLine = BTreeMap<u32, Vec<Below>>;

/// How much of a condition is shown.
const LONGEST: usize = 80;

/// A condition as it is shown.
pub(super) struct Row {
    line: u32,
    name: Markup,
    taken: Option<u64>,
    not_taken: Option<u64>,
}

/// The conditions of the functions that are written in a file.
pub(super) fn rows(conditions: &[Condition<'_>], path: &str, text: Option<&Text>) -> Vec<Row> {
    let row = |condition: &Condition<'_>| Row {
        line: condition.at.line,
        name: name(condition, path, text),
        taken: condition.taken,
        not_taken: condition.not_taken,
    };
    conditions.iter().map(row).collect()
}

/// The conditions of decisions of Rust in a file.
pub(super) fn rows_of_source(decisions: &SourceDecisions<'_>, path: &str, text: Option<&Text>) -> Vec<Row> {
    let row = |counted: CountedCondition<'_>| {
        let SourceCondition { start, end } = *counted.condition;
        let name = match snippet(start, end, text) {
            Some(own) => html! { code { (own) } },
            None => html! { "column " (start.column) },
        };
        Row { line: start.line, name, taken: Some(counted.taken), not_taken: Some(counted.not_taken) }
    };
    decisions.conditions(path).map(row).collect()
}

/// Adds conditions below their lines.
pub(super) fn add_conditions(mut rows: Vec<Row>, below: &mut ByLine) {
    rows.sort_by_key(|row| row.line);
    for on_line in rows.chunk_by(|a, b| a.line == b.line) {
        let outcomes = || on_line.iter().flat_map(|row| [row.taken, row.not_taken].into_iter().flatten());
        let (all, seen) = (outcomes().count() as u64, outcomes().filter(|&count| count > 0).count() as u64);
        let body = html! {
            table.branches {
                thead { tr { th { "Condition" } th { "true" } th { "false" } } }
                tbody {
                    @for row in on_line {
                        tr { th { (row.name) } (outcome(row.taken)) (outcome(row.not_taken)) }
                    }
                }
            }
        };
        below.entry(on_line[0].line).or_default().push(Below {
            label: format!("{seen}/{all}"),
            title: format!("{seen} of {} of conditions seen", counted(all.into(), "outcome")),
            level: level(seen, all),
            of_line: true,
            body,
        });
    }
}

fn outcome(count: Option<u64>) -> Markup {
    html! {
        @match count {
            Some(count) => td.none[count == 0] { (grouped(count.into())) },
            None => td.void title="the compiler knows that it never can be" { "–" },
        }
    }
}

/// What a condition is called: its text, if it is at hand.
fn name(condition: &Condition<'_>, path: &str, text: Option<&Text>) -> Markup {
    let Region { start, end, .. } = *condition.region;
    let own = snippet(start, end, text.filter(|_| condition.path == path));
    let line = condition.region.start.line;
    html! {
        @if let Some(own) = own { code { (own) } " " }
        @else if !condition.expanded { "column " (condition.at.column) }
        @if condition.expanded {
            small {
                "in a macro, "
                @if condition.path == path { "line " (line) }
                @else { (visible::name(condition.path.rsplit('/').next().unwrap_or_default())) ":" (line) }
            }
        }
    }
}

/// The text of a condition, in one line.
fn snippet(start: Place, end: Place, text: Option<&Text>) -> Option<String> {
    let text = text?;
    let mut all = String::new();
    for line in start.line..=end.line.min(text.len()) {
        let bytes = text.line(line);
        let from = if line == start.line { start.column.saturating_sub(1) as usize } else { 0 };
        let to = if line == end.line { end.column.saturating_sub(1) as usize } else { bytes.len() };
        let part = bytes.get(from..to.min(bytes.len())).unwrap_or_default();
        all.push_str(&shown(&part[..part.len().min(4 * LONGEST)]));
        all.push(' ');
        if all.len() > 4 * LONGEST {
            break;
        }
    }
    let joined = all.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = joined.chars().take(LONGEST).collect();
    let more = if short.len() < joined.len() { "…" } else { "" };
    Some(short + more).filter(|text| !text.is_empty())
}

/// Adds the instances of a template or a generic function.
pub(super) fn add_instances(group: &Group<'_, '_>, names: Names, below: &mut ByLine) {
    if group.functions.len() < 2 {
        return;
    }
    let entered = group.functions.iter().filter(|function| function.entries() > 0).count() as u64;
    let all = group.functions.len() as u64;
    let body = html! {
        table.instances {
            thead { tr { th { "Instance" } th { "entered" } th { "lines" } th { "did not run" } } }
            tbody {
                @for function in &group.functions {
                    @let lines = function.summary().lines;
                    tr {
                        th { code { (visible::name(&names.show(function.function.symbol()))) } }
                        td.none[function.entries() == 0] { (grouped(function.entries().into())) }
                        td { (percent(lines.covered.into(), lines.total.into())) }
                        td.lines { (missing(function)) }
                    }
                }
            }
        }
    };
    below.entry(group.start.line).or_default().push(Below {
        label: format!("{all} instances"),
        title: format!("{entered} of {all} instances were entered"),
        level: level(entered, all),
        of_line: false,
        body,
    });
}

/// The lines of a function that did not run, the first of them.
fn missing(function: &CountedFunction<'_>) -> String {
    const MOST: usize = 12;
    let segments = segments(
        without_repeats(function.regions().filter(|counted| Some(counted.region.file) == function.main_file))
            .into_iter(),
    );
    let mut runs = LineRuns::new(&segments).filter(|run| run.count == 0);
    let part = |first: u32, last: u32| if first == last { first.to_string() } else { format!("{first}–{last}") };
    let shown: Vec<String> = runs.by_ref().take(MOST).map(|run| part(run.first, run.last)).collect();
    shown.join(", ") + if runs.next().is_some() { ", …" } else { "" }
}

/// The conditions of the functions of groups, in order.
pub(super) fn of_groups<'m>(groups: &[Group<'_, 'm>]) -> Vec<Condition<'m>> {
    conditions(groups.iter().flat_map(|group| group.functions.iter().copied()))
}
