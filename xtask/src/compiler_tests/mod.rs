//! Programs that test compilers: gcc's own ([`gcc`]) and csmith's random ones ([`csmith`]). Each does with cotree what
//! it does with plain clang at the same level, and every count is the one of redundant counters; methods and switches
//! come in rotation.

mod csmith;
mod gcc;

use crate::command::{self, ending};
use crate::deadline;
use crate::real::Context;
use crate::soak::OPTIONS;
use crate::suite::Suite;
use crate::workspace;
use anyhow::{Context as _, Result, bail, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Where Debian's package has gcc's sources.
pub const GCC_SOURCES: &str = gcc::PACKAGE;

/// Programs that run longer are left out.
const LONGEST_PLAIN: Duration = Duration::from_secs(5);
/// How long one runs with counters at most, on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

const LEVELS: [&str; 3] = ["-O0", "-O2", "-O1"];

/// A program of one file.
struct Subject {
    source: PathBuf,
    /// The options of compiler and linker.
    flags: Vec<OsString>,
}

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    gcc::add(suite, context);
    csmith::add(suite, context);
}

/// Checks these programs, of which at least `least` must run with plain clang. `first` is the number of the first, by
/// which builds are chosen.
fn check(context: &Context, name: &str, first: usize, subjects: &[Subject], least: usize) -> Result<String> {
    let folder = workspace::scratch().join("compiler-tests").join(name.replace([' ', ','], "_"));
    workspace::fresh(&folder)?;
    let (mut ran, mut failed) = (0, Vec::new());
    for (number, subject) in (first..).zip(subjects) {
        let level = LEVELS[number % LEVELS.len()];
        let Some(expected) = reference(context, &folder, subject, level)? else { continue };
        ran += 1;
        let options = OPTIONS[number % OPTIONS.len()];
        if let Err(error) = one(context, &folder, subject, level, options, &expected) {
            failed.push(format!("{}, {options} {level}: {error:#}", subject.source.display()));
        }
    }
    if !failed.is_empty() {
        bail!("{} of {ran} programs fail\n{}", failed.len(), failed.join("\n"));
    }
    ensure!(ran >= least, "only {ran} of {} programs run with plain clang", subjects.len());
    std::fs::remove_dir_all(&folder)?;
    Ok(format!("{ran} programs"))
}

/// What plain clang's build does, if there is one and it ends.
fn reference(context: &Context, folder: &Path, subject: &Subject, level: &str) -> Result<Option<Output>> {
    let mut plain = context.plain(false);
    plain.args(compiling(subject, level)).arg("-o").arg(folder.join("plain"));
    if !deadline::within(LONGEST, || command::output(&mut plain))?.status.success() {
        return Ok(None);
    }
    let output = deadline::within(LONGEST_PLAIN, || run(folder, "plain"));
    Ok(output.ok().filter(|output| ending(output) >= 0))
}

/// One program in one build.
fn one(
    context: &Context,
    folder: &Path,
    subject: &Subject,
    level: &str,
    options: &str,
    expected: &Output,
) -> Result<()> {
    let profile = folder.join("p.cotree");
    if profile.exists() {
        std::fs::remove_file(&profile)?;
    }
    let options: Vec<&str> = options.split_whitespace().collect();
    let mut ours = context.cotree_cc(&options, false);
    deadline::within(LONGEST, || {
        command::succeed(ours.args(compiling(subject, level)).arg("-o").arg(folder.join("ours")))
    })?;
    let found = deadline::within(LONGEST, || run(folder, "ours"))?;
    let (before, after) = (ending(expected), ending(&found));
    ensure!(before == after, "it ended with {after} and not {before}: {}", command::last_lines(&found, 5));
    ensure!(expected.stdout == found.stdout, "it wrote other output");
    ensure!(expected.stderr == found.stderr, "it wrote other errors: {}", command::last_lines(&found, 5));
    if options.contains(&"none") {
        return Ok(());
    }
    ensure!(profile.exists(), "it left no profile");
    let view =
        if options.contains(&"--verify") { &["verify", "--strict"][..] } else { &["export", "--format", "json"] };
    let output = command::output(context.cotree().args(view).arg(&profile))?;
    ensure!(output.status.success(), "{}", command::last_lines(&output, 10));
    Ok(())
}

fn compiling(subject: &Subject, level: &str) -> impl Iterator<Item = OsString> {
    let flags = [level, "-g", "-w", "-fwrapv"].map(OsString::from);
    let source = [subject.source.clone().into_os_string(), "-lm".into()];
    flags.into_iter().chain(source).chain(subject.flags.clone())
}

fn run(folder: &Path, program: &str) -> Result<Output> {
    let mut command = Command::new(folder.join(program));
    command.current_dir(folder).env("COTREE_FILE", folder.join("p.cotree"));
    command::output(&mut command).with_context(|| format!("{program} does not run"))
}
