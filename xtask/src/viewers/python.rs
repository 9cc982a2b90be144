//! Readers from PyPI: gprof2dot reads callgrind files, gcovr gcov's JSON, and the messages of perfetto's package
//! decode timelines.

use crate::{command, fetched, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The versions that must read our files.
const PACKAGES: [&str; 4] = ["gcovr==8.8", "gprof2dot==2025.4.14", "perfetto==0.59.1", "protobuf==7.36.2"];

/// Where their programs are.
fn programs() -> Result<PathBuf> {
    fetched::python("viewers-python", &PACKAGES)
}

/// The events of the first kind that gprof2dot adds up, of all functions by themselves.
pub fn gprof2dot(file: &Path) -> Result<u64> {
    let script = "import gprof2dot, sys\n\
                  profile = gprof2dot.CallgrindParser(open(sys.argv[1], encoding='utf-8')).parse()\n\
                  own = sum(function[gprof2dot.SAMPLES] for function in profile.functions.values())\n\
                  assert own == profile[gprof2dot.SAMPLES], (own, profile[gprof2dot.SAMPLES])\n\
                  print(int(own))\n";
    let mut python = Command::new(programs()?.join("python"));
    let output = command::output(python.args(["-c", script]).arg(file))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && said.is_empty(), "gprof2dot: {said}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("gprof2dot: {text}"))
}

/// Holds gcovr's figures of a report against those of a tracefile, both of the sources in `home`. Gives how many lines
/// there are.
pub fn gcovr(report: &Path, tracefile: &Path, home: &Path, folder: &Path) -> Result<u64> {
    let place = folder.join("gcovr");
    workspace::fresh(&place)?;
    fs::copy(report, place.join("out.gcov.json.gz"))?;
    let mut gcovr = Command::new(programs()?.join("gcovr"));
    gcovr
        .args(["--gcov-use-existing-files", "--gcov-keep", "--gcov-suspicious-hits-threshold=0"])
        // It leaves out what initialises global variables, else.
        .arg("--include-internal-functions")
        .arg("--root")
        .arg(home);
    gcovr.args(["--json-summary", "summary.json", "--json", "all.json"]).arg(&place).current_dir(&place);
    let output = command::output(&mut gcovr)?;
    let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
    ensure!(output.status.success() && !said.contains("warning") && !said.contains("error"), "gcovr: {said}");
    let read = |name: &str| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(place.join(name))?)?) };
    let (summary, all) = (read("summary.json")?, read("all.json")?);
    let text = fs::read_to_string(tracefile)?;
    let sum = |record: &str| -> u64 {
        text.lines().filter_map(|line| line.strip_prefix(record)?.rsplit(',').next()?.parse::<u64>().ok()).sum()
    };
    let written: Value = serde_json::from_slice(&command::succeed(Command::new("gzip").arg("-dc").arg(report))?)?;
    let files = || written["files"].as_array().into_iter().flatten();
    // gcovr takes instances of a function for one if their names are the same to people.
    let mut functions: HashMap<(String, String, u64), bool> = HashMap::new();
    let (mut outcomes, mut occurred) = (0, 0);
    for file in files() {
        for function in file["functions"].as_array().context("functions")? {
            let name = function["demangled_name"].to_string();
            let key = (file["file"].to_string(), name, function["start_line"].as_u64().context("a line")?);
            *functions.entry(key).or_default() |= function["execution_count"] != 0;
        }
        for line in file["lines"].as_array().context("lines")? {
            let branches = line["branches"].as_array().context("branches")?;
            outcomes += branches.len() as u64;
            occurred += branches.iter().filter(|branch| branch["count"] != 0).count() as u64;
        }
    }
    let ran = functions.values().filter(|ran| **ran).count() as u64;
    for (figure, ours) in [
        ("line_total", sum("LF:")),
        ("line_covered", sum("LH:")),
        ("function_total", functions.len() as u64),
        ("function_covered", ran),
        ("branch_total", outcomes),
        ("branch_covered", occurred),
    ] {
        ensure!(summary[figure] == ours, "gcovr: {figure} {}, ours: {ours}", summary[figure]);
    }
    // A tracefile can't have the branches of a line that ran without coming to them.
    ensure!(outcomes >= sum("BRF:") && occurred >= sum("BRH:"), "{occurred} of {outcomes} outcomes occurred");
    let files = all["files"].as_array().context("files")?.iter();
    let lines = files.flat_map(|file| file["lines"].as_array().into_iter().flatten());
    let counts: u64 = lines.map(|line| line["count"].as_u64().unwrap_or(0)).sum();
    ensure!(counts == sum("DA:"), "gcovr: all lines ran {counts} times, tracefile: {}", sum("DA:"));
    summary["line_total"].as_u64().context("lines")
}

/// Holds a timeline in Perfetto's format against the one in Chrome's. Gives how many slices there are.
pub fn perfetto(trace: &Path, chrome: &Path) -> Result<u64> {
    let script = workspace::root().join("xtask/programs/perfetto_slices.py");
    let mut python = Command::new(programs()?.join("python"));
    let text = command::text(python.arg(script).arg(trace).arg(chrome))?;
    text.trim().parse().with_context(|| format!("perfetto: {text}"))
}
