//! Differences of two call profiles: which calls were made more or less often.

use super::change::Change;
use crate::method::call_profiles;
use crate::names::{Names, across_builds};
use crate::terminal::{Style, grouped, number, place, text};
use crate::unit::Unit;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A call that changed. Calls of one callee by one function on one line are one.
#[derive(Clone, Debug, Serialize)]
pub struct CallChange {
    /// The symbol of the caller.
    pub caller: String,
    /// The symbol of the callee; `None` for calls through pointers, and of assembly.
    pub callee: Option<String>,
    /// The file of the call.
    pub file: Option<String>,
    /// The line of the call.
    pub line: Option<u32>,
    /// How.
    pub change: Change,
    /// How often the call was made.
    pub counts: [u64; 2],
}

/// What tells calls apart across builds: caller, callee, file and line.
type CallKey = (String, Option<String>, Option<(String, u32)>);

/// How often calls were made, and the symbols of caller and callee.
pub(super) type CallCounts = BTreeMap<CallKey, (u64, [Option<String>; 2])>;

/// The counted calls of units; `None` if those of one of them are not counted.
pub(super) fn of(units: &[Unit<'_>]) -> Option<CallCounts> {
    let mut calls = CallCounts::new();
    for unit in units {
        let profiles = call_profiles(unit)?;
        for function in unit.functions() {
            let Some(profile) = profiles.get(function.index.index()).and_then(Option::as_ref) else { continue };
            for ((call, facts), count) in function.facts.calls.numbered().zip(&profile.calls) {
                let Some(count) = *count else { continue };
                let (caller, callee) = (function.facts.symbol.as_str(), facts.callee_name());
                let at = function.facts.call_position(call).map(|at| (unit.file(at.file).to_owned(), at.line));
                let key = (across_builds(caller), callee.map(across_builds), at);
                let symbols = [Some(caller.to_owned()), callee.map(str::to_owned)];
                let sum = calls.entry(key).or_insert((0, symbols));
                sum.0 = sum.0.saturating_add(count);
            }
        }
    }
    (!units.is_empty()).then_some(calls)
}

/// The calls whose counts differ.
pub(super) fn compare(before: CallCounts, after: CallCounts) -> Vec<CallChange> {
    let mut both: BTreeMap<CallKey, ([u64; 2], [Option<String>; 2])> = BTreeMap::new();
    for (side, calls) in [before, after].into_iter().enumerate() {
        for (key, (count, symbols)) in calls {
            let known = both.entry(key).or_default();
            known.0[side] = count;
            known.1 = symbols;
        }
    }
    let change = |((_, _, at), (counts, [caller, callee])): (CallKey, ([u64; 2], [Option<String>; 2]))| {
        let change = Change::of(counts[0], counts[1])?;
        let (file, line) = at.unzip();
        Some(CallChange { caller: caller.unwrap_or_default(), callee, file, line, change, counts })
    };
    let mut changes: Vec<CallChange> = both.into_iter().filter_map(change).collect();
    changes.sort_by_key(|change| Reverse(change.counts[0].abs_diff(change.counts[1])));
    changes
}

/// Writes the calls that changed as tables, up to `top` rows each; 0: all.
///
/// # Errors
/// If the output can't be written.
pub(super) fn write_text(
    calls: &[CallChange],
    top: usize,
    names: Names,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lists = [
        (Change::NewlyRun, "Calls that are made now and were not"),
        (Change::NoLongerRun, "Calls that were made and no longer are"),
        (Change::Changed, "Calls that are made more or less often"),
    ];
    for (change, title) in lists {
        let calls: Vec<&CallChange> = calls.iter().filter(|call| call.change == change).collect();
        if calls.is_empty() {
            continue;
        }
        writeln!(out, "{} ({})", style.heading(title), grouped(calls.len() as u128))?;
        let shown = if top == 0 { calls.len() } else { calls.len().min(top) };
        let rows = calls[..shown].iter().map(|call| {
            let file = call.file.as_deref().map_or("", |file| file.rsplit('/').next().unwrap_or(file));
            vec![
                grouped(call.counts[0].into()),
                grouped(call.counts[1].into()),
                names.show(&call.caller),
                call.callee.as_deref().map_or_else(|| "(no name)".to_owned(), |callee| names.show(callee)),
                call.line.map_or_else(String::new, |line| format!("{file}:{line}")),
            ]
        });
        let columns = [number("before"), number("now"), text("caller"), text("callee"), place("where")];
        writeln!(out, "{}", style.table(&columns, rows.collect()))?;
    }
    Ok(())
}
