//! `--trace-addresses` on real programs: what a trace says of memory, against a log that clang's
//! `-fsanitize-coverage=trace-loads,trace-stores` keeps in the same process.

use crate::programs::Program;
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// At most this many accesses are logged of a run.
const ENTRIES: usize = 1 << 20;

/// The optimiser makes loads and stores of copies that are no longer than this; clang logs no others.
const MOST_BYTES: u64 = 8;

/// An access: whether it writes, how many bytes it is of, and where.
type Access = (bool, u64, u64);

/// Adds a case for each of these programs that has one thread.
pub fn add(suite: &mut Suite, context: &Context, programs: &[Program]) {
    for program in programs.iter().filter(|_| context.all) {
        let name = format!("trace addresses {}", program.name);
        let (program, context) = (program.clone(), context.clone());
        suite.add(name.clone(), move || check(&program, &context, &name));
    }
}

fn check(program: &Program, context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("traces").join(name.replace(' ', "_"));
    workspace::fresh(&folder)?;
    let log = folder.join("address_log.o");
    let source = workspace::root().join("crates/cotree/tests/suite/traces/address_log.c");
    let mut compile = context.plain(false);
    compile.args(["-O2", "-c", "-DLOGS=2", &format!("-DENTRIES={ENTRIES}")]);
    command::succeed(compile.arg(source).arg("-o").arg(&log))?;
    let ours = folder.join("ours");
    let log = log.to_str().context("a path that is text")?;
    let options = ["-O2", "-g", "-fno-builtin", "-fsanitize-coverage=func,trace-loads,trace-stores", log];
    let cc = context.cotree_cc(&["--profile", "trace", "--trace-addresses", "all"], program.cxx);
    command::succeed(&mut program.build(cc, &options, &ours))?;
    let mut notes = Vec::new();
    for arguments in &program.runs {
        let mut run = Command::new(&ours);
        run.args(arguments).current_dir(&folder).env("COTREE_FILE", "p.cotree").env("ADDRESS_LOG", "p.log");
        command::output(&mut run)?;
        let logged = logged(&folder.join("p.log"))?;
        ensure!(logged.len() > 100_000, "only {} accesses were logged", logged.len());
        let copies = compare(context, &folder.join("p.cotree"), &logged)?;
        notes.push(format!("{} accesses, and {copies} copies", logged.len()));
        for file in ["p.cotree", "p.log"] {
            std::fs::remove_file(folder.join(file))?;
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// The log of the first thread.
fn logged(path: &Path) -> Result<Vec<Access>> {
    let bytes = std::fs::read(path)?;
    let (words, _) = bytes.as_chunks::<8>();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    let count = words.next().context("a log without a count")?;
    let entry = |_| {
        let (address, what) = (words.next()?, words.next()?);
        Some((what & 1 != 0, what >> 32, address))
    };
    let all: Option<Vec<Access>> = (0..count).map(entry).collect();
    let mut all = all.context("a log that is cut off")?;
    all.retain(|(_, bytes, _)| *bytes <= MOST_BYTES);
    Ok(all)
}

/// The functions that clang passes over: those whose first block ends in `unreachable`.
fn passed_over(context: &Context, profile: &Path) -> Result<BTreeSet<String>> {
    let text = command::succeed(context.cotree().args(["export", "--format", "json"]).arg(profile))?;
    let export: Value = serde_json::from_slice(&text)?;
    let mut symbols = BTreeSet::new();
    for unit in export["units"].as_array().context("no units")? {
        for function in unit["functions"].as_array().context("no functions")? {
            let edges = function["edges"].as_array().context("a function without edges")?;
            let mut of_first = edges.iter().filter(|edge| edge["from"] == 0);
            if of_first.all(|edge| edge["kind"] == "unreachable") {
                symbols.insert(function["symbol"].as_str().context("a function without a symbol")?.to_owned());
            }
        }
    }
    Ok(symbols)
}

/// The trace has these accesses, one after the other, and no other of their kind in between, but for copies whose
/// length only the program knows: a load and a store of as many bytes. Gives how many of these there were.
fn compare(context: &Context, profile: &Path, logged: &[Access]) -> Result<usize> {
    let passed_over = passed_over(context, profile)?;
    let mut trace = context.cotree();
    trace.arg("trace").arg(profile).args(["--thread", "1", "--by", "address", "--json"]);
    let mut trace = trace.stdout(Stdio::piped()).spawn()?;
    let (mut compared, mut copies, mut copied) = (0, 0, None);
    for row in BufReader::new(trace.stdout.take().context("a pipe")?).lines() {
        let row: Value = serde_json::from_str(&row?)?;
        let writes = match row["event"].as_str() {
            Some("load") => false,
            Some("store") => true,
            _ => continue,
        };
        let number = |name: &str| row[name].as_u64().with_context(|| format!("an access without {name}: {row}"));
        let (bytes, address) = (number("size")?, number("address")?);
        let is_logged = bytes <= MOST_BYTES && bytes.is_power_of_two();
        if !is_logged || row["function"].as_str().is_some_and(|symbol| passed_over.contains(symbol)) {
            continue;
        }
        let Some(&expected) = logged.get(compared) else { break };
        let place = (bytes, row["number"].clone(), row["line"].clone());
        let is_expected = (writes, bytes, address) == expected;
        let stores = copied.take().map(|copied| writes && copied == place);
        ensure!(
            stores != Some(false) && (is_expected || !writes || stores.is_some()),
            "access {compared}: {row} and not {expected:x?}"
        );
        match stores {
            Some(_) => copies += 1,
            None if is_expected => compared += 1,
            None => copied = Some(place),
        }
    }
    // The reader is no longer listened to.
    let _ = trace.kill();
    let _ = trace.wait();
    ensure!(compared == logged.len(), "{compared} accesses of {} that were logged are in the trace", logged.len());
    Ok(copies)
}
