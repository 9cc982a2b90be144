//! Formatting, lints and the crates' own tests.

use crate::command::{Ended, Stream};
use crate::deadline::{self, COMPILING, TESTING};
use crate::suite::Suite;
use crate::{command, dependencies, floors, packaged, words, workspace};
use anyhow::{Result, bail, ensure};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Tests that take a number of cases, in parts that can be run alone: the test, the variable that takes the number,
/// what the cases are, and the numbers of each part. A seed of `random_loops` is a file of 60 functions, built in ten
/// ways; one of `random_programs` is a whole program.
const FURTHER: [(&str, &str, &str, &[&str]); 4] = [
    ("random_loops", "COTREE_SEEDS", "seeds", &["3..9", "9..15", "15..21"]),
    ("random_programs", "COTREE_PROGRAMS", "seeds", &["120..700", "700..1200", "1200..1700", "1700..2200"]),
    ("mcdc::random", "COTREE_DECISIONS", "decisions", &["200"]),
    ("what_a_killed_process_did_is_in_its_trace", "COTREE_KILLS", "kills", &["100"]),
];

/// Features of the runtime, each of which is another flavour of it. `counters-alone` leaves parts of one out.
const FLAVOURS: [&str; 3] = ["runtime", "static-executable", "shared-library"];

/// Runs those that are wanted; a failure of one doesn't stop the next. Says whether the crates, and cotree with them,
/// were built.
pub fn run(suite: &mut Suite, all: bool) -> Result<bool> {
    add_components()?;
    suite.now("cargo fmt --check", || quiet(workspace::cargo().args(["fmt", "--all", "--check"])));
    suite.now("floors", floors::check);
    suite.now("words", words::check);
    suite.now("dependencies", dependencies::check);
    // In release, as the tests: then macros and build scripts are compiled once.
    suite.now_within("cargo clippy", COMPILING, || {
        let mut clippy = workspace::cargo();
        quiet(clippy.args(["clippy", "--release", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    });
    let with_subsets =
        FLAVOURS.into_iter().flat_map(|flavour| [flavour.to_owned(), format!("{flavour},counters-alone")]);
    for flavour in with_subsets {
        suite.now(&format!("cargo clippy, {flavour}"), || {
            let mut clippy = workspace::cargo();
            quiet(clippy.args(["clippy", "--quiet", "-p", "cotree-rt", "--features", &flavour, "--", "-D", "warnings"]))
        });
    }
    if all || suite.is_filtered() {
        suite.now_within("cargo doc", COMPILING, || document(&["--workspace"]));
        for flavour in FLAVOURS {
            suite.now(&format!("cargo doc, {flavour}"), || document(&["-p", "cotree-rt", "--features", flavour]));
        }
        packaged::run(suite);
    }
    let mut built = suite.passed_before(TESTS);
    if suite.wants(TESTS) {
        built = tests(suite)?;
    }
    if all || suite.is_filtered() {
        for (name, variable, cases, parts) in FURTHER {
            for part in parts {
                suite.now_within(&format!("{name}, {cases} {part}"), TESTING, || further(name, variable, part));
            }
        }
    }
    Ok(built)
}

/// Runs a test with so many cases.
fn further(name: &str, variable: &str, cases: &str) -> Result<String> {
    let mut test = workspace::cargo();
    // Of the whole workspace, as the crates' tests: then nothing is compiled anew.
    test.args(["test", "--release", "--quiet", "--workspace", "--test", "suite", name, "--", "--nocapture"]);
    let said = command::text(test.env(variable, cases))?;
    let passed = |line: &str| line.contains("ok. ") && line.contains(" passed") && !line.contains("ok. 0 passed");
    ensure!(said.lines().any(passed), "there is no test of that name");
    Ok(said.lines().filter(|line| line.contains(" programs; ")).collect())
}

/// The crates' tests, as a case.
const TESTS: &str = "cargo test";

/// Makes the docs, where a link that leads nowhere is an error. rustdoc needs metadata of plain rustc, which nothing
/// else here makes: that is more than half of the minute of processor time.
fn document(options: &[&str]) -> Result<String> {
    let mut doc = workspace::cargo();
    doc.args(["doc", "--release", "--quiet", "--no-deps", "--document-private-items"]).args(options);
    quiet(doc.env("RUSTDOCFLAGS", "-D warnings"))
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
    let command = |options: &[&str]| {
        let mut command = workspace::cargo();
        command.args(["test", "--release", "--workspace", "--no-fail-fast", "--color", "never"]).args(options);
        command.env("CARGO_TERM_QUIET", "false").stdout(Stdio::piped());
        command
    };
    let compiled = deadline::within(COMPILING, || command::watch(&mut command(&["--no-run"]), |_, _| {}))?;
    match compiled {
        Ended::With(status) if status.success() => {}
        Ended::With(status) => {
            suite.now(TESTS, || bail!("it ended with {status}: a crate or a test did not compile"));
            return Ok(false);
        }
        Ended::Late(deadline) => {
            suite.now(TESTS, || bail!("compiling {}", command::late(deadline, "")));
            return Ok(false);
        }
    }
    let mut tally = Tally::default();
    let ended = deadline::within(TESTING, || command::watch(&mut command(&[]), |_: Stream, bytes| tally.add(bytes)))?;
    tally.add(b"\n");
    let Tally { passed, failed, last_line, .. } = tally;
    println!("      cargo test: {passed} passed, {} failed ({:.1} s)", failed.len(), start.elapsed().as_secs_f64());
    match ended {
        Ended::With(status) if !status.success() && failed.is_empty() => {
            suite.now(TESTS, || bail!("it ended with {status}, the last line being: {last_line}"));
        }
        Ended::With(_) => suite.count(TESTS, passed, failed),
        Ended::Late(deadline) => {
            suite.count(TESTS, passed, failed);
            suite.now(TESTS, || bail!("it {}", command::late(deadline, &last_line)));
        }
    }
    Ok(true)
}

/// What the runners of tests have written so far.
#[derive(Default)]
struct Tally {
    /// The beginning of a line.
    line: Vec<u8>,
    last_line: String,
    passed: usize,
    failed: Vec<String>,
}

impl Tally {
    /// Counts tests that have ended; prints all other lines that say something.
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.add_line(String::from_utf8_lossy(&line).trim_end_matches('\n'));
            }
        }
    }

    fn add_line(&mut self, line: &str) {
        if !line.trim().is_empty() {
            line.clone_into(&mut self.last_line);
        }
        let test = line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... ").map(|(name, _)| name));
        match test {
            Some(_) if line.ends_with("ok") => self.passed += 1,
            Some(name) if line.ends_with("FAILED") => {
                println!("{line}");
                self.failed.push(name.trim().to_owned());
            }
            _ if line.starts_with("test result: ok") || line.trim().is_empty() => {}
            _ => println!("{line}"),
        }
    }
}
