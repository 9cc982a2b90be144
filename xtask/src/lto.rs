//! `-flto`: real programs whose modules are compiled as one do the same, each of their counts is the one of redundant
//! counters (`--verify`), and what each function counts is what it counts when its module is compiled by itself.

use crate::programs::{self, Program, Workload};
use crate::real::{self, Context};
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What is checked each time: programs, and the option.
const USUALLY: [(&str, &str); 2] = [("lua", "-flto=thin"), ("lua-c++", "-flto=full")];

/// Programs with hash tables by the addresses of their constants: where these lie decides which paths are taken.
const HASHES_ADDRESSES: [&str; 2] = ["lua", "lua-c++"];

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let programs = match programs::joined(&context.sources, Workload::Small) {
        Ok(programs) => programs,
        Err(error) => return suite.add("lto", move || Err(error)),
    };
    for program in programs {
        for (method, flag) in [("edge", "-flto=thin"), ("edge", "-flto=full"), ("path", "-flto=thin")] {
            let usual = method == "edge" && USUALLY.contains(&(program.name, flag));
            if usual || context.all {
                let (program, context) = (program.clone(), context.clone());
                let name = format!("lto {} {method} {flag}", program.name);
                suite.add(name.clone(), move || check(&program, method, flag, &context, &name));
            }
        }
    }
}

fn check(program: &Program, method: &str, flag: &str, context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("lto").join(name.replace([' ', '='], "_"));
    workspace::fresh(&folder)?;
    let run = |executable: &Path, arguments: &[String]| {
        let mut command = Command::new(executable);
        command::output(
            command.args(arguments).current_dir(&folder).env("COTREE_FILE", executable.with_extension("cotree")),
        )
    };
    let build = |compiler: Command, options: &[&str], executable: &str| {
        let executable = folder.join(executable);
        command::succeed(&mut program.build(compiler, options, &executable))?;
        anyhow::Ok(executable)
    };
    let ours = || context.cotree_cc(&["--verify", "--profile", method], program.cxx);
    let plain = build(context.plain(program.cxx), &["-O0"], "plain")?;
    let joined = build(ours(), &["-O2", flag], "ours")?;
    let apart = if HASHES_ADDRESSES.contains(&program.name) { None } else { Some(build(ours(), &["-O2"], "apart")?) };
    let mut notes = Vec::new();
    // Where there are more runs than one, the others have threads, which may wait for each other or not.
    for (arguments, alone) in program.runs.iter().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
        real::same(&run(&plain, arguments)?, &run(&joined, arguments)?)?;
        notes.push(real::verified(context, &joined.with_extension("cotree"))?);
        if let Some(apart) = apart.as_ref().filter(|_| alone) {
            run(apart, arguments)?;
            let counts_of = |executable: &Path| counts(context, &executable.with_extension("cotree"));
            let (one, other) = (counts_of(&joined)?, counts_of(apart)?);
            let differing: Vec<&str> = one.symmetric_difference(&other).take(4).map(String::as_str).collect();
            ensure!(
                differing.is_empty(),
                "functions count otherwise when they are compiled as one: {}",
                differing.join("\n")
            );
            notes.push(format!("{} functions count the same as apart", one.len()));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// The counts of all blocks and edges, function by function, without the names of modules, which are those of temporary
/// objects.
fn counts(context: &Context, profile: &Path) -> Result<BTreeSet<String>> {
    let weights = command::text(context.cotree().args(["export", "--format", "weights"]).arg(profile))?;
    let mut functions = BTreeSet::new();
    for line in weights.lines().skip(1) {
        let mut function: Value = serde_json::from_str(line).context("no line of weights")?;
        function.as_object_mut().context("no function")?.remove("module");
        functions.insert(function.to_string());
    }
    ensure!(functions.len() > 50, "there are only {} functions", functions.len());
    Ok(functions)
}
