//! The tally that a program keeps of its own lines (`programs/tally.h`), against the line counts of its profile.

use std::collections::BTreeMap;
use std::path::Path;

/// Lines that are nothing but `T(k);` or end with `/* as T(k) */` ran as often as slot `k` of the tally says, give or
/// take `tolerance`. Gives how many there are, and what is wrong with them.
pub fn compare(file: &str, source: &str, tally: &[u8], lcov: &str, tolerance: u64) -> (usize, Vec<String>) {
    let counts = line_counts(file, lcov);
    let (mut compared, mut problems) = (0, Vec::new());
    for (number, line) in (1..).zip(source.lines()) {
        let alone = line.trim().strip_prefix("T(").and_then(|l| l.strip_suffix(");"));
        let marked = || Some(line.trim().strip_suffix(") */")?.rsplit_once("/* as T(")?.1);
        let Some(slot) = alone.or_else(marked) else { continue };
        let slot: usize = slot.parse().expect("a number");
        let expected = u64::from_ne_bytes(tally[slot * 8..slot * 8 + 8].try_into().expect("eight bytes"));
        let found = counts.get(&number).copied();
        // Code that can never run may be gone; else the line must be known.
        if found.map_or(expected > 0, |found| found.abs_diff(expected) > tolerance) {
            problems.push(format!("line {number}: the tally says {expected}, the profile {found:?}"));
        }
        compared += 1;
    }
    (compared, problems)
}

/// `DA` records of the source in an lcov export.
fn line_counts(file: &str, lcov: &str) -> BTreeMap<usize, u64> {
    let mut counts = BTreeMap::new();
    let mut here = false;
    for record in lcov.lines() {
        if let Some(path) = record.strip_prefix("SF:") {
            here = Path::new(path).file_name().is_some_and(|name| name == file);
        } else if let Some((line, count)) = record.strip_prefix("DA:").and_then(|r| r.split_once(',')).filter(|_| here)
            && let (Ok(line), Ok(count)) = (line.parse(), count.parse())
        {
            counts.insert(line, count);
        }
    }
    counts
}
