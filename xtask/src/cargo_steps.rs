//! Formatting, lints and the crates' own tests.

use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Further random programs for `--all`: seeds of files of 60 functions each, every one of them built in ten ways, and of whole programs.
const FURTHER: [(&str, &str, &str); 2] =
    [("random_loops", "COTREE_SEEDS", "3..21"), ("random_programs", "COTREE_PROGRAMS", "200..2200")];

/// Runs them all; a failure of one doesn't stop the next. Says whether the crates, and cotree with them, were built.
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
    let built = tests(suite)?;
    if all {
        for (name, variable, seeds) in FURTHER {
            suite.now(&format!("{name}, seeds {seeds}"), || {
                let mut test = workspace::cargo();
                // Of the whole workspace, as before: then nothing is compiled anew.
                test.args([
                    "test",
                    "--release",
                    "--quiet",
                    "--workspace",
                    "--test",
                    "suite",
                    name,
                    "--",
                    "--nocapture",
                ]);
                let said = command::text(test.env(variable, seeds))?;
                let passed =
                    |line: &str| line.contains("ok. ") && line.contains(" passed") && !line.contains("ok. 0 passed");
                ensure!(said.lines().any(passed), "there is no test of that name");
                Ok(said.lines().filter(|line| line.contains(" programs; ")).collect())
            });
        }
    }
    Ok(built)
}

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
    suite.count(passed, failed);
    if unexplained {
        suite.now("cargo test", || bail!("it ended with {status}: a crate or a test did not compile"));
    }
    Ok(!unexplained)
}
