//! `cotree stat`: runs a profiled program several times, and holds what it has cost against a baseline.
//!
//! Counts are exact, so one run would do. More show whether the program does the same each time; where it does not, we
//! say where it differs, and give no verdict that another run could overturn.

use super::into_report;
use super::output::{Looks, Output};
use super::profiled_run::{self, ProfiledRun};
use super::sources::FileSources;
use crate::driver;
use crate::lines;
use clap::{Args, ValueEnum};
use cotree_core::facts::events::EventKind;
use cotree_profile::atomic::{self, Over};
use cotree_profile::content::Content;
use cotree_profile::merged;
use cotree_profile::recover::{Recovery, recover_remaining};
use cotree_profile::regular;
use cotree_report::benchmark::{self, Baseline, Comparison, Limit, Measured, Report, Run, Verdict};
use cotree_report::diff::{DiffOptions, compare, write_text};
use cotree_report::names::Names;
use cotree_report::shell::command_line;
use cotree_report::terminal::Style;
use cotree_report::unit::Unit;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use nix::sys::personality::{self, Persona};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Arguments of `cotree stat`.
#[derive(Args, Debug)]
pub struct StatArgs {
    /// How often to run the program
    #[arg(short = 'n', long, value_name = "N", default_value = "3")]
    runs: NonZeroUsize,
    /// The benchmark's name in baselines and reports [default: the command line, the program without its folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The kinds of events that are shown and held against the baseline; functions by the first of them [default: all
    /// are shown, instructions are held against the baseline]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = super::export::event_kind)]
    event: Vec<EventKind>,
    /// Run the program where addresses are the same each time (no address space layout randomisation)
    #[arg(long)]
    pin: bool,
    /// Record the benchmark in FILE, beside others or in place of what it was, unless the gate closes
    #[arg(long, value_name = "FILE")]
    save_baseline: Option<PathBuf>,
    /// Show what has changed since FILE was saved
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Fail if the benchmark has this much more events than in the baseline, as 1%
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    fail_above: Option<Limit>,
    /// Fail if any function has this much more events than in the baseline, as 1%
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    fail_function_above: Option<Limit>,
    /// Keep the profile of the first run: `cotree diff` shows lines, blocks and calls of two such
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// How to tell the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Rows per list; 0 shows all
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
    /// A program that was built with cotree, and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Forms of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, on standard error unless -o is given
    #[default]
    Text,
    /// JSON (docs/json.md)
    Json,
    /// A step summary for GitHub Actions: in $GITHUB_STEP_SUMMARY unless -o is given
    Github,
    /// Bencher's Metric Format
    Bencher,
}

/// Runs, and the profiles of the first and of the first that differs from it.
#[derive(Default)]
struct Runs {
    all: Vec<Run>,
    first: Vec<Recovery>,
    /// The number of the run, from 0, and its profile.
    other: Option<(usize, Vec<Recovery>)>,
}

impl Runs {
    fn add(&mut self, run: Run, profile: Vec<Recovery>) {
        match self.all.first() {
            None => self.first = profile,
            Some(first) if self.other.is_none() && *first != run => self.other = Some((self.all.len(), profile)),
            Some(_) => {}
        }
        self.all.push(run);
    }
}

/// Runs `cotree stat`.
pub fn run(args: &StatArgs) -> Result<ExitCode> {
    check(args)?;
    let before = args.baseline.as_deref().map(read_baseline).transpose()?;
    if args.pin {
        let persona = personality::get().into_diagnostic()? | Persona::ADDR_NO_RANDOMIZE;
        personality::set(persona).into_diagnostic().wrap_err("cannot turn the randomisation of addresses off")?;
    }
    let of_functions = args.event.first().copied().unwrap_or(EventKind::Instructions);
    let (mut runs, mut input) = (Runs::default(), Input::new());
    for number in 0..args.runs.get() {
        input.rewind()?;
        let run = ProfiledRun::of(Command::new(&args.command[0]).args(&args.command[1..]))?;
        if !run.status.success() || run.interrupted {
            let end = match (profiled_run::signal_of(run.status), run.interrupted) {
                (_, true) => "was interrupted".to_owned(),
                (Some(signal), false) => format!("ended by signal {signal}"),
                (None, false) => format!("ended with status {}", run.status.code().unwrap_or(1)),
            };
            let (number, program) = (number + 1, Path::new(&args.command[0]).display());
            annotate(args, true, &format!("run {number} of {program} {end}: its counts are no benchmark's"));
            let interrupted = ExitCode::from(INTERRUPTED);
            return Ok(if run.status.success() { interrupted } else { driver::exit_code(run.status) });
        }
        if let Some(path) = args.keep.as_deref().filter(|_| number == 0) {
            merged::write_over(path, Over::forced(args.output.force), &run.profile.units).map_err(into_report)?;
        }
        let (recovered, gone) = recover_remaining(&run.profile, &[]).map_err(into_report)?;
        if let Some(error) = gone.first() {
            return Err(miette!("{error}; without it the counts are not the whole benchmark's"));
        }
        let run = Run::new(&units(&recovered), of_functions).ok_or_else(|| {
            miette!(
                "the profile has no counts of events, or not of all libraries: build with --profile edge, which is the \
                 default"
            )
        })?;
        runs.add(run, recovered);
    }
    let mut measured = Measured::new(name(args), &runs.all, of_functions);
    if !args.event.is_empty() {
        measured.totals.retain(|kind, _| args.event.iter().any(|asked| asked.name() == kind));
    }
    let (comparison, refused) = match &before {
        Some(baseline) => compared(args, baseline, &measured),
        None => (None, Vec::new()),
    };
    let report = Report { measured: &measured, comparison: comparison.as_ref(), refused: &refused };
    tell(args, report, &runs)?;
    if input.0.is_none() && !measured.all_equal() {
        lines::note(format_args!("note: only a file is read anew by each run; standard input is none"));
    }
    let is_open = judge(args, report);
    if let Some(path) = &args.save_baseline {
        if !is_open {
            lines::note(format_args!("'{}' is not recorded in {}.", measured.name, path.display()));
        } else if measured.exact {
            record(args, path, &measured)?;
            lines::note(format_args!("'{}' is recorded in {}.", measured.name, path.display()));
        } else {
            return Err(miette!("not all counts are exact, so none goes into {}", path.display()));
        }
    }
    Ok(if is_open { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The status of commands that an interrupt has ended, as shells have it.
const INTERRUPTED: u8 = 128 + 2;

/// Baselines are small.
const LARGEST_BASELINE: u64 = 64 << 20;

/// Refuses what would be noticed only after the runs.
fn check(args: &StatArgs) -> Result<()> {
    if args.name.as_deref().is_some_and(|name| name.is_empty() || name.contains(char::is_control)) {
        return Err(miette!("--name: a name has at least one sign, and no line breaks"));
    }
    let over = Over::forced(args.output.force);
    if let Some(path) = &args.keep {
        atomic::check(path, Content::MergedProfile, over).map_err(into_report)?;
    }
    if let Some(path) = &args.save_baseline {
        baseline_to_extend(args, path)?;
    }
    let outputs = [&args.keep, &args.save_baseline, &args.output.output];
    for (number, path) in outputs.iter().enumerate().filter_map(|(number, path)| Some((number, path.as_ref()?))) {
        if outputs[..number].iter().any(|other| other.as_ref() == Some(path)) {
            return Err(miette!("{} is to be written twice: give each result a file of its own", path.display()));
        }
        let folder = atomic::folder_of(path);
        if !folder.is_dir() {
            return Err(miette!("cannot write {}: there is no folder {}", path.display(), folder.display()));
        }
    }
    Ok(())
}

/// Records the benchmark in a file that others may record theirs in at the same time.
fn record(args: &StatArgs, path: &Path, measured: &Measured) -> Result<()> {
    let folder = atomic::folder_of(path);
    let lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
    let _lock = lock.into_diagnostic().wrap_err_with(|| format!("cannot lock the folder {}", folder.display()))?;
    let mut baseline = baseline_to_extend(args, path)?;
    baseline.record(measured);
    atomic::write_over(path, Over::forced(true), |out| baseline.write(out)).map_err(into_report)
}

/// Standard input, which each run shall read from the same place, if it is a file.
struct Input(Option<(File, u64)>);

impl Input {
    fn new() -> Self {
        let place = || {
            let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            let at = file.metadata().ok()?.is_file().then(|| file.stream_position().ok())??;
            Some((file, at))
        };
        Self(place())
    }

    fn rewind(&mut self) -> Result<()> {
        let Some((file, at)) = &mut self.0 else { return Ok(()) };
        file.seek(SeekFrom::Start(*at)).map(drop).into_diagnostic().wrap_err("cannot rewind standard input")
    }
}

/// The units of a profile.
fn units(recovered: &[Recovery]) -> Vec<Unit<'_>> {
    recovered.iter().map(|(binary, profile)| Unit::new(binary.map(), profile)).collect()
}

/// The benchmark's name.
fn name(args: &StatArgs) -> String {
    args.name.clone().unwrap_or_else(|| {
        let program = &args.command[0];
        let program = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        let program = Cow::Owned(benchmark::without_hash(&program).to_owned());
        let words = std::iter::once(program).chain(args.command[1..].iter().map(|word| word.to_string_lossy()));
        command_line(&words.collect::<Vec<_>>())
    })
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let failed = || format!("cannot read the baseline {}", path.display());
    let text = regular::read_text(path, LARGEST_BASELINE).into_diagnostic().wrap_err_with(failed)?;
    Baseline::read(&text).map_err(|error| miette!("{}: {error}", failed()))
}

/// The baseline that a benchmark is to be recorded in: what the file holds, or a new one where there is none, or an
/// empty one. Nothing else is replaced without `--force`.
fn baseline_to_extend(args: &StatArgs, path: &Path) -> Result<Baseline> {
    let is_new = fs::metadata(path).map_or(true, |file| file.is_file() && file.len() == 0);
    match if is_new { Ok(Baseline::default()) } else { read_baseline(path) } {
        Err(_) if args.output.force && path.is_file() => Ok(Baseline::default()),
        Err(error) => Err(miette!("{error:#}: name another file, or replace this one with --force")),
        baseline => baseline,
    }
}

/// Holds the benchmark against its baseline, or says why that can't be done.
fn compared(args: &StatArgs, baseline: &Baseline, measured: &Measured) -> (Option<Comparison>, Vec<String>) {
    let Some(recorded) = baseline.benchmarks.get(&measured.name) else {
        let names: Vec<&str> = baseline.benchmarks.keys().map(String::as_str).collect();
        let known = if names.is_empty() { "no benchmark".to_owned() } else { names.join("; ") };
        return (None, vec![format!("the baseline has no '{}', but {known} (see --name)", measured.name)]);
    };
    if !measured.exact {
        return (None, vec!["not all counts are exact: `cotree report` of a profile (--keep) says why".to_owned()]);
    }
    let mut differences = recorded.differences(measured);
    if args.fail_function_above.is_some() && recorded.of_functions != measured.of_functions {
        let (then, now) = (&recorded.of_functions, &measured.of_functions);
        differences.push(format!("functions had their {then} counted then, and have their {now} now (see --event)"));
    }
    if !differences.is_empty() {
        return (None, differences);
    }
    let limited: Vec<&str> = match args.event.as_slice() {
        [] => vec![EventKind::Instructions.name()],
        kinds => kinds.iter().map(|kind| kind.name()).collect(),
    };
    let comparison =
        Comparison::new(recorded, measured, &limited, &args.event, args.fail_above, args.fail_function_above);
    (Some(comparison), Vec::new())
}

/// Tells the result in the form that is asked for, and, to people, where runs differ.
fn tell(args: &StatArgs, report: Report<'_>, runs: &Runs) -> Result<()> {
    if args.format != Format::Text {
        let style = args.looks.style_of_errors();
        lines::notes(|out| write_doubts(args, report, runs, style, out)).into_diagnostic()?;
    }
    match args.format {
        Format::Text if args.output.output.is_some() => {
            let style = args.looks.style(&args.output);
            args.output.write_text(|out| write_report(args, report, runs, style, out))
        }
        Format::Text => {
            let style = args.looks.style_of_errors();
            lines::notes(|out| write_report(args, report, runs, style, out)).into_diagnostic()
        }
        Format::Json => args.output.write(|out| benchmark::write_json(report, out)),
        Format::Bencher => args.output.write(|out| benchmark::write_bencher(report, out)),
        Format::Github => {
            let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
            match summary.filter(|_| args.output.output.is_none()) {
                Some(path) => {
                    let failed = || format!("cannot write the step summary {}", Path::new(&path).display());
                    let file = OpenOptions::new().append(true).create(true).open(&path);
                    let mut file = file.into_diagnostic().wrap_err_with(failed)?;
                    benchmark::write_github(report, args.top, &mut file).into_diagnostic().wrap_err_with(failed)
                }
                None => args.output.write(|out| benchmark::write_github(report, args.top, out)),
            }
        }
    }
}

fn write_report(
    args: &StatArgs,
    report: Report<'_>,
    runs: &Runs,
    style: Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let kinds: Vec<&str> = args.event.iter().map(|kind| kind.name()).collect();
    writeln!(out, "\n{}", benchmark::measured(report.measured, &kinds))?;
    write_doubts(args, report, runs, style, out)?;
    if let Some(comparison) = report.comparison {
        write!(out, "{}", benchmark::changed(comparison, &report.measured.of_functions, args.top, style))?;
    }
    Ok(())
}

/// Writes what a reader of the amounts must know: that they may not be exact, and where runs differ.
fn write_doubts(
    args: &StatArgs,
    report: Report<'_>,
    runs: &Runs,
    style: Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    if !report.measured.exact {
        let doubt = "Not all counts are exact: keep a profile (--keep), and see `cotree report`.";
        writeln!(out, "{}\n", style.warning(doubt))?;
    }
    if let Some((number, other)) = &runs.other {
        writeln!(out, "{}\n", style.warning(&format!("Run {} did something else than run 1:", number + 1)))?;
        let difference = compare(&units(&runs.first), &units(other), &FileSources::default());
        write_text(&difference, &DiffOptions { top: args.top.max(1), names: Names::Demangled, style }, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Whether the gate is open; else says why not.
fn judge(args: &StatArgs, report: Report<'_>) -> bool {
    let gated = args.fail_above.is_some() || args.fail_function_above.is_some();
    let name = &report.measured.name;
    for reason in report.refused {
        annotate(args, gated, &format!("'{name}' is not compared: {reason}"));
    }
    if !report.refused.is_empty() {
        return !gated;
    }
    match report.comparison.map_or(Verdict::Within, Comparison::verdict) {
        Verdict::Within => return true,
        Verdict::Above => annotate(args, true, &format!("'{name}' is above the limit: {}", above(report))),
        Verdict::Unsure if report.measured.all_equal() => annotate(
            args,
            true,
            &format!(
                "'{name}' is above the limit of some runs that the baseline was made of, which differ: save it anew"
            ),
        ),
        Verdict::Unsure => annotate(
            args,
            true,
            &format!(
                "'{name}' is above the limit in some runs and within it in others: make the program do the same each \
                 time (--pin takes differences of addresses away)"
            ),
        ),
    }
    false
}

/// Says what closes the gate, or only what is to be known, where GitHub shows it if that is asked for.
fn annotate(args: &StatArgs, closes: bool, text: &str) {
    match (args.format, closes) {
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
