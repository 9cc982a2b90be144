//! `cotree trace --cache` beside cachegrind, which simulates the same caches and sees the accesses of machine code.

use crate::programs::{self, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Functions of bzip2 that miss the first cache most. Between them they have nearly all of its misses.
const FUNCTIONS: [&str; 3] = ["BZ2_blockSort", "BZ2_compressBlock", "mainGtU"];

/// Our misses may differ from cachegrind's by one in so many: machine code spills registers, and has fewer loads.
const MARGIN: u64 = 50;

/// Adds the case.
pub fn add(suite: &mut Suite, context: &Context) {
    let context = context.clone();
    suite.add("trace, caches beside cachegrind", move || check(&context));
}

fn check(context: &Context) -> Result<String> {
    if tools::find("valgrind").is_none() {
        bail!("there is no valgrind");
    }
    let folder = workspace::scratch().join("traces/cache");
    workspace::fresh(&folder)?;
    let program = programs::bzip2(&context.sources, Workload::Tiny);
    let arguments = &program.runs[0];
    let [ours, plain] = ["ours", "plain"].map(|name| folder.join(name));
    let traced = context.cotree_cc(&["--profile", "trace", "--trace-addresses", "all"], program.cxx);
    command::succeed(&mut program.build(traced, &["-O2"], &ours))?;
    command::succeed(&mut program.build(context.plain(program.cxx), &["-O2"], &plain))?;
    let profile = folder.join("profile.cotree");
    command::succeed(Command::new(&ours).args(arguments).current_dir(&folder).env("COTREE_FILE", &profile))?;
    let json = folder.join("cache.json");
    let mut cache = context.cotree();
    command::succeed(cache.args(["trace", "--cache", "--json", "--force", "-o"]).arg(&json).arg(&profile))?;
    let told: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
    let list = told["functions"].as_array().context("no functions")?;
    let misses = |part: &Value| Some((part["name"].as_str()?.to_owned(), part["l1_misses"].as_u64()?));
    let misses: BTreeMap<String, u64> = list.iter().filter_map(misses).collect();

    let found = folder.join("cachegrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--quiet", "--cache-sim=yes", "--D1=32768,8,64", "--LL=8388608,16,64"]);
    valgrind.arg(format!("--cachegrind-out-file={}", found.display())).arg(&plain).args(arguments);
    command::succeed(valgrind.current_dir(&folder))?;
    let theirs = of_cachegrind(&fs::read_to_string(&found)?)?;
    let mut notes = Vec::new();
    for name in FUNCTIONS {
        let [ours, theirs] = [&misses, &theirs].map(|all| all.get(name).copied());
        let (ours, theirs) = (ours.with_context(|| format!("no {name} of ours"))?, theirs.context("nor theirs")?);
        ensure!(ours.abs_diff(theirs) * MARGIN <= theirs, "{name}: {ours} misses, {theirs} by cachegrind");
        notes.push(format!("{name} {ours} ({theirs})"));
    }
    fs::remove_dir_all(&folder)?;
    Ok(format!("misses of L1: {}", notes.join(", ")))
}

/// Misses of the first data cache by function, as cachegrind wrote them.
fn of_cachegrind(text: &str) -> Result<BTreeMap<String, u64>> {
    let (mut misses, mut function, mut columns) = (BTreeMap::new(), String::new(), Vec::new());
    for line in text.lines() {
        if let Some(events) = line.strip_prefix("events: ") {
            columns = events.split(' ').map(|event| matches!(event, "D1mr" | "D1mw")).collect();
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name.to_owned();
        } else if line.starts_with(|sign: char| sign.is_ascii_digit()) {
            let amounts = line.split(' ').skip(1).zip(&columns).filter(|(_, is_meant)| **is_meant);
            let sum: u64 = amounts.map(|(amount, _)| amount.parse::<u64>()).sum::<Result<u64, _>>()?;
            *misses.entry(function.clone()).or_default() += sum;
        }
    }
    ensure!(columns.iter().filter(|is_meant| **is_meant).count() == 2, "cachegrind simulated no data cache");
    Ok(misses)
}
