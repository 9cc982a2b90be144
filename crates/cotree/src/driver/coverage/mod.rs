//! `cargo cotree coverage`: builds with coverage, runs the tests of a workspace, and shows what ran, in one command.
//!
//! A build says where its programs write their profiles, so that also a process with a cleared environment, in another
//! folder or without a parent, leaves its profile where it is looked for. The programs that cargo has built are kept
//! beside the profiles (by hard links): those that no test started count as well, and the next build, with other
//! features perhaps, may replace them where they were.

mod doc_tests;
pub(super) mod line;
mod packages;
mod place;
mod report;
mod show_env;
mod told;

pub use doc_tests::run as run_doc_test;

use super::Error;
use super::cargo_build;
use super::cargo_line::Line;
use super::cargo_options::options_of_builds;
use super::cargo_verbs::Verb;
use crate::lines;
use cotree_options::BuildOptions;
use line::{Asked, Runs, Step};
use miette::{IntoDiagnostic, Result, WrapErr};
use place::Place;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

/// Does what stands behind `coverage`.
///
/// # Errors
/// If something can't be built, read or written, or if less ran than was asked for.
pub fn run(options: &BuildOptions, line: &Line) -> Result<ExitCode> {
    let asked = Asked::parse(&line.rest)?;
    if asked.step == Step::Help {
        return report::help();
    }
    let mut cargo =
        Line { toolchain: line.toolchain.clone(), verb: "test".into(), kind: Verb::Test, rest: asked.cargo.clone() };
    let place = Place::of(&mut cargo)?;
    match asked.step {
        Step::Run(runs) => run_programs(options, &asked, runs, cargo, &place),
        Step::Report => report::run(&asked, &cargo, &place),
        Step::Clean => place.clean(&asked, &cargo),
        Step::ShowEnv => show_env::run(options, &asked, &cargo, &place),
        Step::Help => report::help(),
    }
}

/// Builds, runs, and shows what ran.
fn run_programs(options: &BuildOptions, asked: &Asked, runs: Runs, mut cargo: Line, place: &Place) -> Result<ExitCode> {
    if !asked.has("no-clean") && !asked.has("no-report") {
        place.remove_runs()?;
    }
    place.create()?;
    let excluded: Vec<OsString> =
        asked.values("exclude-from-test").flat_map(|package| ["--exclude".into(), package.into()]).collect();
    cargo.rest.splice(0..0, excluded);
    let (options, further) = told::of_build(options, asked, place, false);
    if let Some(line) = build_line(runs, &cargo, place) {
        let mut command = cargo_build::command(options.clone(), &line, &further)?;
        command.arg("--message-format=json-render-diagnostics");
        let output = command.stderr(Stdio::inherit()).output().into_diagnostic().wrap_err("cannot start cargo")?;
        if !output.status.success() {
            return Ok(super::exit_code(output.status));
        }
        place.keep_all(executables(&output.stdout))?;
    }
    let line = run_line(runs, &cargo, place);
    let mut command = cargo_build::command(options, &line, &further)?;
    let status = command
        .env("COTREE_FILE", place.pattern())
        .status()
        .map_err(|error| Error::Start { tool: "cargo".into(), error })?;
    place.keep_those_that_ran()?;
    if !status.success() && !asked.has("ignore-run-fail") {
        lines::note(format_args!(
            "cotree: help: nothing is shown, since `cargo {}` failed: `cargo cotree coverage report` shows what ran, \
             and --ignore-run-fail shows it in any case",
            line.verb
        ));
        return Ok(super::exit_code(status));
    }
    if asked.has("no-report") { Ok(ExitCode::SUCCESS) } else { report::run(asked, &cargo, place) }
}

/// The line by which cargo builds what is to be run, without running it. `None`: it says so only by running it.
fn build_line(runs: Runs, cargo: &Line, place: &Place) -> Option<Line> {
    let verb = match runs {
        Runs::Test | Runs::Nextest => Verb::Test,
        Runs::Bench => Verb::Bench,
        Runs::Program => return None,
    };
    let own = cargo.own().map(OsString::from).collect::<Vec<_>>();
    // The programs of documentation tests are built when they run.
    if own.iter().any(|word| word == "--doc") {
        return None;
    }
    let mut rest = if runs == Runs::Nextest { options_of_builds(&own) } else { own };
    rest.push("--no-run".into());
    Some(with_folder(cargo, verb, if verb == Verb::Bench { "bench" } else { "test" }, rest, place))
}

/// The line by which cargo runs.
fn run_line(runs: Runs, cargo: &Line, place: &Place) -> Line {
    let mut rest = cargo.rest.clone();
    let (verb, name) = match runs {
        Runs::Test => (Verb::Test, "test"),
        Runs::Bench => (Verb::Bench, "bench"),
        Runs::Program => (Verb::Build, "run"),
        Runs::Nextest => (Verb::Nextest, "nextest"),
    };
    if runs == Runs::Nextest && rest.first().is_some_and(|word| word == "run" || word == "r") {
        rest.remove(0);
    }
    with_folder(cargo, verb, name, rest, place)
}

/// A line that builds in the folder of coverage.
fn with_folder(cargo: &Line, kind: Verb, verb: &str, mut rest: Vec<OsString>, place: &Place) -> Line {
    let folder: [OsString; 2] = ["--target-dir".into(), place.build().into()];
    let run: Option<OsString> = (kind == Verb::Nextest).then(|| "run".into());
    rest.splice(0..0, run.into_iter().chain(folder));
    Line { toolchain: cargo.toolchain.clone(), verb: verb.into(), kind, rest }
}

/// The executables that cargo's messages name.
fn executables(messages: &[u8]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(messages);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()
}
