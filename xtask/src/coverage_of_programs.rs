//! The coverage of C and C++ programs, held against clang's own coverage as llvm-cov tells it: each file has the same
//! lines, functions, regions and branches, and as many of them ran.
//!
//! Where a program is left early (Lua's errors are `longjmp`, clipper throws), fewer may have run than llvm-cov says,
//! which counts what stands behind the call that did not return: never more, but for a second return of `setjmp`.

use crate::coverage_of_decisions;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is compared of a file, in the words of both documents.
pub const SHARES: [&str; 4] = ["lines", "functions", "regions", "branches"];

/// The programs that are left early by a `longjmp` or an exception, or end by `exit` in the midst.
const LEFT_EARLY: [&str; 3] = ["lua", "lua-c++", "clipper"];

/// The programs with lines that are an assertion which nothing comes to, and how many: they have not run, and llvm-cov
/// gives such a line the count of what is around it.
const ASSERTIONS: [(&str, u64); 2] = [("sqlite", 10), ("meshoptimizer", 2)];

/// Where Lua as C calls `setjmp` in a condition. After its second return the condition is false, which llvm-cov, with
/// one counter before the call, takes for an outcome that never was.
const SECOND_RETURN: &str = "ldo.c";

/// Per file, how many ran of how many of each of [`SHARES`].
pub type Files = BTreeMap<PathBuf, [(u64, u64); SHARES.len()]>;

/// Adds a case for each program.
pub fn add(suite: &mut Suite, context: &Context) {
    let names =
        ["sqlite", "lua", "lua-c++", "zstd", "bzip2", "zlib", "oniguruma", "tree-sitter", "clipper", "meshoptimizer"];
    for name in names {
        let context = context.clone();
        suite.add(format!("coverage of {name}"), move || check(&context, name));
    }
}

fn program(context: &Context, name: &str) -> Result<Program> {
    let (sources, workload) = (&context.sources, Workload::Small);
    let all = programs::all(sources, workload)?;
    all.into_iter().find(|program| program.name == name).with_context(|| format!("no program {name}"))
}

fn check(context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("coverage-of").join(name);
    workspace::fresh(&folder)?;
    let program = program(context, name)?;
    let (ours, theirs) = (ours(context, &program, &folder)?, theirs(context, &program, &folder)?);
    let (decisions, otherwise) = coverage_of_decisions::compare(&ours, &theirs)?;
    let ours = files(&ours["files"], "path", |file| file, "total")?;
    let theirs = files(&theirs["data"][0]["files"], "filename", |file| &file["summary"], "count")?;
    let assertions = ASSERTIONS.iter().find(|(program, _)| *program == name).map_or(0, |(_, lines)| *lines);
    let (mut fewer, mut all) = (0, 0);
    for path in ours.keys().chain(theirs.keys()) {
        let (Some(ours), Some(theirs)) = (ours.get(path), theirs.get(path)) else {
            anyhow::bail!("{} is in one of both alone", path.display());
        };
        for ((word, ours), theirs) in SHARES.iter().zip(ours).zip(theirs) {
            let said = || format!("{word} of {}: {ours:?}, and llvm-cov has {theirs:?}", path.display());
            ensure!(ours.1 == theirs.1, said());
            let second_return = *word == "branches" && path.ends_with(SECOND_RETURN) && ours.0 == theirs.0 + 1;
            let fewer = (LEFT_EARLY.contains(&name) || assertions > 0 && *word == "lines") && ours.0 < theirs.0;
            ensure!(ours.0 == theirs.0 || fewer || second_return, said());
        }
    }
    for (path, ours) in &ours {
        fewer += theirs[path][0].0 - ours[0].0;
        all += ours[0].1;
    }
    ensure!(
        assertions == 0 || fewer == assertions,
        "{fewer} lines fewer, and not {assertions}, ran than llvm-cov says"
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(format!(
        "{} files, {all} lines, {fewer} fewer ran than llvm-cov says; {decisions} decisions, {otherwise} told otherwise",
        ours.len()
    ))
}

fn ours(context: &Context, program: &Program, folder: &Path) -> Result<Value> {
    let (executable, profile) = (folder.join("ours"), folder.join("ours.cotree"));
    let compiler = context.cotree_cc(&["--coverage", "--mcdc"], program.cxx);
    command::succeed(&mut program.build(compiler, &["-O1"], &executable))?;
    command::output(Command::new(&executable).args(&program.runs[0]).env("COTREE_FILE", &profile).current_dir(folder))?;
    let text = command::text(context.cotree().args(["coverage", "--json", "--no-markers"]).arg(&profile))?;
    Ok(serde_json::from_str(&text)?)
}

fn theirs(context: &Context, program: &Program, folder: &Path) -> Result<Value> {
    let (executable, raw, merged) = (folder.join("theirs"), folder.join("raw"), folder.join("merged"));
    let options = ["-O1", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
    command::succeed(&mut program.build(context.plain(program.cxx), &options, &executable))?;
    let mut run = Command::new(&executable);
    command::output(run.args(&program.runs[0]).env("LLVM_PROFILE_FILE", &raw).current_dir(folder))?;
    let tool = |name: &str| Command::new(context.clang.llvm(name));
    command::succeed(tool("llvm-profdata").arg("merge").arg(&raw).arg("-o").arg(&merged))?;
    let mut export = tool("llvm-cov");
    export.args(["export", "-skip-expansions", "-instr-profile"]).arg(&merged).arg(&executable);
    Ok(serde_json::from_str(&command::text(&mut export)?)?)
}

/// The shares of each file that has functions.
pub fn files(list: &Value, path: &str, shares: impl Fn(&Value) -> &Value, total: &str) -> Result<Files> {
    let mut files = Files::new();
    for file in list.as_array().context("no list of files")? {
        let path = file[path].as_str().context("a file without a path")?;
        let of = |word: &str| {
            let share = &shares(file)[word];
            Some((share["covered"].as_u64()?, share[total].as_u64()?))
        };
        let [lines, functions, regions, branches] = SHARES.map(of).map(|share| share.context("a share is missing"));
        let of_file = [lines?, functions?, regions?, branches?];
        if of_file[1].1 > 0 {
            // One source is one file for cotree, whatever manner its name was spelt in.
            files.insert(std::fs::canonicalize(path)?, of_file);
        }
    }
    Ok(files)
}
