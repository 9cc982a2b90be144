//! What is said of a benchmark, and where.

use super::gate::{Format, Gate};
use super::measure::{Runs, units};
use crate::commands::sources::FileSources;
use crate::lines;
use cotree_report::benchmark::{self, Comparison, Report, Verdict};
use cotree_report::diff::{DiffOptions, compare, write_text};
use cotree_report::names::Names;
use cotree_report::terminal::Style;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// What is told of a benchmark, and of which runs.
pub struct Told<'a> {
    pub gate: &'a Gate,
    pub report: Report<'a>,
    pub runs: &'a Runs,
}

impl Told<'_> {
    /// Tells the result in the form that is asked for, and, to people, where runs differ.
    pub fn tell(&self) -> Result<()> {
        let Self { gate, report, .. } = *self;
        if gate.format != Format::Text {
            let style = gate.looks.style_of_errors();
            lines::notes(|out| self.write_doubts(style, out)).into_diagnostic()?;
        }
        match gate.format {
            Format::Text if gate.output.output.is_some() => {
                let style = gate.looks.style(&gate.output);
                gate.output.write_text(|out| self.write(style, out))
            }
            Format::Text => {
                let style = gate.looks.style_of_errors();
                lines::notes(|out| self.write(style, out)).into_diagnostic()
            }
            Format::Json => gate.output.write(|out| benchmark::write_json(report, out)),
            Format::Bencher => gate.output.write(|out| benchmark::write_bencher(&[report], out)),
            Format::Github => write_summary(gate, |out| benchmark::write_github(report, gate.top, out)),
        }
    }

    fn write(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        let Self { gate, report, .. } = *self;
        writeln!(out, "\n{}", benchmark::measured(report.measured))?;
        self.write_doubts(style, out)?;
        if let Some(comparison) = report.comparison {
            write!(out, "{}", benchmark::changed(comparison, &report.measured.of_functions, gate.top, style))?;
        }
        Ok(())
    }

    /// Writes what a reader of the amounts must know: that they may not be exact, and where runs differ.
    pub fn write_doubts(&self, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
        if !self.report.measured.exact {
            let doubt = "Not all counts are exact: keep a profile (--keep), and see `cotree report`.";
            writeln!(out, "{}\n", style.warning(doubt))?;
        }
        if let Some((number, other)) = &self.runs.other {
            writeln!(out, "{}\n", style.warning(&format!("Run {} did something else than run 1:", number + 1)))?;
            let difference = compare(&units(&self.runs.first), &units(other), &FileSources::default());
            let options = DiffOptions { top: self.gate.top.max(1), names: Names::Demangled, style };
            write_text(&difference, &options, out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Whether the gate is open; else says why not.
    pub fn judge(&self) -> bool {
        let Self { gate, report, .. } = *self;
        let gated = gate.fail_above.is_some() || gate.fail_function_above.is_some();
        let name = &report.measured.name;
        for reason in report.refused {
            annotate(gate, gated, &format!("'{name}' is not compared: {reason}"));
        }
        if !report.refused.is_empty() {
            return !gated;
        }
        match report.comparison.map_or(Verdict::Within, Comparison::verdict) {
            Verdict::Within => return true,
            Verdict::Above => annotate(gate, true, &format!("'{name}' is above the limit: {}", above(report))),
            Verdict::Unsure if report.measured.all_equal() => annotate(
                gate,
                true,
                &format!(
                    "'{name}' is above the limit of some runs that the baseline was made of, which differ: save it anew"
                ),
            ),
            Verdict::Unsure => annotate(
                gate,
                true,
                &format!(
                    "'{name}' is above the limit in some runs and within it in others: make the program do the same \
                     each time (--pin takes differences of addresses away)"
                ),
            ),
        }
        false
    }
}

/// Adds to the summary of a step of GitHub Actions, or writes what would go there.
pub fn write_summary(gate: &Gate, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<()> {
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
    let Some(path) = summary.filter(|_| gate.output.output.is_none()) else { return gate.output.write(write) };
    let failed = || format!("cannot write the step summary {}", Path::new(&path).display());
    let file = OpenOptions::new().append(true).create(true).open(&path);
    write(&mut file.into_diagnostic().wrap_err_with(failed)?).into_diagnostic().wrap_err_with(failed)
}

/// Says what closes the gate, or only what is to be known, where GitHub shows it if that is asked for.
pub fn annotate(gate: &Gate, closes: bool, text: &str) {
    match (gate.format, closes) {
        (Format::Github, _) => {
            let word = if closes { "error" } else { "notice" };
            // GitHub takes % for the beginning of a sign's number, and a command only at the beginning of a line.
            lines::note(format_args!(""));
            lines::note(format_args!("::{word} title=cotree stat::{}", text.replace('%', "%25")));
        }
        (_, true) => lines::note(format_args!("error: {text}")),
        (_, false) => lines::note(format_args!("note: {text}")),
    }
}

/// What is above its limit, the first few.
fn above(report: Report<'_>) -> String {
    const MOST: usize = 5;
    let Some(comparison) = report.comparison else { return String::new() };
    let is_above = |verdict| verdict == Some(Verdict::Above);
    let kinds = comparison.kinds.iter().filter(|change| is_above(change.verdict));
    let functions = comparison.functions.iter().filter(|change| is_above(change.verdict));
    let kinds = kinds.map(|change| benchmark::sentence(change.kind, change.before, change.now));
    let functions = functions.map(|change| benchmark::sentence(&change.name, change.before, change.now));
    let all: Vec<String> = kinds.chain(functions).collect();
    let more = all.len().saturating_sub(MOST);
    let told = all[..all.len() - more].join("; ");
    if more > 0 { format!("{told}; and {more} more") } else { told }
}
