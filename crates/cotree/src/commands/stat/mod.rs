//! `cotree stat`: runs a profiled program several times, and holds what it has cost against a baseline.
//!
//! Counts are exact, so one run would do. More show whether the program does the same each time; where it does not, we
//! say where it differs, and give no verdict that another run could overturn.

pub mod gate;
pub mod measure;
pub mod tell;

use super::into_report;
use crate::driver::{self, search::in_path};
use crate::lines;
use clap::Args;
use cotree_profile::atomic::{self, Over};
use cotree_profile::content::Content;
use cotree_profile::entries::Entries;
use cotree_profile::merged;
use cotree_report::benchmark::{self, Measured, Report};
use cotree_report::shell::command_line;
use gate::{Gate, INTERRUPTED};
use measure::{Badly, Part, input_is_read_anew, measure};
use miette::{Result, miette};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tell::{Told, annotate};

/// Arguments of `cotree stat`.
#[derive(Args, Debug)]
pub struct StatArgs {
    /// The benchmark's name in baselines and reports [default: the command line, the program without its folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Measure from where this function is first entered; of several, separated by `;`, from where they were entered
    /// one after another
    #[arg(long, value_name = "FUNCTION", value_delimiter = ';')]
    from: Vec<String>,
    /// Measure to where this function is first entered after that; of several, separated by `;`, to where they were
    /// entered one after another
    #[arg(long, value_name = "FUNCTION", value_delimiter = ';')]
    to: Vec<String>,
    /// Keep the profile of the first run: `cotree diff` shows lines, blocks and calls of two such
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    gate: Gate,
    /// A program that was built with cotree, and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `cotree stat`.
pub fn run(args: &StatArgs) -> Result<ExitCode> {
    let gate = &args.gate;
    if args.name.as_deref().is_some_and(|name| name.is_empty() || name.contains(char::is_control)) {
        return Err(miette!("--name: a name has at least one sign, and no line breaks"));
    }
    if let Some(path) = &args.keep {
        atomic::check(path, Content::MergedProfile, Over::forced(gate.output.force)).map_err(into_report)?;
    }
    let before = gate.open(&args.keep.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let part = part(args)?;
    let command = || {
        let mut command = Command::new(&args.command[0]);
        command.args(&args.command[1..]);
        command
    };
    let runs = match measure(command, &gate.plan(), part.as_ref())? {
        Ok(runs) => runs,
        Err(Badly { number, status, interrupted, how }) => {
            let program = Path::new(&args.command[0]).display();
            annotate(gate, true, &format!("run {number} of {program} {how}: its counts are no benchmark's"));
            return Ok(match (status.success(), interrupted) {
                (true, true) => INTERRUPTED.into(),
                (true, false) => ExitCode::FAILURE,
                (false, _) => driver::exit_code(status),
            });
        }
    };
    if let Some((path, profile)) = args.keep.as_deref().zip(runs.kept.as_ref()) {
        merged::write_over(path, Over::forced(gate.output.force), &profile.units).map_err(into_report)?;
    }
    let mut measured = Measured::new(name(args), &runs.all, gate.of_functions());
    gate.choose(&mut measured);
    let (comparison, refused) = before.as_ref().map_or_else(Default::default, |before| gate.compare(before, &measured));
    let report = Report { measured: &measured, comparison: comparison.as_ref(), refused: &refused };
    let told = Told { gate, report, runs: &runs };
    told.tell()?;
    if !input_is_read_anew() && !measured.all_equal() {
        lines::note(format_args!("note: only a file is read anew by each run; standard input is none"));
    }
    let is_open = told.judge();
    if let Some(path) = &gate.saved_baseline() {
        if !is_open {
            lines::note(format_args!("'{}' is not recorded in {}.", measured.name, path.display()));
        } else if measured.exact {
            gate.record(path, [&measured])?;
            lines::note(format_args!("'{}' is recorded in {}.", measured.name, path.display()));
        } else {
            return Err(miette!("not all counts are exact, so none goes into {}", path.display()));
        }
    }
    Ok(if is_open { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The part that is asked for, if not all.
fn part(args: &StatArgs) -> Result<Option<Part>> {
    if args.from.is_empty() && args.to.is_empty() {
        return Ok(None);
    }
    let name = Path::new(&args.command[0]);
    let program = in_path(name).unwrap_or_else(|| name.to_owned());
    let entries = Entries::of(&program).map_err(into_report)?;
    let [from, to] = [&args.from, &args.to].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    Part::between(&entries, &from, &to).map_err(|error| miette!("{error}"))
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
