//! `cargo cotree bench`: builds benchmarks with exact counters, and holds what each of them does against a baseline.
//!
//! A benchmark runs once, in a process of its own, which counts from where the harness begins to take the time to
//! where it ends to: neither the harness nor what prepares the benchmark is in the numbers.

mod harness;
mod line;
mod programs;

use super::cargo_line::{Line, current_folder};
use super::cargo_workspace::Workspace;
use super::{Error, cargo_build};
use crate::commands::stat::gate::{Format, pin_addresses};
use crate::commands::stat::measure::{Badly, Part, Plan, Runs, measure};
use crate::commands::stat::tell::{Told, annotate, write_summary};
use crate::{coded, lines, progress};
use clap::Parser;
use cotree_core::method::Method;
use cotree_options::BuildOptions;
use cotree_profile::atomic::Over;
use cotree_profile::entries::Entries;
use cotree_profile::merged;
use cotree_report::benchmark::{self, Baseline, Comparison, Measured, Report};
use harness::Harness;
use line::{BenchArgs, Words};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use programs::Program;
use std::ffi::OsString;
use std::fs;
use std::process::{ExitCode, Stdio};

/// A benchmark that has run.
struct Ran {
    measured: Measured,
    runs: Runs,
    comparison: Option<Comparison>,
    refused: Vec<String>,
}

/// Does what stands behind `bench`.
///
/// # Errors
/// If something can't be built, run, read or written.
pub fn run(mut options: BuildOptions, line: &Line) -> Result<ExitCode> {
    options.parts = options.parts.or(Some(true));
    let words = Words::of(&line.rest);
    let line = Line { rest: words.cargo.clone(), ..line.clone() };
    if words.cargo.iter().any(|word| word == "--no-run") {
        // Only what cargo does.
        return Ok(cargo_build::build(options, &line)?);
    }
    let args = BenchArgs::parse_from(std::iter::once(OsString::from("cargo cotree bench")).chain(words.own));
    let filters = words.filters.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    if let Some(option) = filters.iter().find(|word| word.starts_with('-')) {
        return Err(miette!(
            "{option}: harnesses take their options from cotree here, so only parts of names may stand behind `--`"
        ));
    }
    let method = options.profile.map_or(Method::Edge, |profile| profile.0);
    if !method.promises().blocks {
        return Err(miette!(
            "--profile {}: benchmarks need counts of blocks: leave it out, which counts edges",
            method.name()
        ));
    }
    let before = args.gate.open(&[])?;
    if let Some(folder) = &args.keep {
        fs::create_dir_all(folder).into_diagnostic().wrap_err_with(|| format!("cannot create {}", folder.display()))?;
    }
    let Some(programs) = build(options, &line)? else { return Ok(ExitCode::FAILURE) };
    if !args.no_pin
        && !args.gate.pin
        && let Err(error) = pin_addresses()
    {
        lines::note(format_args!("note: {error}: what depends on them may differ from run to run"));
    }
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for program in &programs {
        let entries = Entries::of(&program.path).map_err(coded::report)?;
        let (harness, names) = Harness::of(program, &entries)?;
        let part = if args.whole || names.is_empty() { Ok(None) } else { harness.part(&entries) };
        let part = match part {
            Ok(part) => part,
            Err(error) => {
                lines::note(format_args!(
                    "note: benchmarks of {} are measured with their harness: {error}",
                    program.name
                ));
                None
            }
        };
        for name in names {
            let title = if name.is_empty() { program.name.clone() } else { format!("{}: {name}", program.name) };
            if !filters.is_empty() && !filters.iter().any(|filter| title.contains(filter.as_str())) {
                continue;
            }
            if args.list {
                lines::answer(format_args!("{title}")).into_diagnostic()?;
                continue;
            }
            let one = One { program, harness, name: &name, title: &title, part: part.as_ref() };
            // One that fails does not keep the others from being measured.
            match one.run(&args, before.as_ref()) {
                Ok(ran) => all.push(ran),
                Err(error) => failed.push((title, error)),
            }
        }
    }
    if args.list {
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() && failed.is_empty() {
        return Err(miette!("no benchmark was found{}", if filters.is_empty() { "" } else { " of such a name" }));
    }
    for (title, error) in &failed {
        annotate(&args.gate, true, &format!("'{title}' was not measured: {error:#}"));
    }
    tell(&args, &all, failed.is_empty())
}

/// Builds; gives the executables, or nothing if cargo has said why not.
fn build(options: BuildOptions, line: &Line) -> Result<Option<Vec<Program>>> {
    let mut rest = line.rest.clone();
    rest.push("--no-run".into());
    let line = Line { rest, ..line.clone() };
    let scratch = Workspace::ask(&line, &current_folder()?)?.target_directory;
    let mut command = cargo_build::command(options, &line, &cargo_build::Further::default())?;
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| Error::Start { tool: "cargo".into(), error })?;
    Ok(output.status.success().then(|| Program::all(&output.stdout, &scratch)))
}

/// One benchmark.
struct One<'a> {
    program: &'a Program,
    harness: Harness,
    name: &'a str,
    title: &'a str,
    /// What is measured of it; without it all.
    part: Option<&'a Part>,
}

impl One<'_> {
    /// Runs it, and holds it against its baseline.
    fn run(&self, args: &BenchArgs, before: Option<&Baseline>) -> Result<Ran> {
        let gate = &args.gate;
        let _phase = progress::phase(&format!("running {}", self.title));
        let command = || self.harness.command(self.program, self.name);
        let plan = Plan { pinned: !args.no_pin, ..gate.plan() };
        let runs = match measure(command, &plan, self.part)? {
            Ok(runs) => runs,
            Err(Badly { how, status, .. }) => {
                let whole = status.success() && self.part.is_some();
                let help = if whole { " (--whole measures it with its harness)" } else { "" };
                return Err(miette!("it {how}{help}"));
            }
        };
        if let Some((folder, profile)) = args.keep.as_ref().zip(runs.kept.as_ref()) {
            let name = self.title.replace(['/', '\0'], "_");
            let path = folder.join(format!("{name}.cotree"));
            merged::write_over(&path, Over::forced(gate.output.force), &profile.units).map_err(coded::report)?;
        }
        let mut measured = Measured::new(self.title.to_owned(), &runs.all, gate.of_functions());
        gate.choose(&mut measured);
        let (comparison, refused) = before.map_or_else(Default::default, |before| gate.compare(before, &measured));
        Ok(Ran { measured, runs, comparison, refused })
    }
}

/// Tells all results, judges them, and records them if the gate is open.
fn tell(args: &BenchArgs, all: &[Ran], all_ran: bool) -> Result<ExitCode> {
    let gate = &args.gate;
    let reports: Vec<Report<'_>> = all
        .iter()
        .map(|ran| Report { measured: &ran.measured, comparison: ran.comparison.as_ref(), refused: &ran.refused })
        .collect();
    match gate.format {
        Format::Text => {
            let style = gate.looks.style(&gate.output);
            gate.output.write_text(|out| benchmark::write_all(&reports, gate.of_functions(), gate.top, style, out))?;
        }
        Format::Json => gate.output.write(|out| benchmark::write_all_json(&reports, out))?,
        Format::Bencher => gate.output.write(|out| benchmark::write_bencher(&reports, out))?,
        Format::Github => write_summary(gate, |out| {
            reports.iter().try_for_each(|report| benchmark::write_github(*report, gate.top, out))
        })?,
    }
    let mut is_open = all_ran;
    for (ran, report) in all.iter().zip(&reports) {
        let told = Told { gate, report: *report, runs: &ran.runs };
        if ran.runs.other.is_some() {
            lines::note(format_args!("'{}':", ran.measured.name));
        }
        lines::notes(|out| told.write_doubts(gate.looks.style_of_errors(), out)).into_diagnostic()?;
        is_open &= told.judge();
    }
    if let Some(path) = &gate.saved_baseline() {
        let count = all.len();
        if !is_open {
            lines::note(format_args!("Nothing is recorded in {}.", path.display()));
        } else if let Some(ran) = all.iter().find(|ran| !ran.measured.exact) {
            return Err(miette!(
                "not all counts of '{}' are exact, so none goes into {}",
                ran.measured.name,
                path.display()
            ));
        } else {
            gate.record(path, all.iter().map(|ran| &ran.measured))?;
            lines::note(format_args!("{count} benchmarks are recorded in {}.", path.display()));
        }
    }
    Ok(if is_open { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
