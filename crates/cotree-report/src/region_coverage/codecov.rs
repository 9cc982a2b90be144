//! Coverage in codecov's own JSON: per file and line, how often it ran, or which share of it.
//!
//! A line that ran is partial if a region that begins on it, or an outcome of a condition on it, did not run: then it
//! has the parts that ran and all parts, as `"2/3"`.

use super::program::RegionCoverage;
use super::ratio::Ratio;
use super::records::records;
use crate::names::Names;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the document of the files whose paths are wanted and that have functions. Paths are without `prefix`.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
    prefix: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut files = Map::new();
    for file in records(coverage, wanted, Names::Raw) {
        let mut parts: BTreeMap<u32, Ratio> = BTreeMap::new();
        for region in regions(coverage, &file.path).into_values() {
            parts.entry(region.0).or_default().count(region.1 > 0);
        }
        for branch in &file.branches {
            let ratio = parts.entry(branch.line).or_default();
            branch.outcomes.iter().for_each(|outcome| ratio.count(outcome.count > 0));
        }
        let value = |line: &u32, count: u64| match parts.get(line) {
            Some(&Ratio { covered, total }) if count > 0 && covered < total => {
                // What goes on from the line before is a part, too.
                let going_on = u64::from(covered == 0);
                format!("{}/{}", covered + going_on, total + going_on).into()
            }
            _ => Value::from(count),
        };
        let lines = file.lines.iter().map(|(line, &count)| (line.to_string(), value(line, count)));
        let path = file.path.strip_prefix(prefix).unwrap_or(&file.path).to_owned();
        files.insert(path, Value::Object(lines.collect()));
    }
    serde_json::to_writer(&mut *out, &serde_json::json!({ "coverage": files }))?;
    writeln!(out)
}

/// The regions of code of a file, by their places: the first line, and how often all instances ran.
fn regions(coverage: &RegionCoverage<'_>, path: &str) -> BTreeMap<[cotree_profile::coverage::Place; 2], (u32, u64)> {
    let mut regions: BTreeMap<_, (u32, u64)> = BTreeMap::new();
    for function in coverage.functions_in(path) {
        for counted in function.code().filter(|counted| function.path(counted.region.file) == path) {
            let region = counted.region;
            let (_, count) = regions.entry([region.start, region.end]).or_insert((region.start.line, 0));
            *count = count.saturating_add(counted.count);
        }
    }
    regions
}
