//! What runs benchmarks: which there are in an executable, how one of them is run once, and where it begins and ends.

use super::programs::Program;
use crate::commands::stat::measure::Part;
use cotree_core::facts::harness::{API, CLOCK, CRITERION, DIVAN};
use cotree_profile::entries::{Entries, EntryError};
use miette::{IntoDiagnostic, Report, WrapErr, miette};
use std::process::{Command, Output, Stdio};

/// A harness, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// criterion
    Criterion,
    /// criterion before 0.4
    OldCriterion,
    /// divan
    Divan,
    /// `cotree_api::bench`
    Api,
    /// rustc's own, of nightly compilers
    Rustc,
    /// A program that is one benchmark.
    None,
}

impl Harness {
    /// The harness of an executable, and its benchmarks.
    pub fn of(program: &Program, entries: &Entries) -> miette::Result<(Self, Vec<String>)> {
        let known = if entries.mention("criterion::") {
            Some(Self::Criterion)
        } else if entries.mention("divan::") {
            Some(Self::Divan)
        } else {
            entries.has(API[0]).then_some(Self::Api)
        };
        let output = list(program, &["--format", "terse"])?;
        let names = names_in(&output.stdout);
        if output.status.success() && !names.is_empty() {
            return Ok((known.unwrap_or(Self::Rustc), names));
        }
        match known {
            None if program.has_own_main => Ok((Self::None, vec![String::new()])),
            None if output.status.success() => Ok((Self::Rustc, names)),
            Some(Self::Criterion) => {
                // Versions before 0.4 know neither the format nor exact names.
                let output = list(program, &[])?;
                let names = names_in(&output.stdout);
                if output.status.success() { Ok((Self::OldCriterion, names)) } else { Err(no_list(program, &output)) }
            }
            _ => Err(no_list(program, &output)),
        }
    }

    /// What runs one benchmark, once.
    pub fn command(self, program: &Program, name: &str) -> Command {
        let mut command = program.command();
        match self {
            Self::Criterion | Self::Divan => command.args(["--bench", "--test", "--exact", name]),
            Self::OldCriterion => command.args(["--bench", "--test", &format!("^{}$", regex_lite::escape(name))]),
            Self::Api => command.args(["--bench", "--exact", name]),
            Self::Rustc => command.args(["--test", "--exact", name]),
            Self::None => command.arg("--bench"),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// The part of a run that is the benchmark's own; `None` where the harness does not say.
    ///
    /// # Errors
    /// If the harness says so by functions that the executable has not.
    pub fn part(self, entries: &Entries) -> Result<Option<Part>, EntryError> {
        let clock = CLOCK.into_iter().find(|name| entries.has(name)).unwrap_or(CLOCK[0]);
        match self {
            Self::Criterion | Self::OldCriterion => Part::between(entries, &CRITERION[..1], &CRITERION[1..]),
            Self::Divan => Part::between(entries, &[DIVAN, clock], &[DIVAN]),
            Self::Api => Part::between(entries, &API[..1], &API[1..]),
            Self::Rustc | Self::None => Ok(None),
        }
    }
}

/// Has an executable list its benchmarks.
fn list(program: &Program, format: &[&str]) -> miette::Result<Output> {
    let mut list = program.command();
    list.args(["--bench", "--list"]).args(format).stdin(Stdio::null()).env("COTREE_FILE", "");
    // divan lists for nextest alone.
    list.env("NEXTEST", "1")
        .output()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot start {}", program.path.display()))
}

/// The names in a list.
fn names_in(list: &[u8]) -> Vec<String> {
    let name = |line: &str| Some(line.strip_suffix(": benchmark").or(line.strip_suffix(": bench"))?.to_owned());
    String::from_utf8_lossy(list).lines().filter_map(name).collect()
}

fn no_list(program: &Program, output: &Output) -> Report {
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    miette!("{} cannot list its benchmarks, it ended with {}: {first}", program.path.display(), output.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_lists() {
        let list = b"Warning: something\n\na/b 1: benchmark\nold: bench\na_test: test\nx: y: benchmark\n2 benchmarks\n";
        assert_eq!(names_in(list), ["a/b 1", "old", "x: y"]);
    }
}
