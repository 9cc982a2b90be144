//! Traces of real programs against a log: clang's `-fsanitize-coverage` makes each block call a function of ours with a
//! number of the block. The trace has these calls too: the one that it says came k-th must have logged the k-th number,
//! the same one each time.

mod addresses;
mod cache;
mod crash;

use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// The function that is called.
const LOGS: &str = "__sanitizer_cov_trace_pc_guard";

/// This many blocks of the trace are followed, usually and with `--all`. Those that were logged behind them are left
/// out.
const BLOCKS: [u64; 2] = [200_000, 2_000_000];

/// What is compared each time.
const USUALLY: [(&str, &str); 1] = [("lua-c++", "-O2")];

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let sources = &context.sources;
    let found = || -> Result<Vec<Program>> {
        let mut programs = programs::all_c(sources, Workload::Tiny)?;
        programs.push(programs::lua_cxx(sources, Workload::Tiny)?);
        programs.push(programs::clipper(sources, Workload::Tiny));
        Ok(programs)
    };
    let programs = match found() {
        Ok(programs) => programs,
        Err(error) => return suite.add("traces of real programs", move || Err(error)),
    };
    addresses::add(suite, context, &programs);
    if context.all {
        cache::add(suite, context);
    }
    let theirs = context.clone();
    suite.add("trace of a crash", move || crash::check(&theirs, "trace of a crash"));
    for program in programs {
        for level in ["-O0", "-O2"] {
            if context.all || USUALLY.contains(&(program.name, level)) {
                let (program, context) = (program.clone(), context.clone());
                let name = format!("trace {} {level}", program.name);
                suite.add(name.clone(), move || check(&program, level, &context, &name));
            }
        }
    }
}

fn check(program: &Program, level: &str, context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("traces").join(name.replace(' ', "_"));
    workspace::fresh(&folder)?;
    let log = folder.join("block_log.o");
    let source = workspace::root().join("crates/cotree/tests/suite/traces/block_log.c");
    command::succeed(context.plain(false).args(["-O2", "-c"]).arg(source).arg("-o").arg(&log))?;
    let ours = folder.join("ours");
    let log = log.to_str().context("a path that is text")?;
    let options = [level, "-g", "-fsanitize-coverage=trace-pc-guard,no-prune", log];
    command::succeed(&mut program.build(context.cotree_cc(&["--profile", "trace"], program.cxx), &options, &ours))?;
    let mut notes = Vec::new();
    for arguments in &program.runs {
        let mut run = std::process::Command::new(&ours);
        run.args(arguments).current_dir(&folder).env("COTREE_FILE", "p.cotree").env("BLOCK_LOG", "p.log");
        command::output(&mut run)?;
        let logged = std::fs::read(folder.join("p.log"))?;
        let logged: Vec<u32> = logged.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (count, logged) = logged.split_first().context("a log without a count")?;
        let compared = compare(context, &folder.join("p.cotree"), &logged[..*count as usize])?;
        notes.push(format!("{compared} of {count} logged blocks"));
        std::fs::remove_file(folder.join("p.cotree"))?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// Compares the calls of a trace with what they logged. Gives how many there were.
fn compare(context: &Context, profile: &std::path::Path, logged: &[u32]) -> Result<usize> {
    let most = BLOCKS[usize::from(context.all)];
    let blocks = most.to_string();
    let mut trace = context.cotree();
    trace.arg("trace").arg(profile).args(["--thread", "1", "--by", "call", "--json", "--to", &blocks]);
    let mut trace = trace.stdout(Stdio::piped()).spawn()?;
    let rows = BufReader::new(trace.stdout.take().context("a pipe")?);
    let mut numbers: HashMap<(u64, u64), u32> = HashMap::new();
    let mut compared = 0;
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(&row?)?;
        if row["callee"] != LOGS || row["event"] != "call" || compared == logged.len() {
            continue;
        }
        let function = row["index"].as_u64().context("a call of no function")?;
        let call = row["call"].as_u64().context("a call without a number")?;
        let number = logged[compared];
        let before = *numbers.entry((function, call)).or_insert(number);
        ensure!(
            before == number,
            "call {compared}, {call} of function {function}, logged {number} and not {before}: {row}"
        );
        compared += 1;
    }
    ensure!(trace.wait()?.success(), "cotree trace failed");
    // A block logs once; those of libraries' callbacks and of the end are there as well.
    ensure!(
        compared == logged.len() || compared as u64 * 4 > most,
        "{compared} calls of {} that were logged are in the trace",
        logged.len()
    );
    let different: std::collections::HashSet<&u32> = numbers.values().collect();
    ensure!(different.len() > 100, "only {} blocks ran", different.len());
    Ok(compared)
}
