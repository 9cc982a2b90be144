//! Event counts of real programs (`--profile events`).
//!
//! The oracle of totals is the edge profile of the same input: how often each block ran, times its events. Queries and
//! limits while the program runs are tested in `lua`.

mod lua;

use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::rust_programs::{self, Package};
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All kinds.
const KINDS: &str = "instructions,loads,stores,calls,branches,float,allocations,syscalls,cost";

/// Costs that are no multiple of another kind.
const COSTS: &str = "default 2\nopcode load,store 7\ncall *alloc* 50\nopcode br 0\n";

/// No call becomes a jump. A jump of a function that never comes back counts the return behind the call, and each build
/// has other jumps.
const NO_TAIL_CALLS: &str = "-fno-optimize-sibling-calls";

/// What is checked each time: programs and levels.
const USUALLY: [(&str, &str); 3] = [("lua", "-O0"), ("lua", "-O2"), ("iterators", "-O2")];

/// A program to count the events of.
#[derive(Clone)]
enum Subject {
    C(Program),
    Lua,
    Rust(Package),
}

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let sources = &context.sources;
    let zstd = match programs::zstd(sources, Workload::Small) {
        Ok(zstd) => zstd,
        Err(error) => return suite.add("events", move || Err(error)),
    };
    let subjects = [
        ("sqlite", Subject::C(programs::sqlite(sources, Workload::Small))),
        ("lua", Subject::Lua),
        ("zstd", Subject::C(zstd)),
        ("iterators", Subject::Rust(rust_programs::iterators(Workload::Small))),
    ];
    for (name, subject) in subjects {
        for level in ["-O0", "-O2"] {
            if context.all || USUALLY.contains(&(name, level)) {
                let (subject, context) = (subject.clone(), context.clone());
                let case = format!("events {name} {level}");
                suite.add(case.clone(), move || totals(&subject, level, &context, &case));
            }
        }
    }
    lua::add(suite, context);
}

/// A folder of the case's own, empty.
fn folder(case: &str) -> Result<PathBuf> {
    let folder = workspace::scratch().join("events").join(case.replace(' ', "_"));
    workspace::fresh(&folder)?;
    Ok(folder)
}

/// Counts by events and by edges: every kind is the same, in every run.
fn totals(subject: &Subject, level: &str, context: &Context, case: &str) -> Result<String> {
    let folder = folder(case)?;
    let costs = folder.join("costs");
    fs::write(&costs, COSTS)?;
    let costs = costs.display().to_string();
    let events = format!("events={KINDS}");
    let build = |name: &str, options: &[&str]| {
        let options = [options, &["--event-costs", &costs]].concat();
        build(subject, level, context, &folder.join(name), &options)
    };
    let by_edges = build("edge", &["--profile", "edge"])?;
    let by_events = build("events", &["--profile", &events])?;
    let expected = counted(&by_edges, context)?;
    ensure!(expected.len() == KINDS.split(',').count(), "kinds are missing: {expected:?}");
    for run in ["the first", "the second"] {
        let found = counted(&by_events, context)?;
        ensure!(expected == found, "in {run} run, blocks times events are {expected:?}, but {found:?} were counted");
    }
    fs::remove_dir_all(&folder)?;
    Ok(expected.iter().map(|(title, amount)| format!("{amount} {title}")).collect::<Vec<_>>().join(", "))
}

/// Builds the subject in a folder; gives the command that runs it.
fn build(
    subject: &Subject,
    level: &str,
    context: &Context,
    folder: &Path,
    options: &[&str],
) -> Result<(PathBuf, Vec<String>)> {
    fs::create_dir_all(folder)?;
    let program = match subject {
        Subject::C(program) => program.clone(),
        Subject::Lua => lua::without_addresses(&context.sources, Workload::Small, folder)?,
        Subject::Rust(package) => {
            let source = folder.join("source");
            package.unpack(&source)?;
            let mut cotree = context.cotree();
            cotree.args(options).arg("cargo");
            let (mut command, executable) =
                package.build_profiled(cotree, &source, &folder.join("target"), level.trim_start_matches("-O"));
            command::succeed(&mut command)?;
            return Ok((executable, package.runs[0].0.clone()));
        }
    };
    let executable = folder.join(program.name);
    let compiler = context.cotree_cc(options, program.cxx);
    command::succeed(&mut program.build(compiler, &[level, NO_TAIL_CALLS], &executable))?;
    Ok((executable, program.runs[0].clone()))
}

/// What `cotree run --count` says of a run in which addresses are the same each time.
fn counted((executable, arguments): &(PathBuf, Vec<String>), context: &Context) -> Result<Vec<(String, u64)>> {
    let cotree = context.cotree();
    let mut command = same_addresses();
    command.arg(cotree.get_program()).args(["run", "--count", "--event", KINDS]).arg(executable).args(arguments);
    let output = command::output(command.current_dir(executable.parent().context("it is in a folder")?))?;
    let text = String::from_utf8_lossy(&output.stderr);
    // The programs' own tests say how they have to end: not all end well.
    ensure!(!text.contains("note: "), "{}", command::last_lines(&output, 10));
    let (_, table) = text.split_once(" Counts of ").context("cotree run printed no counts")?;
    let (table, _) = table.split_once("seconds elapsed").context("cotree run did not end its table")?;
    let row = |line: &str| {
        let (amount, title) = line.trim().split_once("  ")?;
        Some((title.to_owned(), amount.replace(',', "").parse().ok()?))
    };
    Ok(table.lines().skip(1).filter_map(row).collect())
}

/// Begins a command that runs a program at the same addresses each time.
fn same_addresses() -> Command {
    let mut command = Command::new("setarch");
    command.arg("-R");
    command
}
