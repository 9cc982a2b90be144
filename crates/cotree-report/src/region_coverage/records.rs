//! What formats that go by lines hold: lines, functions and branches of each file.
//!
//! The instances of a template are one function, whose entries add up. The branches are conditions; those of macros
//! are at the lines that use the macros.

use super::conditions::conditions;
use super::program::{Group, RegionCoverage};
use crate::names::Names;
use crate::tracefile::{BranchRecord, FileRecords, FunctionRecord, OutcomeRecord};

/// The records of the files whose paths are wanted and in which functions are written.
pub fn records<'c>(
    coverage: &'c RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool + 'c,
    names: Names,
) -> impl Iterator<Item = FileRecords> + 'c {
    let written = coverage.paths().filter(move |path| wanted(path));
    let records = written.map(move |path| of_file(coverage, path, names));
    records.filter(|records| !records.lines.is_empty() || !records.functions.is_empty())
}

fn of_file(coverage: &RegionCoverage<'_>, path: &str, names: Names) -> FileRecords {
    let mut records = FileRecords { path: path.to_owned(), ..FileRecords::default() };
    let groups = coverage.groups(path);
    if groups.is_empty() {
        return records;
    }
    records.functions = groups.iter().filter_map(|group| function(group, names)).collect();
    let written = groups.iter().flat_map(|group| &group.functions);
    records.branches = conditions(written.copied())
        .iter()
        .map(|condition| BranchRecord {
            line: condition.at.line,
            reached: condition.outcomes().any(|count| count > 0),
            outcomes: condition.outcomes().map(|count| OutcomeRecord { count, exceptional: false }).collect(),
        })
        .collect();
    let of_rust = coverage.source_decisions.conditions(path).map(|counted| BranchRecord {
        line: counted.condition.start.line,
        reached: counted.outcomes().iter().any(|&count| count > 0),
        outcomes: counted.outcomes().iter().map(|&count| OutcomeRecord { count, exceptional: false }).collect(),
    });
    records.branches.extend(of_rust);
    records.lines = coverage.file(path).lines().lines().collect();
    records
}

/// The function that these are instances of. `None`: markers exclude it.
fn function(group: &Group<'_, '_>, names: Names) -> Option<FunctionRecord> {
    let counted: Vec<_> = group.functions.iter().filter(|function| !function.is_excluded()).collect();
    let first = counted.first()?;
    let main = |file| Some(file) == first.main_file;
    let ends = first.regions().filter(|counted| main(counted.region.file)).map(|counted| counted.region.end.line);
    Some(FunctionRecord {
        line: group.start.line,
        end: ends.max().unwrap_or(group.start.line),
        name: names.show(first.function.symbol()),
        entries: counted.iter().fold(0, |sum, function| sum.saturating_add(function.entries())),
    })
}
