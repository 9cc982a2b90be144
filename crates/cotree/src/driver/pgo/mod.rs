//! `cargo cotree pgo`: builds a package as it is and profiled, runs a workload, builds by the profile, and says what
//! that has changed.
//!
//! Each step is a command that users could give themselves; those of cotree are run as such. What a step leaves stays
//! in a folder below the target folder. Cargo sees by itself what is up to date there. The workload and the
//! measurements are noted in a journal, by the executables and the command that they were made with, so that what was
//! done before is not done again.

mod journal;
mod measure;
mod shell;

use super::error::Error;
use crate::lines;
use clap::Parser;
use cotree_core::weight::stale::Fnv;
use cotree_options::{BuildOptions, clear_environment};
use journal::{Journal, stamp};
use measure::{Measured, instructions, size_of_code};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use shell::{shell, succeed};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Optimise a Rust package by the profile of a workload (PGO): build it without counters, then profiled, then
/// optimised by that profile.
#[derive(Parser, Debug)]
#[command(name = "cargo cotree pgo", version)]
struct Line {
    /// The workload: a command for the shell, which finds the profiled executables first in PATH [default: cargo test]
    #[arg(long, value_name = "CMD")]
    bench: Option<String>,
    /// Run the workload again, even if it ran before with the same executables
    #[arg(long)]
    again: bool,
    /// Arguments of `cargo build --release`, such as --bin NAME
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS OF CARGO")]
    cargo: Vec<OsString>,
}

/// The executables of a build, with where they are.
type Executables = Vec<PathBuf>;

/// How many steps there are.
const STEPS: usize = 5;

/// Does all steps. `options` are those in front of `cargo`, for the profiled build; `target_folder` says where cargo
/// would build with some arguments.
pub fn run(
    options: &BuildOptions,
    arguments: Vec<OsString>,
    target_folder: impl Fn(&[OsString]) -> Result<PathBuf, Error>,
) -> Result<()> {
    if options.use_profile.is_some() {
        return Err(miette!("pgo makes the profile that it builds by: leave out --use"));
    }
    let line = Line::parse_from(std::iter::once(OsString::from("cargo cotree pgo")).chain(arguments));
    let folder = target_folder(&line.cargo)?.join("cotree").join("pgo");
    Pgo::new(line, options.environment(), folder)?.run()
}

struct Pgo {
    line: Line,
    /// Options of ours for the profiled build, as variables of the environment.
    options: Vec<(String, String)>,
    cotree: PathBuf,
    folder: PathBuf,
    journal: Journal,
}

impl Pgo {
    fn new(line: Line, options: Vec<(String, String)>, folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot create {}", folder.display()))?;
        let cotree = std::env::current_exe().into_diagnostic()?;
        let journal = Journal::open(&folder.join("journal.json"));
        Ok(Self { line, options, cotree, folder, journal })
    }

    fn run(mut self) -> Result<()> {
        say(1, "building the package as it is");
        let cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let plain = self.build(cargo, "before")?;
        say(2, "building it profiled");
        let mut counting = self.ours(&self.options);
        counting.arg("cargo");
        let counted = self.build(counting, "counted")?;
        let weights = self.train(&counted)?;
        say(4, "building it by the profile");
        let mut by_profile = self.ours(&[]);
        by_profile.arg("--use").arg(&weights).arg("cargo");
        let optimised = self.build(by_profile, "after")?;
        say(5, "measuring");
        self.compare(&plain, &optimised)
    }

    /// `cotree`, without options that the environment has for builds.
    fn ours(&self, options: &[(String, String)]) -> Command {
        let mut command = Command::new(&self.cotree);
        clear_environment(&mut command);
        command.envs(options.iter().cloned());
        command
    }

    /// `… build --release` in a target folder of its own; gives its executables.
    fn build(&self, mut cargo: Command, name: &str) -> Result<Executables> {
        cargo.args(["build", "--release", "--message-format=json-render-diagnostics", "--target-dir"]);
        cargo.arg(self.folder.join(name)).args(&self.line.cargo).stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = cargo.output().into_diagnostic().wrap_err("cannot start cargo")?;
        if !output.status.success() {
            return Err(miette!("the build ended with {}: its messages stand above", output.status));
        }
        let mut executables = Executables::new();
        for message in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<serde_json::Value>(message) else { continue };
            executables.extend(message["executable"].as_str().map(PathBuf::from));
        }
        if executables.is_empty() {
            return Err(miette!("cargo built no executable: `cargo cotree pgo` is for packages with a program"));
        }
        executables.sort();
        Ok(executables)
    }

    /// Runs the workload, and makes weights of its profiles.
    fn train(&mut self, counted: &Executables) -> Result<PathBuf> {
        let what = self.line.bench.clone().unwrap_or_else(|| "cargo test".into());
        let key = stamp(counted, &format!("{what} {:?}", self.line.cargo))?;
        let last = self.journal.weights(&key).map(|name| self.folder.join(name)).filter(|file| file.is_file());
        if let Some(weights) = last.filter(|_| !self.line.again) {
            say(3, &format!("the workload ran before with these executables (--again runs it anew): {what}"));
            return Ok(weights);
        }
        say(3, &format!("running the workload: {what}"));
        let profiles = self.folder.join("profiles");
        if profiles.exists() {
            fs::remove_dir_all(&profiles).into_diagnostic()?;
        }
        fs::create_dir_all(&profiles).into_diagnostic()?;
        let mut workload = match &self.line.bench {
            Some(command) => shell(command, counted)?,
            None => {
                let mut test = self.ours(&self.options);
                test.args(["cargo", "test", "--release", "--target-dir"]).arg(self.folder.join("counted"));
                test.args(&self.line.cargo);
                test
            }
        };
        workload.env("COTREE_FILE", profiles.join("%n.%4m.cotree"));
        let status = workload.status().into_diagnostic().wrap_err("cannot start the workload")?;
        if !status.success() {
            return Err(miette!("the workload ended with {status}: `{what}` has to succeed"));
        }
        if fs::read_dir(&profiles).into_diagnostic()?.next().is_none() {
            return Err(miette!(
                "the workload left no profile: `{what}` has to run an executable of the package by its name"
            ));
        }
        let merged = self.folder.join("merged.cotree");
        let mut merge = self.ours(&[]);
        succeed(merge.args(["merge", "--several-units", "-o"]).arg(&merged).arg(&profiles))?;
        let mut export = self.ours(&[]);
        let text = succeed(export.args(["export", "--format", "weights"]).arg(&merged))?;
        let mut hash = Fnv::default();
        hash.eat(&text);
        // Cargo sees by the name that counts have changed.
        let name = format!("{:016x}.weights", hash.0);
        cotree_profile::atomic::write(&self.folder.join(&name), |out| out.write_all(&text)).into_diagnostic()?;
        self.journal.note_weights(key, name.clone()).into_diagnostic()?;
        Ok(self.folder.join(name))
    }

    /// Says what the profile has changed.
    fn compare(&mut self, plain: &Executables, optimised: &Executables) -> Result<()> {
        for (before, after) in plain.iter().zip(optimised) {
            let name = before.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let [one, other] = [before, after].map(|file| size_of_code(file));
            tell(&name, "bytes of code", one?, other?, "")?;
        }
        if let Some(bench) = self.line.bench.clone() {
            let one = self.measured(plain, &bench, "before")?;
            let other = self.measured(optimised, &bench, "after")?;
            match (one, other) {
                (Measured::Counted(one, by), Measured::Counted(other, _)) => {
                    tell("the workload", "instructions", one, other, &format!(", counted by {by}"))?;
                }
                (Measured::Not(why), _) | (_, Measured::Not(why)) => {
                    lines::note(format_args!("instructions were not measured: {why}"));
                }
            }
        } else {
            lines::note(format_args!("instructions are measured of a workload that is named with --bench"));
        }
        for executable in optimised {
            lines::answer(format_args!("{}", executable.display())).into_diagnostic()?;
        }
        Ok(())
    }

    /// The instructions of the workload, of which the journal may know.
    fn measured(&mut self, executables: &Executables, bench: &str, name: &str) -> Result<Measured> {
        let key = stamp(executables, bench)?;
        if let Some((count, by)) = self.journal.instructions(&key).filter(|_| !self.line.again) {
            return Ok(Measured::Counted(count, by));
        }
        let measured = instructions(bench, executables, &self.folder.join("measure").join(name))?;
        if let Measured::Counted(count, by) = &measured {
            self.journal.note_instructions(key, *count, by).into_diagnostic()?;
        }
        Ok(measured)
    }
}

/// A line of progress.
fn say(step: usize, what: &str) {
    lines::note(format_args!("[{step}/{STEPS}] {what}"));
}

/// A figure before and after, and what else there is to say of it.
fn tell(of: &str, what: &str, before: u64, after: u64, further: &str) -> Result<()> {
    let grouped = |number: u64| cotree_report::terminal::grouped(number.into());
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let change = (after as f64 / before.max(1) as f64 - 1.0) * 100.0;
    lines::answer(format_args!("{of}: {} -> {} {what} ({change:+.1} %){further}", grouped(before), grouped(after)))
        .into_diagnostic()
}
