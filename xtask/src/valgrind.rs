//! Valgrind starts what we build: SQLite and Lua, several files each.
//!
//! Valgrind's reader of debug information refuses whole programs ("Possibly corrupted debuginfo file") for what it does
//! not know in their DWARF. What was built without `-g` has none of ours; with `-g` we ask for no more than what clang
//! alone gets.

use crate::programs::{self, Program, Workload};
use crate::real::{self, Context};
use crate::suite::Suite;
use crate::{command, tools, workspace};
use anyhow::{Result, bail, ensure};
use std::path::Path;
use std::process::Command;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let lua = programs::lua(&context.sources, Workload::Tiny);
    let sqlite = programs::sqlite(&context.sources, Workload::Tiny);
    for (name, level, program) in [("valgrind sqlite", "-O0", Ok(sqlite)), ("valgrind lua", "-O1", lua)] {
        let context = context.clone();
        suite.add(name, move || check(&program?, level, &context, name));
    }
}

fn check(program: &Program, level: &str, context: &Context, name: &str) -> Result<String> {
    if tools::find("valgrind").is_none() {
        bail!("there is no valgrind");
    }
    let folder = workspace::scratch().join("valgrind").join(name);
    workspace::fresh(&folder)?;
    let build = |compiler: Command, debug: &[&str], output: &Path| {
        command::succeed(&mut program.build(compiler, &[&[level], debug].concat(), output)).map(|_| ())
    };
    let mut notes = Vec::new();
    for debug in [&[][..], &["-g"]] {
        let (plain, ours) = (folder.join("plain"), folder.join("ours"));
        build(context.plain(program.cxx), debug, &plain)?;
        let starts = started(program, &plain, &folder)?;
        if let Err(refusal) = &starts {
            ensure!(!debug.is_empty(), "it starts nothing, not even what clang builds without -g: {refusal}");
            notes.push(format!("with -g it refuses what clang alone builds: {refusal}"));
            continue;
        }
        build(context.cotree_cc(&["--verify"], program.cxx), debug, &ours)?;
        match started(program, &ours, &folder)? {
            Ok(()) => notes.push(real::verified(context, &folder.join("profile.cotree"))?),
            Err(refusal) => bail!("{debug:?}: {refusal}"),
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// Runs it natively, then below Valgrind, where it has to do the same; inside is what Valgrind says if it refuses it.
fn started(program: &Program, executable: &Path, folder: &Path) -> Result<Result<(), String>> {
    let arguments = &program.runs[0];
    let expected =
        command::output(Command::new(executable).args(arguments).current_dir(folder).env("COTREE_FILE", ""))?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=none", "--quiet"]).arg(executable).args(arguments).current_dir(folder);
    let found = command::output(valgrind.env("COTREE_FILE", folder.join("profile.cotree")))?;
    let errors = String::from_utf8_lossy(&found.stderr);
    if let Some(line) = errors.lines().find(|line| line.contains("debuginfo") || line.contains("failed to")) {
        return Ok(Err(line.to_owned()));
    }
    real::same(&expected, &found)?;
    Ok(Ok(()))
}
