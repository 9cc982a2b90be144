//! Formatting, lints and the crates' own tests.

use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Further random programs, in parts that can be run alone: the test, the variable that takes seeds, and the seeds of each part.
/// A seed of `random_loops` is a file of 60 functions, built in ten ways; one of `random_programs` is a whole program.
const FURTHER: [(&str, &str, &[&str]); 2] = [
    ("random_loops", "COTREE_SEEDS", &["3..9", "9..15", "15..21"]),
    ("random_programs", "COTREE_PROGRAMS", &["200..700", "700..1200", "1200..1700", "1700..2200"]),
];

/// Runs those that are wanted; a failure of one doesn't stop the next. Says whether the crates, and cotree with them, were built.
pub fn run(suite: &mut Suite, all: bool) -> Result<bool> {
    add_components()?;
    suite.now("cargo fmt --check", || quiet(workspace::cargo().args(["fmt", "--all", "--check"])));
    // In release, as the tests: then macros and build scripts are compiled once.
    suite.now("cargo clippy", || {
        let mut clippy = workspace::cargo();
        quiet(clippy.args(["clippy", "--release", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
    for flavour in ["runtime", "static-executable", "shared-library"] {
        suite.now(&format!("cargo clippy, {flavour}"), || {
            let mut clippy = workspace::cargo();
            quiet(clippy.args(["clippy", "--quiet", "-p", "cotree-rt", "--features", flavour, "--", "-D", "warnings"]))
        });
    }
    let mut built = suite.passed_before(TESTS);
    if suite.wants(TESTS) {
        built = tests(suite)?;
    }
    if all || suite.is_filtered() {
        for (name, variable, parts) in FURTHER {
            for seeds in parts {
                suite.now(&format!("{name}, seeds {seeds}"), || further(name, variable, seeds));
            }
        }
    }
    Ok(built)
}

/// Runs a test of random programs with these seeds.
fn further(name: &str, variable: &str, seeds: &str) -> Result<String> {
    let mut test = workspace::cargo();
    // Of the whole workspace, as the crates' tests: then nothing is compiled anew.
    test.args(["test", "--release", "--quiet", "--workspace", "--test", "suite", name, "--", "--nocapture"]);
    let said = command::text(test.env(variable, seeds))?;
    let passed = |line: &str| line.contains("ok. ") && line.contains(" passed") && !line.contains("ok. 0 passed");
    ensure!(said.lines().any(passed), "there is no test of that name");
    Ok(said.lines().filter(|line| line.contains(" programs; ")).collect())
}

/// The crates' tests, as a case.
const TESTS: &str = "cargo test";

fn quiet(command: &mut Command) -> Result<String> {
    command::succeed(command).map(|_| String::new())
}

/// rustfmt and clippy, where rustup has left them out.
fn add_components() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let there = command::output(workspace::cargo().args([tool, "--version"])).is_ok_and(|o| o.status.success());
        if !there {
            println!("rustup component add {component}");
            command::succeed(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

/// `cargo test`, in release: its artefacts are those that the end-to-end suites need too. The output is passed on, and
/// each `test … ok` is counted. Says whether they were built.
fn tests(suite: &mut Suite) -> Result<bool> {
    let start = Instant::now();
    let mut child = workspace::cargo()
        .args(["test", "--release", "--workspace", "--no-fail-fast", "--color", "never"])
        .env("CARGO_TERM_QUIET", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let (mut passed, mut failed) = (0, Vec::new());
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line?;
        let test = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ").map(|(name, _)| name));
        match test {
            Some(_) if line.ends_with("ok") => passed += 1,
            Some(name) if line.ends_with("FAILED") => {
                println!("{line}");
                failed.push(name.trim().to_owned());
            }
            _ if line.starts_with("test result: ok") || line.trim().is_empty() => {}
            _ => println!("{line}"),
        }
    }
    let status = child.wait()?;
    println!("      cargo test: {passed} passed, {} failed ({:.1} s)", failed.len(), start.elapsed().as_secs_f64());
    let unexplained = !status.success() && failed.is_empty();
    if unexplained {
        suite.now(TESTS, || bail!("it ended with {status}: a crate or a test did not compile"));
    } else {
        suite.count(TESTS, passed, failed);
    }
    Ok(!unexplained)
}
