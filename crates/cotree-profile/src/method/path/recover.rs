//! Recovery of path profiles: assigns counts of tables and registers at return addresses to functions.

use super::counts::{PathCounts, PathId, RegisterKey};
use crate::binary::{BinaryFile, Resolved};
use crate::counts::UnitCounts;
use crate::sums::{Sums, compact};
use cotree_core::ids::{FunctionId, Site};
use cotree_core::method::path::{
    self, Abandoned, AtCalls, PathError, PathMetric, PathPlan, PathProfile, PathTable, UnitPathPlan, Window,
};
use cotree_core::method::{MethodPlan, RecoverError};
use cotree_core::unit::Layout;
use std::collections::HashMap;
use std::path::PathBuf;

/// Recovers the paths of all functions of a unit that counts them.
pub(in crate::method) fn recover(
    binary: &BinaryFile,
    counts: &UnitCounts,
    unit: &UnitPathPlan,
    layout: &Layout,
) -> (Vec<Option<PathProfile>>, Vec<(FunctionId, RecoverError)>) {
    let none = PathCounts::default();
    let counted = counts.method.paths().unwrap_or(&none);
    let needed = |function: FunctionId, site: Site| {
        let block = binary.function(function).calls[site].block;
        matches!(unit.functions[function.index()].key.at_calls(block), Some(AtCalls::Query(_)))
    };
    let abandoned = abandoned(binary, counts, counted, needed);
    let tables = layout.tables.paths();
    let mut failures = Vec::new();
    let functions = binary.map().program.functions().map(|(_, f)| f).zip(&unit.functions).zip(FunctionId::all());
    let profiles = functions
        .map(|((function, PathPlan { key, .. }), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let place = usize::try_from(layout.main[index.index()]).expect("within the counter array");
            let counters = &counts.counters[place..place + key.self_loops.measures.len()];
            let table = words(&counts.counters, &counted.counts, key, tables[index.index()], index, 0);
            let cfg = function.cfg().expect("validated with the map");
            let early = abandoned.get(&index).map_or(&[][..], Vec::as_slice);
            match path::recover(function, &cfg, key, counters, &table, early) {
                Ok(profile) => {
                    Some(PathProfile { sums: sums(counts, counted, key, tables[index.index()], index), ..profile })
                }
                Err(PathError::NothingMeasured) => None,
                Err(error) => {
                    failures.push((index, error.into()));
                    None
                }
            }
        })
        .collect();
    (profiles, failures)
}

/// Why no run of a binary can have left counts of paths.
#[derive(Debug, thiserror::Error)]
pub enum ForeignPaths {
    /// Something else is added up along paths.
    #[error("the profile and {binary} do not agree on what is added up along paths: the profile is damaged; run the program again", binary = .binary.display())]
    Metric {
        /// The binary.
        binary: PathBuf,
    },
    /// A function whose paths were counted has no table for them.
    #[error("the profile has a path table for function {number}, but {binary} has none: the profile is damaged; run the program again", number = .function.0, binary = .binary.display())]
    Table {
        /// The binary.
        binary: PathBuf,
        /// The function.
        function: FunctionId,
    },
}

/// Could a run of this binary, whose functions have these tables, have left these counts?
pub(in crate::method) fn check(
    binary: &BinaryFile,
    tables: &[PathTable],
    counts: &PathCounts,
) -> Result<(), ForeignPaths> {
    check_metric(binary, counts)?;
    let hashed = |path: &PathId| matches!(tables.get(path.function.index()), Some(PathTable::Hashed { .. }));
    let mut counted = counts.counts.entries().iter().chain(counts.sums.entries());
    match counted.find(|(path, _)| !hashed(path)) {
        Some((path, _)) => Err(ForeignPaths::Table { binary: binary.path().to_owned(), function: path.function }),
        None => Ok(()),
    }
}

/// Do the counts add up what the binary does?
pub(in crate::method) fn check_metric(binary: &BinaryFile, counts: &PathCounts) -> Result<(), ForeignPaths> {
    let metric = match &binary.map().plan.method {
        MethodPlan::Paths(unit) => unit.metric,
        MethodPlan::Ipath(unit) => unit.metric,
        _ => PathMetric::Count,
    };
    if counts.metric == metric { Ok(()) } else { Err(ForeignPaths::Metric { binary: binary.path().to_owned() }) }
}

/// The sums of one function's paths, by number.
fn sums(
    counts: &UnitCounts,
    counted: &PathCounts,
    key: &path::PathKey,
    table: PathTable,
    function: FunctionId,
) -> Vec<(u64, u64)> {
    if !counted.metric.is_summed() {
        return Vec::new();
    }
    let behind = if matches!(table, PathTable::Array { .. }) { key.paths } else { key.words_of_windows() };
    let mut sums = words(&counts.counters, &counted.sums, key, table, function, behind);
    compact(&mut sums);
    sums
}

/// The nonzero values of one function's paths, from words of the slab and from the hash table. The sums of a metric lie
/// `behind` words after the counts.
fn words(
    counters: &[u64],
    hashed: &Sums<PathId, u64>,
    key: &path::PathKey,
    table: PathTable,
    function: FunctionId,
    behind: u64,
) -> Vec<(u64, u64)> {
    let from = |base: u64| &counters[usize::try_from(base + behind).expect("within the counter array")..];
    let some = |(path, count): (u64, &u64)| (*count > 0).then_some((path, *count));
    match table {
        PathTable::None => Vec::new(),
        PathTable::Array { base } => (0..key.paths).zip(from(base)).filter_map(some).collect(),
        PathTable::Hashed { windows, .. } => {
            let numbered = |path| PathId { function, path };
            let hashed = hashed.between(numbered(0), numbered(u64::MAX)).iter().map(|(key, count)| (key.path, *count));
            let numbers = key.windows.iter().flat_map(Window::numbers);
            hashed.chain(numbers.zip(from(windows)).filter_map(some)).collect()
        }
    }
}

/// The activations that ended early or were revived, per function, with their registers where these are known and
/// needed.
pub(in crate::method) fn abandoned(
    binary: &BinaryFile,
    counts: &UnitCounts,
    counted: &PathCounts,
    needed: impl Fn(FunctionId, Site) -> bool,
) -> HashMap<FunctionId, Vec<Abandoned>> {
    let mut found: HashMap<FunctionId, Vec<Abandoned>> = HashMap::new();
    for (&address, &count) in &counts.early {
        let (Some(point), Resolved::Sites(left)) = (binary.return_point(address), binary.resolve(address)) else {
            continue;
        };
        let values = point.values();
        // What was left is the chain less its resume markers, up to some link.
        let mut left = left.into_iter().peekable();
        for (&link, value) in point.chain.iter().zip(values) {
            if left.next_if_eq(&link).is_none() {
                continue;
            }
            let (function, site) = link;
            let entries = found.entry(function).or_default();
            if !needed(function, site) {
                entries.extend((count != 0).then_some(Abandoned { site, register: None, count }));
                continue;
            }
            let known = value.map_or(&[][..], |value| {
                let key = |register| RegisterKey { address, value, register };
                counted.registers.between(key(i64::MIN), key(i64::MAX))
            });
            let mut rest = i128::from(count);
            for (key, count) in known {
                rest -= i128::from(*count);
                entries.push(Abandoned { site, register: Some(key.register), count: *count });
            }
            // If no register is known, revived activations may hide abandoned ones.
            if rest != 0 || value.is_none() {
                let count = i64::try_from(rest).unwrap_or(if rest < 0 { i64::MIN } else { i64::MAX });
                entries.push(Abandoned { site, register: None, count });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::binary::ReturnPoint;
    use cotree_core::ids::{FunctionId, Site};

    #[test]
    fn registers_are_those_of_links_outermost_first() {
        let link = |f| (FunctionId(f), Site(f));
        let point = |chain: &[u32], registers: &[u32]| ReturnPoint {
            offset: 1,
            chain: chain.iter().copied().map(link).collect(),
            registers: registers.iter().copied().map(link).collect(),
        };
        assert_eq!(point(&[1, 2, 3], &[3, 2, 1]).values(), [Some(2), Some(1), Some(0)]);
        assert_eq!(point(&[1, 2, 3], &[3, 1]).values(), [Some(1), None, Some(0)]);
        assert_eq!(point(&[1, 2, 1], &[1, 1]).values(), [Some(1), None, Some(0)]);
        assert_eq!(point(&[1], &[7, 1]).values(), [None], "what makes no sense is unknown");
        assert_eq!(point(&[], &[]).values(), []);
    }
}
