//! `cargo cotree`: builds, runs and tests Rust packages, profiled.

use super::cargo_line::{Line, current_folder};
use super::cargo_verbs::Verb;
use super::cargo_workspace::Workspace;
use super::{Error, bench, cargo_build, coverage, pgo, weights};
use crate::{coded, progress};
use cotree_options::{At, BuildOptions};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs cargo, and ends as it ends.
pub fn run(mut options: BuildOptions, arguments: Vec<OsString>) -> miette::Result<ExitCode> {
    let line = Line::parse(&mut options, arguments)?;
    if line.kind == Verb::Coverage {
        options.coverage = Some(true);
    }
    if line.own().any(|word| word == "--quiet" || word == "-q") {
        progress::forbid();
    }
    if line.kind == Verb::Pgo && options.profile.is_none() {
        options.for_pgo.get_or_insert(true);
    }
    if options.for_pgo == Some(true) && options.coverage != Some(true) {
        // Rust's programs are made of small functions, and each of their copies is to have counts of its own.
        options.at.get_or_insert(At::Inlined);
    }
    // Options may stand in front of `cargo`, or between it and the verb. Only now all of them are known.
    let _made = weights::resolve_all(&mut options)?;
    super::check(&options)?;
    // Cargo does all steps of the build.
    options.check_all().map_err(coded::report)?;
    if line.kind == Verb::Pgo {
        if line.toolchain.is_some() {
            return Err(Error::PgoToolchain.into());
        }
        pgo::run(&options, line.rest, target_folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    if line.kind == Verb::Coverage {
        return coverage::run(&options, &line);
    }
    if line.kind == Verb::Bench {
        return bench::run(options, &line);
    }
    Ok(cargo_build::build(options, &line)?)
}

/// The target folder that cargo would use with these arguments.
fn target_folder(arguments: &[OsString]) -> Result<PathBuf, Error> {
    let line = Line { toolchain: None, verb: "build".into(), kind: Verb::Build, rest: arguments.to_vec() };
    Ok(Workspace::ask(&line, &current_folder()?)?.target_directory)
}
