//! What figures of pages are of: a program and a method, built and run here.

use super::figures::{self, Profiles};
use crate::programs::Program;
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program, a method, and what its figures are held against besides the exports.
#[derive(Clone)]
pub struct Subject {
    pub program: Program,
    pub method: &'static str,
    pub level: &'static str,
    /// Pages show what differs from a run with only so many arguments.
    pub shorter: Option<usize>,
    /// A build that counts calls does the same in each run.
    pub calls: bool,
    /// How many functions it has at least.
    pub least: usize,
}

impl Subject {
    /// An optimised program, whose figures are held against the exports alone.
    pub fn new(program: Program, method: &'static str) -> Subject {
        Subject { program, method, level: "-O2", shorter: None, calls: false, least: 0 }
    }
}

/// Adds a case.
pub fn add(suite: &mut Suite, subject: Subject, context: &Context) {
    let (name, context) = (format!("figures of pages: {} {}", subject.program.name, subject.method), context.clone());
    suite.add(name, move || {
        let folder = fresh(&format!("report-pages-{}-{}", subject.program.name, subject.method))?;
        check_in(&subject, &folder, &context)
    });
}

/// An empty folder.
pub fn fresh(name: &str) -> Result<PathBuf> {
    let folder = workspace::scratch().join(name);
    workspace::fresh(&folder)?;
    Ok(folder)
}

/// Builds a program by a method and runs it, once for each of these files and with so many of its arguments at most.
pub fn profile(
    subject: &Subject,
    method: &str,
    runs: &[(&str, usize)],
    context: &Context,
    folder: &Path,
) -> Result<()> {
    let (program, ours) = (&subject.program, folder.join(method));
    let compiler = context.cotree_cc(&["--profile", method], program.cxx);
    command::succeed(&mut program.build(compiler, &[subject.level, "-g"], &ours))?;
    for (name, arguments) in runs {
        let file = folder.join(name);
        let arguments = program.runs[0].iter().take(*arguments);
        command::output(Command::new(&ours).args(arguments).current_dir(folder).env("COTREE_FILE", file))?;
    }
    Ok(())
}

/// Checks the figures of its pages, in a folder that is removed then.
pub fn check_in(subject: &Subject, folder: &Path, context: &Context) -> Result<String> {
    let [run, before, made] = ["run.cotree", "shorter.cotree", "calls.cotree"];
    let mut runs = vec![(run, usize::MAX)];
    runs.extend(subject.shorter.map(|arguments| (before, arguments)));
    profile(subject, subject.method, &runs, context, folder)?;
    if subject.calls {
        profile(subject, "calls", &[(made, usize::MAX)], context, folder)?;
    }
    let [run, before, made] = [run, before, made].map(|name| folder.join(name));
    let profiles = Profiles {
        profile: &run,
        before: subject.shorter.map(|_| before.as_path()),
        calls: subject.calls.then_some(made.as_path()),
    };
    let said = figures::check(&profiles, &folder.join("pages"), context)?;
    ensure!(said.functions >= subject.least, "{} functions, and {} are wanted", said.functions, subject.least);
    fs::remove_dir_all(folder)?;
    Ok(said.text)
}
