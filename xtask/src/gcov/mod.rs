//! cotree's line counts at -O0 against gcov's, of clang and of gcc, on the C programs.
//!
//! clang's gcov sees what the same front end made of the source, but it misreads its own counters for some control
//! flow. gcc's is another compiler, which gives other lines to the same statements, folds conditions and joins jumps
//! even at -O0. So each line is put to both. Where they have one value, it has to be cotree's; where they contradict
//! each other, cotree has to agree with one of them; what is left has to meet the rule of a class. `docs/gcov.md`
//! explains the classes.

mod classes;
mod compare;
mod lines;

use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result, ensure};
use compare::Comparison;
use lines::Lines;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many of the counts have to be gcov's.
const EQUAL: f64 = 0.995;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let c = match programs::all_c(&context.sources, Workload::Full) {
        Ok(programs) => programs,
        Err(error) => return suite.add("gcov", move || Err(error)),
    };
    // zstd takes as long as the others together.
    for mut program in c.into_iter().filter(|program| context.all || program.name != "zstd") {
        // gcov's counters are not exact under threads.
        program.runs.truncate(1);
        if program.name == "lua" {
            // Its cache of strings is looked up by address: with one entry, all builds hit and miss alike.
            program.flags.extend(["-DSTRCACHE_N=1".to_owned(), "-DSTRCACHE_M=2".to_owned()]);
        }
        if program.name == "sqlite" {
            // Names of its temporary files are random numbers, whose digits are counted when they are printed.
            program.flags.push("-DSQLITE_OMIT_RANDOMNESS".to_owned());
        }
        let context = context.clone();
        suite.add(format!("gcov {}", program.name), move || check(&program, &context));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Clang,
    Gcc,
}

impl Peer {
    fn compiler(self, context: &Context) -> Command {
        match self {
            Peer::Clang => context.plain(false),
            Peer::Gcc => Command::new("gcc"),
        }
    }

    fn gcov(self, context: &Context) -> Command {
        match self {
            Peer::Clang => {
                let mut command = Command::new(context.clang.llvm("llvm-cov"));
                command.arg("gcov");
                command
            }
            Peer::Gcc => Command::new("gcov"),
        }
    }
}

fn check(program: &Program, context: &Context) -> Result<String> {
    ensure!(tools::find("gcov").is_some(), "gcov is not installed: it comes with gcc");
    let folder = workspace::scratch().join("gcov").join(program.name);
    workspace::fresh(&folder)?;
    let clang = theirs(program, Peer::Clang, context, &folder.join("clang"))?;
    let gcc = theirs(program, Peer::Gcc, context, &folder.join("gcc"))?;
    let ours = ours(program, context, &folder)?;
    let comparison = Comparison::new(&ours, &clang, &gcc)?;
    let report = folder.join("differences.txt");
    std::fs::write(&report, comparison.differences())?;
    let outcome = format!("see {}{comparison}", report.display());
    ensure!(comparison.common() > 1000, "hardly a line is known to both: {outcome}");
    ensure!(comparison.unexplained() == 0, "lines in no class of differences: {outcome}");
    ensure!(comparison.share_as_gcov() >= EQUAL, "too many counts are not gcov's: {outcome}");
    Ok(outcome)
}

/// Lines by gcov: each source is an object of its own with its own notes and counts.
fn theirs(program: &Program, peer: Peer, context: &Context, folder: &Path) -> Result<Lines> {
    workspace::fresh(folder)?;
    let mut objects: Vec<PathBuf> = Vec::new();
    for (index, source) in program.sources.iter().enumerate() {
        let stem = source.file_stem().context("a source has a name")?.to_string_lossy().into_owned();
        let object = folder.join(format!("{index}-{stem}.o"));
        let mut compile = peer.compiler(context);
        compile.args(["-O0", "-g", "--coverage", "-w", "-c"]).args(&program.flags).arg(source).arg("-o").arg(&object);
        command::succeed(compile.current_dir(folder))?;
        objects.push(object);
    }
    let executable = folder.join("program");
    let mut link = peer.compiler(context);
    command::succeed(link.arg("--coverage").args(&objects).args(&program.libraries).arg("-o").arg(&executable))?;
    for arguments in &program.runs {
        command::output(Command::new(&executable).args(arguments).current_dir(folder))?;
    }
    let mut lines = Lines::default();
    for object in &objects {
        let data = object.with_extension("gcda");
        // Assembly and files without functions have none.
        if data.exists() {
            lines.add_gcov(&command::text(peer.gcov(context).arg("-t").arg(&data).current_dir(folder))?);
        }
    }
    Ok(lines)
}

/// Lines by cotree: one build, all runs merged.
fn ours(program: &Program, context: &Context, folder: &Path) -> Result<Lines> {
    let executable = folder.join("ours");
    command::succeed(&mut program.build(context.cotree_cc(&[], false), &["-O0", "-g"], &executable))?;
    let merged = folder.join("merged.cotree");
    let mut merge = context.cotree();
    merge.arg("merge").arg("-o").arg(&merged);
    for (index, arguments) in program.runs.iter().enumerate() {
        let profile = folder.join(format!("{index}.cotree"));
        let mut run = Command::new(&executable);
        command::output(run.args(arguments).current_dir(folder).env("COTREE_FILE", &profile))?;
        merge.arg(&profile);
    }
    command::succeed(&mut merge)?;
    let mut lines = Lines::default();
    lines.add_lcov(&command::text(context.cotree().args(["export", "--format", "lcov"]).arg(&merged))?);
    Ok(lines)
}
