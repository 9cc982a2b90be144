//! Paths across functions as text for the terminal: indented by call depth, the context in front of what a path
//! executes.

use super::calls::{Reason, by_reason};
use super::cover::compare;
use super::lines::{line, write_lines};
use super::parts::PathPart;
use super::predict_text;
use super::{IpathUnit, RunPath, only_in_one};
use crate::filtered::{self, Shares};
use crate::method::path::text::{By, PathsOptions, each, write_common};
use crate::report::write_head;
use crate::terminal::{counted, grouped, number, percent, text};
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::ipath::IpathMethod;
use cotree_core::method::path::PathMetric;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the paths of one unit; with a function, those that execute something of it, and what it did under each
/// context.
///
/// # Errors
/// If the output can't be written.
pub fn write(of: &IpathUnit<'_>, options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    write_head(of.unit, options.style, out)?;
    let view = View { of, options };
    let mut paths = of.paths();
    let all: u128 = paths.iter().map(RunPath::executed).sum();
    view.totals(&paths, all, out)?;
    paths.retain(|path| path.parts.iter().any(|part| !part.context && view.wants(part)));
    if paths.is_empty() {
        return writeln!(out, "No path was executed.\n");
    }
    if let Some(pattern) = &options.function {
        let part = paths.iter().map(RunPath::executed).sum();
        let share = percent(part, all);
        let sentence = format!(
            "Below are only paths that execute something of functions that match {pattern}: {} instructions ({share}). Shares of \
             paths are of the whole run.",
            grouped(part)
        );
        writeln!(out, "{}\n", options.style.wrap(&sentence, 0))?;
        view.contexts(&paths, out)?;
    }
    // The sort is stable: equal ones stay in the order of instructions.
    let by = match options.by {
        By::Count => {
            paths.sort_by_key(|path| std::cmp::Reverse(path.count));
            "executions"
        }
        By::Metric => {
            paths.sort_by_key(|path| std::cmp::Reverse(path.sum));
            of.metric().of_what()
        }
        By::Instructions => "instructions",
    };
    view.list(&format!("Hottest paths, by {by}"), &paths, all, out)?;
    if options.predicted { predict_text::write(of, options, out) } else { Ok(()) }
}

/// Writes how much of `run` was covered by `other`, a run of the same build.
///
/// # Errors
/// If the output can't be written.
pub fn write_cover(
    run: &IpathUnit<'_>,
    other: &IpathUnit<'_>,
    options: &PathsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head(run.unit, options.style, out)?;
    let (common, missed) = compare(run, other, |symbol| options.wanted(symbol));
    if let Some(pattern) = &options.function {
        let run = run.paths().iter().map(RunPath::executed).sum();
        filtered::write(pattern, [common.instructions, run], "instructions", Shares::OfShown, options.style, out)?;
    }
    write_common(&common, other.unit, options, out)?;
    if missed.is_empty() {
        return writeln!(out, "Every path of this run was taken by the other one.");
    }
    let view = View { of: run, options };
    view.list("Hottest paths that the other run did not take", &missed, common.instructions, out)
}

/// Writes the paths that only one of two runs of one build took.
///
/// # Errors
/// If the output can't be written.
pub fn write_diff(
    before: &IpathUnit<'_>,
    after: &IpathUnit<'_>,
    options: &PathsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = options.style;
    if !before.unit.profile.exact() || !after.unit.profile.exact() {
        writeln!(out, "{}", style.warning("Not all counts are exact: `cotree report` says which."))?;
    }
    let [new, gone] = only_in_one(before, after, |symbol| options.wanted(symbol));
    if new.is_empty() && gone.is_empty() {
        return writeln!(out, "Both runs took the same paths.");
    }
    let sides = [("Paths that run now and did not", after, &new), ("Paths that ran and no longer do", before, &gone)];
    for (title, of, paths) in sides {
        if paths.is_empty() {
            continue;
        }
        let shown = if options.top == 0 { paths.len() } else { options.top.min(paths.len()) };
        let cut =
            if shown < paths.len() { format!(" ({shown} of {})", grouped(paths.len() as u128)) } else { String::new() };
        writeln!(out, "{}{}", style.heading(title), style.faint(&cut))?;
        let all = of.paths().iter().map(RunPath::executed).sum();
        let view = View { of, options };
        paths[..shown].iter().try_for_each(|path| view.path(path, all, out))?;
        writeln!(out)?;
    }
    let [new, gone] = [&new, &gone].map(|paths| counted(paths.len() as u128, "path"));
    writeln!(out, "{new} only now, {gone} only before.")
}

struct View<'a> {
    of: &'a IpathUnit<'a>,
    options: &'a PathsOptions,
}

impl View<'_> {
    fn wants(&self, part: &PathPart) -> bool {
        self.of.facts(part.function).is_some_and(|facts| self.options.wanted(&facts.symbol))
    }

    fn name(&self, function: FunctionId) -> String {
        self.of.facts(function).map_or_else(String::new, |facts| self.options.names.show(&facts.symbol))
    }

    fn totals(&self, paths: &[RunPath], all: u128, out: &mut dyn Write) -> io::Result<()> {
        let executions: u128 = paths.iter().map(|path| u128::from(path.count)).sum();
        let row = |name: &str, value: String, more: String| [name.to_owned(), value, more];
        let bits = self.of.plan.paths.checked_ilog2().unwrap_or(0);
        let possible = match self.of.plan.paths {
            few if few < 1 << 20 => grouped(few.into()),
            _ => format!("2^{bits}"),
        };
        let ended: i64 = self.of.profile.ended.iter().map(|path| path.1).sum();
        let mut rows = vec![
            row("paths run", grouped(paths.len() as u128), format!("of {possible} possible")),
            row("executions", grouped(executions), "of paths".into()),
            row("instructions", grouped(all), "along them".into()),
        ];
        if !self.of.profile.ended.is_empty() {
            let value = if ended < 0 {
                format!("−{}", grouped(ended.unsigned_abs().into()))
            } else {
                grouped(ended.unsigned_abs().into())
            };
            rows.push(row("ended early", value, "in calls that did not come back, besides those".into()));
        }
        let metric = self.of.metric();
        if metric.is_summed() {
            let sum: u128 = self.of.profile.sums.iter().map(|sum| u128::from(sum.1)).sum();
            let how = if metric == PathMetric::Cycles { ": measured, not exact" } else { "" };
            let more = format!("along them, with the calls that they run on past{how}");
            rows.push(row(metric.of_what(), grouped(sum), more));
            if ended != 0 {
                let more = format!("paths that ended early, whose {} are in no sum", metric.of_what());
                rows.push(row("left out", ended.to_string(), more));
            }
        }
        writeln!(out, "{}", self.options.style.totals(&rows))?;
        self.calls(out)
    }

    /// What becomes of paths at the unit's calls.
    fn calls(&self, out: &mut dyn Write) -> io::Result<()> {
        let found = by_reason(self.of);
        let all: u128 = found.values().map(|calls| calls.made).sum();
        let rows = found.iter().map(|(reason, calls)| {
            let more = match reason {
                Reason::Crossed => format!("crossed, into {}", counted(self.of.called().into(), "function")),
                Reason::LeftOut if self.of.plan.method != IpathMethod::Context => {
                    format!("{} or by a strategy", reason.words())
                }
                _ => reason.words().to_owned(),
            };
            vec![grouped(calls.made), percent(calls.made, all), grouped(calls.calls.into()), more]
        });
        let columns = [number("made"), number("share"), number("calls"), text("what paths do there")];
        writeln!(out, "{}", self.options.style.heading("Calls"))?;
        writeln!(out, "{}", self.options.style.table(&columns, rows.collect()))
    }

    /// The first of a list of paths.
    fn list(&self, title: &str, paths: &[RunPath], all: u128, out: &mut dyn Write) -> io::Result<()> {
        let shown = match (self.options.top, self.options.covering) {
            (_, Some(share)) => {
                let mut so_far = 0u128;
                let enough = |path: &RunPath| {
                    let before = so_far;
                    so_far += path.executed();
                    before as f64 >= all as f64 * share / 100.0
                };
                paths.iter().position(enough).unwrap_or(paths.len())
            }
            (0, None) => paths.len(),
            (top, None) => top.min(paths.len()),
        };
        let style = self.options.style;
        let cut = if shown < paths.len() {
            format!(" ({} of {})", grouped(shown as u128), grouped(paths.len() as u128))
        } else {
            String::new()
        };
        writeln!(out, "{}{}", style.heading(title), style.faint(&cut))?;
        for path in &paths[..shown] {
            self.path(path, all, out)?;
        }
        writeln!(out)
    }

    /// A path: what it executed, its context, and its lines.
    fn path(&self, path: &RunPath, all: u128, out: &mut dyn Write) -> io::Result<()> {
        let style = self.options.style;
        writeln!(
            out,
            "  {} {} instructions: {} times {}{}  #{}",
            percent(path.executed(), all),
            grouped(path.executed()),
            grouped(path.count.into()),
            grouped(path.instructions.into()),
            self.sum(path),
            path.number
        )?;
        let context = path.parts.iter().filter(|part| part.context);
        let lines: Vec<String> = context.map(|part| self.line(part)).collect();
        if !lines.is_empty() {
            writeln!(out, "{}", style.faint("      after"))?;
            write_lines(self.options, &lines, true, out)?;
            writeln!(out, "{}", style.faint("      runs"))?;
        }
        let active = path.parts.iter().filter(|part| !part.context);
        let lines: Vec<String> = active.map(|part| self.line(part)).collect();
        write_lines(self.options, &lines, false, out)
    }

    /// What a path has added up, if anything is.
    fn sum(&self, path: &RunPath) -> String {
        let metric = self.of.metric();
        if !metric.is_summed() {
            return String::new();
        }
        format!("; {} {}, {} each", grouped(path.sum.into()), metric.of_what(), each(path.sum, path.count))
    }

    /// A part: its function, indented by its depth, and its lines.
    fn line(&self, part: &PathPart) -> String {
        line(self.of.unit, self.options, part)
    }

    /// What the wanted functions executed under each context: the calls that were open around them.
    fn contexts(&self, paths: &[RunPath], out: &mut dyn Write) -> io::Result<()> {
        type Context<'a> = (FunctionId, bool, &'a [(FunctionId, CallId)]);
        let mut contexts: BTreeMap<Context<'_>, (u128, u128)> = BTreeMap::new();
        for path in paths {
            for part in path.parts.iter().filter(|part| !part.context && self.wants(part)) {
                let Some(facts) = self.of.facts(part.function) else { continue };
                let slot = contexts.entry((part.function, part.came_back, &part.chain)).or_default();
                slot.0 += u128::from(part.instructions(facts)) * u128::from(path.count);
                slot.1 += u128::from(part.enters) * u128::from(path.count);
            }
        }
        let whole: u128 = contexts.values().map(|sums| sums.0).sum();
        let mut rows: Vec<_> = contexts.into_iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.1.0));
        let shown = if self.options.top == 0 { rows.len() } else { rows.len().min(self.options.top) };
        let rows = rows[..shown].iter().map(|&((function, came_back, chain), (instructions, entries))| {
            let mut words: Vec<String> = chain.iter().map(|&(caller, call)| self.call(caller, call)).collect();
            if came_back {
                words.insert(0, "…".into());
            }
            words.push(self.name(function));
            vec![grouped(instructions), percent(instructions, whole), grouped(entries), words.join(" → ")]
        });
        writeln!(out, "{}", self.options.style.heading("By context"))?;
        let columns = [number("instructions"), number("share"), number("entries"), text("called by")];
        writeln!(out, "{}", self.options.style.table(&columns, rows.collect()))
    }

    /// A call: the caller and the line.
    fn call(&self, caller: FunctionId, call: CallId) -> String {
        let name = self.name(caller);
        let position = self.of.facts(caller).filter(|facts| facts.calls.get(call).is_some());
        match position.and_then(|facts| facts.call_position(call)) {
            Some(at) => format!("{name}:{}", at.line),
            None => name,
        }
    }
}
