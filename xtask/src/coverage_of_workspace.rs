//! `cargo cotree coverage --workspace --html` of a workspace of five public crates, with documentation tests, a
//! procedural macro and an executor of asynchronous code, beside cargo-llvm-cov.
//!
//! Both have the same lines, functions and regions of each file. Of these cotree has as many that ran, or more:
//! cargo-llvm-cov leaves documentation tests out with a stable compiler. Except where threads decide, and in the
//! procedural macro, whose runs in the compiler cotree does not count.

use crate::coverage_of_crates::{RACES, Shares, document, of_ours, of_theirs, sources};
use crate::fetched::once;
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::process::Command;

/// Name and exact version.
const CRATES: [(&str, &str); 5] =
    [("either", "=1.19.0"), ("heck", "=0.5.0"), ("semver", "=1.0.28"), ("pollster", "=0.4.0"), (MACRO, "=0.7.1")];
const MACRO: &str = "smart-default";
const LLVM_COV: &str = "cargo-llvm-cov@0.9.1";

/// Adds the case.
pub fn add(suite: &mut Suite, context: &Context) {
    let context = context.clone();
    suite.add("coverage of a workspace", move || check(&context));
}

fn check(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("coverage-of-workspace");
    workspace::fresh(&folder)?;
    let source = sources(&folder, &CRATES)?;
    let clean = |command: &mut Command| {
        command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(&source);
    };

    let ours = |arguments: &[&str]| {
        let mut ours = context.cotree();
        ours.args(["cargo", "coverage"]).args(arguments).env("CARGO_TARGET_DIR", folder.join("ours"));
        clean(&mut ours);
        command::succeed(&mut ours)
    };
    ours(&["--workspace", "--html"])?;
    let page = folder.join("ours/cotree/coverage/html/index.html");
    let page = fs::read_to_string(&page).with_context(|| format!("no page {}", page.display()))?;
    ensure!(page.contains("into_either.rs"), "the overview has not all files");
    let json = folder.join("ours.json");
    ours(&["report", "--json", "--output-path", &json.display().to_string()])?;
    let ours = of_ours(&document(&json)?);

    let installed = once("cargo-llvm-cov", LLVM_COV, |folder| {
        let mut install = workspace::cargo();
        command::succeed(install.args(["install", "--quiet", "--debug", LLVM_COV, "--root"]).arg(folder))?;
        Ok(())
    })?;
    let mut theirs = Command::new(installed.join("bin/cargo-llvm-cov"));
    theirs
        .args(["llvm-cov", "--workspace", "--json", "--summary-only", "--output-path"])
        .arg(folder.join("theirs.json"));
    theirs.env("CARGO_TARGET_DIR", folder.join("theirs"));
    theirs.env("LLVM_COV", context.clang.llvm("llvm-cov")).env("LLVM_PROFDATA", context.clang.llvm("llvm-profdata"));
    clean(&mut theirs);
    command::succeed(&mut theirs)?;
    let theirs = of_theirs(&document(&folder.join("theirs.json"))?, &source);

    ensure!(ours.len() >= 20, "only {} files are compared", ours.len());
    for file in ours.keys().chain(theirs.keys()) {
        let said = || format!("{file}: {:?} and {:?}", ours.get(file), theirs.get(file));
        let (Some(ours), Some(theirs)) = (ours.get(file), theirs.get(file)) else { anyhow::bail!(said()) };
        let differs = file.contains(MACRO) || RACES.iter().any(|race| file.ends_with(race));
        for (ours, theirs) in ours.iter().zip(theirs) {
            ensure!(ours.1 == theirs.1 && (ours.0 >= theirs.0 || differs), said());
        }
    }
    let ran = |shares: &Shares| -> u64 { shares.values().map(|of| of[0].0).sum() };
    let (lines_of_ours, lines_of_theirs) = (ran(&ours), ran(&theirs));
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} files; {lines_of_ours} lines ran, {lines_of_theirs} with cargo-llvm-cov", ours.len()))
}
