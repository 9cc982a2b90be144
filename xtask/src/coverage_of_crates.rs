//! The coverage of public crates by `cargo cotree coverage`, held against rustc's own coverage as llvm-cov tells it:
//! each file has the same lines, functions and regions, and as many of them ran, but for what stands behind a panic.
//!
//! The crates make up one workspace: generic code, a procedural macro, an executor of asynchronous code, unit tests and
//! integration tests. But for two files, what their tests run does not depend on which
//! thread comes first.

use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Name and exact version.
const CRATES: [(&str, &str); 11] = [
    ("semver", "=1.0.28"),
    ("heck", "=0.5.0"),
    ("either", "=1.19.0"),
    ("smallvec", "=1.16.5"),
    ("shlex", "=1.3.0"),
    ("itoa", "=1.0.18"),
    ("scopeguard", "=1.2.0"),
    ("strsim", "=0.11.1"),
    ("pollster", "=0.4.0"),
    ("serde_derive", "=1.0.229"),
    ("once_cell", "=1.21.4"),
];

/// Files with functions that panic on purpose, and their lines behind the panics, mostly the closing brace alone: these
/// have not run, and llvm-cov says that they have.
const LEFT_EARLY: [(&str, u64); 2] = [("smallvec/src/tests.rs", 9), ("once_cell/src/lib.rs", 2)];

/// Files in which the order of threads decides what runs: how much there is of them is compared alone.
pub const RACES: [&str; 2] = ["once_cell/src/imp_std.rs", "pollster/src/lib.rs"];

/// A test that looks for the programs of examples in a folder where they are not.
const LEFT_OUT: [&str; 3] = ["--", "--skip", "reentrant_init"];

/// What is compared of a file, in the words of both documents.
const SHARES: [&str; 3] = ["lines", "functions", "regions"];

/// Which part of a file ran: per word of [`SHARES`], how many of how many.
pub type Shares = BTreeMap<String, Vec<(u64, u64)>>;

/// Adds the case.
pub fn add(suite: &mut Suite, context: &Context) {
    let context = context.clone();
    suite.add("coverage of crates", move || check(&context));
}

fn check(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("coverage");
    workspace::fresh(&folder)?;
    let source = sources(&folder, &CRATES)?;
    let tests = ["--workspace", "--lib", "--tests", "--no-fail-fast"];

    let mut ours = context.cotree();
    ours.args(["cargo", "coverage"]).args(tests).args(["--json", "--output-path"]).arg(folder.join("ours.json"));
    ours.args(LEFT_OUT);
    ours.env("CARGO_TARGET_DIR", folder.join("ours"));
    command::succeed(ours.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").current_dir(&source))?;
    let ours = of_ours(&document(&folder.join("ours.json"))?);

    let mut theirs = workspace::cargo();
    theirs.arg("test").args(tests).arg("--message-format=json-render-diagnostics").args(LEFT_OUT);
    theirs.current_dir(&source);
    theirs.env("CARGO_TARGET_DIR", folder.join("theirs")).env("RUSTFLAGS", "-Cinstrument-coverage");
    let messages = command::text(theirs.env("LLVM_PROFILE_FILE", folder.join("raw/%p-%m.profraw")))?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables: Vec<PathBuf> =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect();
    let tool = |name: &str| std::process::Command::new(context.clang.llvm(name));
    let raw = fs::read_dir(folder.join("raw"))?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let merged = folder.join("merged.profdata");
    command::succeed(tool("llvm-profdata").arg("merge").args(raw).arg("-o").arg(&merged))?;
    let mut export = tool("llvm-cov");
    export.args(["export", "-summary-only", "-instr-profile"]).arg(&merged);
    export.args(executables.iter().flat_map(|executable| [Path::new("-object"), executable]));
    let theirs = of_theirs(&serde_json::from_str(&command::text(&mut export)?)?, &source);

    ensure!(ours.len() >= 20, "only {} files are compared", ours.len());
    let files: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    for file in files {
        let said = || format!("{file}: {:?} and {:?}", ours.get(file), theirs.get(file));
        let (Some(ours), Some(theirs)) = (ours.get(file), theirs.get(file)) else { anyhow::bail!(said()) };
        let may_be_fewer = LEFT_EARLY.iter().any(|(left, _)| file.ends_with(left));
        for (ours, theirs) in ours.iter().zip(theirs) {
            let covered = ours.0 == theirs.0
                || may_be_fewer && ours.0 < theirs.0
                || RACES.iter().any(|race| file.ends_with(race));
            ensure!(ours.1 == theirs.1 && covered, said());
        }
    }
    for (left, fewer) in LEFT_EARLY {
        let lines = |shares: &Shares| shares.iter().find(|(file, _)| file.ends_with(left)).map(|(_, of)| of[0].0);
        let (ours, theirs) = (lines(&ours).unwrap_or_default(), lines(&theirs).unwrap_or_default());
        ensure!(ours + fewer == theirs, "{left}: {ours} lines ran, and {theirs} with llvm-cov");
    }
    fs::remove_dir_all(&folder)?;
    let lines: u64 = ours.values().map(|shares| shares[0].1).sum();
    Ok(format!("{} files, {lines} lines", ours.len()))
}

/// Fetches crates, by name and exact version, and makes one workspace of them.
pub fn sources(folder: &Path, crates: &[(&str, &str)]) -> Result<PathBuf> {
    let (fetched, source) = (folder.join("fetched"), folder.join("source"));
    let mut manifest = String::from(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n",
    );
    for (name, version) in crates {
        manifest += &format!("{name} = \"{version}\"\n");
    }
    fs::create_dir_all(fetched.join("src"))?;
    fs::write(fetched.join("src/lib.rs"), "")?;
    fs::write(fetched.join("Cargo.toml"), manifest)?;
    command::succeed(workspace::cargo().args(["vendor", "--quiet", "vendor"]).current_dir(&fetched))?;
    fs::create_dir_all(&source)?;
    for (name, _) in crates {
        fs::rename(fetched.join("vendor").join(name), source.join(name)).with_context(|| format!("no crate {name}"))?;
        fs::remove_file(source.join(name).join("Cargo.lock")).ok();
    }
    let members: Vec<&str> = crates.iter().map(|(name, _)| *name).collect();
    fs::write(source.join("Cargo.toml"), format!("[workspace]\nresolver = \"2\"\nmembers = {members:?}\n"))?;
    Ok(source)
}

pub fn document(path: &Path) -> Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

pub fn of_ours(document: &Value) -> Shares {
    let files = document["files"].as_array().into_iter().flatten();
    files.filter_map(|file| Some((file["path"].as_str()?.to_owned(), shares(file, "total")?))).collect()
}

/// What llvm-cov says of the crates' own code.
pub fn of_theirs(document: &Value, source: &Path) -> Shares {
    let files = document["data"][0]["files"].as_array().into_iter().flatten();
    let files =
        files.filter_map(|file| Some((file["filename"].as_str()?.to_owned(), shares(&file["summary"], "count")?)));
    let is_tested = |path: &Path| path.strip_prefix(source).is_ok_and(|path| path.iter().all(|part| part != "tests"));
    files.filter(|(path, _)| is_tested(Path::new(path))).collect()
}

fn shares(of: &Value, total: &str) -> Option<Vec<(u64, u64)>> {
    SHARES.iter().map(|word| Some((of[word]["covered"].as_u64()?, of[word][total].as_u64()?))).collect()
}
