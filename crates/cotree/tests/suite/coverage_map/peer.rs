//! Holds what we say of a coverage map against what `llvm-cov` says, number by number.

use cotree_profile::coverage::{CounterTable, CoverageMap, Region, RegionKind};
use cotree_report::region_coverage::{CountedFunction, FileSummary, Ratio, RegionCoverage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Counters, from the text form of an indexed profile.
pub fn counters(text: &str) -> CounterTable {
    let mut table = CounterTable::default();
    let mut lines = text.lines().filter(|line| !line.starts_with(['#', ':'])).peekable();
    while let Some(name) = lines.next() {
        if name.is_empty() {
            continue;
        }
        let mut number = || lines.next().and_then(|line| line.parse::<u64>().ok()).expect("a number");
        let (hash, count) = (number(), number());
        let values: Vec<u64> = (0..count).map(|_| number()).collect();
        // Bitmaps and values of indirect calls may follow.
        while lines.peek().is_some_and(|line| !line.is_empty()) {
            lines.next();
        }
        let digest = md5::compute(name).0;
        let name_hash = u64::from_le_bytes(digest[..8].try_into().expect("eight bytes"));
        table.add(name_hash, hash, &values).expect("one version of each function");
    }
    table
}

/// Compares all that `llvm-cov export` and `llvm-cov export -format=lcov` say of these executables. Gives the totals.
pub fn compare(executables: &[(&CoverageMap, &CounterTable)], exported: &Value, tracefile: &str) -> FileSummary {
    let coverage = RegionCoverage::new(executables);
    let data = &exported["data"][0];
    let files = data["files"].as_array().expect("files");
    let paths: Vec<&str> = files.iter().map(|file| file["filename"].as_str().expect("a path")).collect();
    assert_eq!(coverage.paths().collect::<Vec<_>>(), paths);
    let mut total = FileSummary::default();
    let lines_of = lcov_lines(tracefile);
    for (path, file) in paths.into_iter().zip(files) {
        let view = coverage.file(path);
        let segments = view.segments.iter().map(|s| {
            let (line, column) = (s.start.line, s.start.column);
            json!([line, column, s.count.unwrap_or(0), s.count.is_some(), s.is_entry, s.is_gap])
        });
        same(path, &segments.collect(), &file["segments"]);
        let lines: Vec<(u32, u64)> = view.lines().lines().collect();
        assert_eq!(Some(&lines), lines_of.get(path), "{path}");
        let summary = coverage.summary(path);
        same(path, &summarized(&summary), &ratios(&file["summary"]));
        total.add(&summary);
    }
    same("totals", &summarized(&total), &ratios(&data["totals"]));
    let functions = data["functions"].as_array().expect("functions");
    assert_eq!(coverage.functions.len(), functions.len());
    for (function, theirs) in coverage.functions.iter().zip(functions) {
        let name = function.function.name.as_str();
        assert!(name.ends_with(theirs["name"].as_str().expect("a name")), "{name} is {}", theirs["name"]);
        assert_eq!(json!(function.entries()), theirs["count"], "{name}");
        let paths: Vec<&str> = function.function.files.iter().map(|&file| function.map.path(file)).collect();
        same(name, &json!(paths), &theirs["filenames"]);
        same(name, &regions(function), &theirs["regions"]);
        same(name, &branches(function), &theirs["branches"]);
        let decisions = function.function.regions.iter().filter(|r| matches!(r.kind, RegionKind::Decision { .. }));
        assert_eq!(decisions.count(), theirs["mcdc_records"].as_array().map_or(0, Vec::len), "{name}");
    }
    total
}

fn same(what: &str, ours: &Value, theirs: &Value) {
    assert!(ours == theirs, "{what}:\nours   {ours}\ntheirs {theirs}");
}

fn summarized(summary: &FileSummary) -> Value {
    let ratio = |ratio: Ratio| json!([ratio.covered, ratio.total]);
    json!({
        "functions": ratio(summary.functions),
        "instantiations": ratio(summary.instantiations),
        "regions": ratio(summary.regions),
        "lines": ratio(summary.lines),
        "branches": ratio(summary.branches),
    })
}

/// What of their summary we have, too.
fn ratios(theirs: &Value) -> Value {
    let ratio = |what: &str| json!([theirs[what]["covered"], theirs[what]["count"]]);
    let names = ["functions", "instantiations", "regions", "lines", "branches"];
    names.into_iter().map(|what| (what.to_owned(), ratio(what))).collect::<serde_json::Map<_, _>>().into()
}

/// The lines of each file of a tracefile.
fn lcov_lines(tracefile: &str) -> BTreeMap<&str, Vec<(u32, u64)>> {
    let mut files: BTreeMap<&str, Vec<(u32, u64)>> = BTreeMap::new();
    let mut path = "";
    for line in tracefile.lines() {
        if let Some(next) = line.strip_prefix("SF:") {
            path = next;
            files.entry(path).or_default();
        } else if let Some((line, count)) = line.strip_prefix("DA:").and_then(|record| record.split_once(',')) {
            let lines = files.entry(path).or_default();
            lines.push((line.parse().expect("a line"), count.parse().expect("a count")));
        }
    }
    files
}

fn place(region: &Region) -> [u32; 4] {
    [region.start.line, region.start.column, region.end.line, region.end.column]
}

fn regions(function: &CountedFunction<'_>) -> Value {
    let regions = function.regions().map(|counted| {
        let region = counted.region;
        let (kind, into) = match region.kind {
            RegionKind::Code(_) => (0, 0),
            RegionKind::Expansion { into, .. } => (1, into.0),
            RegionKind::Skipped => (2, 0),
            RegionKind::Gap(_) => (3, 0),
            _ => unreachable!("it is no text"),
        };
        let [line, column, end, end_column] = place(region);
        json!([line, column, end, end_column, counted.count, region.file.0, into, kind])
    });
    regions.collect()
}

fn branches(function: &CountedFunction<'_>) -> Value {
    let branches = function.branches().map(|branch| {
        let kind = if matches!(branch.region.kind, RegionKind::Branch { .. }) { 4 } else { 6 };
        let [line, column, end, end_column] = place(branch.region);
        let (taken, not_taken) = (branch.taken.unwrap_or(0), branch.not_taken.unwrap_or(0));
        json!([line, column, end, end_column, taken, not_taken, branch.region.file.0, 0, kind])
    });
    branches.collect()
}
