//! Export as an lcov tracefile: what `genhtml` and the coverage services read.
//!
//! A tracefile is written file by file. Lines, functions and branches that several units or copies share are added
//! up. The outcome of a branch that only an exception takes is marked `e`, as lcov 2 does, or left out. What markers in
//! the sources exclude ([`crate::exclusions`]) is left out.

use crate::branches::Branch;
use crate::coverage::{FileCoverage, FileIndex};
use crate::exclusions::{self, Exclusions, Markers};
use crate::files::FilePattern;
use crate::functions::summarize;
use crate::names::Names;
use crate::source::Sources;
use crate::unit::Unit;
use cotree_core::facts::EdgeKind;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What to export.
#[derive(Clone, Debug)]
pub struct LcovOptions {
    /// The test name of the tracefile; may be empty.
    pub test_name: String,
    /// Only these files.
    pub file: Option<FilePattern>,
    /// Also files whose sources are not there. `genhtml` stops at such a file.
    pub absent: bool,
    /// Also the ways that only an exception takes.
    pub exceptions: bool,
    /// Also the checks of the compiler's own ([`crate::checks`]).
    pub checks: bool,
    /// Leave out what markers in the sources exclude.
    pub markers: bool,
    /// How to write function names.
    pub names: Names,
}

impl Default for LcovOptions {
    fn default() -> Self {
        Self {
            test_name: String::new(),
            file: None,
            absent: true,
            exceptions: true,
            checks: true,
            markers: true,
            names: Names::Raw,
        }
    }
}

/// A function record.
struct FunctionRecord {
    line: u32,
    name: String,
    entries: u64,
}

/// A tracefile to be written.
pub struct Tracefile<'a> {
    units: &'a [Unit<'a>],
    sources: &'a dyn Sources,
    options: &'a LcovOptions,
    index: FileIndex,
    paths: Vec<String>,
    left_out: Vec<String>,
    markers: Markers,
}

impl<'a> Tracefile<'a> {
    /// Collects the source files of the tracefile.
    #[must_use]
    pub fn new(units: &'a [Unit<'a>], sources: &'a dyn Sources, options: &'a LcovOptions) -> Self {
        let index = FileIndex::new(units, |_| true);
        let wanted = |path: &&str| options.file.as_ref().is_none_or(|pattern| pattern.matches(path));
        let all = index.paths().filter(wanted).map(str::to_owned);
        let (paths, left_out): (Vec<_>, _) = all.partition(|path| options.absent || sources.exists(path));
        let read = || Markers::read(paths.iter().map(String::as_str), sources);
        let markers = if options.markers { read() } else { Markers::default() };
        Self { units, sources, options, index, paths, left_out, markers }
    }

    /// The source files in the tracefile.
    #[must_use]
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The files that were left out because they are not there.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What markers in the sources exclude.
    #[must_use]
    pub fn markers(&self) -> &Markers {
        &self.markers
    }

    /// Writes it. The result are sentences for the user: lines that ran and are marked as unreachable.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<Vec<String>> {
        let mut reached = Vec::new();
        let mut functions = function_records(self.units, self.options.names);
        writeln!(out, "TN:{}", test_name(&self.options.test_name))?;
        for path in &self.paths {
            let text = self.sources.text(path);
            let mut coverage = self.index.count(self.units, path, text.as_deref());
            let mut records = functions.remove(path).unwrap_or_default();
            let exclusions = self.markers.of(path).map(|exclusions| &**exclusions);
            if let Some(exclusions) = exclusions {
                let ran =
                    coverage.lines.iter().filter(|(line, facts)| facts.count > 0 && exclusions.unreachable(**line));
                reached.extend(ran.map(|(&line, facts)| exclusions::reached(path, line, facts.count)));
                coverage.exclude(exclusions);
                records.retain(|record| !exclusions.line(record.line));
            }
            if !coverage.lines.is_empty() {
                write_file(path, &coverage, &records, exclusions, self.options, out)?;
            }
        }
        Ok(reached)
    }
}

fn write_file(
    path: &str,
    coverage: &FileCoverage,
    records: &[FunctionRecord],
    exclusions: Option<&Exclusions>,
    options: &LcovOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "SF:{path}")?;
    for record in records {
        writeln!(out, "FN:{},{}", record.line, record.name)?;
    }
    for record in records {
        writeln!(out, "FNDA:{},{}", record.entries, record.name)?;
    }
    writeln!(out, "FNF:{}\nFNH:{}", records.len(), records.iter().filter(|r| r.entries > 0).count())?;
    let (mut found, mut hit) = (0, 0);
    for (&line, facts) in &coverage.lines {
        let mut block = 0;
        let exceptions = options.exceptions && !exclusions.is_some_and(|exclusions| exclusions.exception(line));
        let checks = |branch: &Branch| options.checks || !branch.check;
        for branch in facts.branches.clone().sorted().into_iter().filter(checks) {
            if write_branch(line, block, &branch, exceptions, &mut found, &mut hit, out)? {
                block += 1;
            }
        }
    }
    writeln!(out, "BRF:{found}\nBRH:{hit}")?;
    for (line, facts) in &coverage.lines {
        writeln!(out, "DA:{line},{}", facts.count)?;
    }
    writeln!(out, "LF:{}\nLH:{}\nend_of_record", coverage.lines.len(), coverage.run())
}

/// Writes the ways of a branch; `false` if there is none to write.
fn write_branch(
    line: u32,
    block: u32,
    branch: &Branch,
    exceptions: bool,
    found: &mut u64,
    hit: &mut u64,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let exceptional = |kind| matches!(kind, EdgeKind::InvokeUnwind);
    let ways: Vec<_> = branch.ways.iter().filter(|(kind, _)| exceptions || !exceptional(*kind)).collect();
    // Without the exceptional way only one is left, and that is no branch.
    if ways.len() < 2 {
        return Ok(false);
    }
    for (number, (kind, count)) in ways.iter().enumerate() {
        let mark = if exceptional(*kind) { "e" } else { "" };
        let count = count.unwrap_or(0);
        *found += 1;
        *hit += u64::from(branch.reached && count > 0);
        if branch.reached {
            writeln!(out, "BRDA:{line},{mark}{block},{number},{count}")?;
        } else {
            writeln!(out, "BRDA:{line},{mark}{block},{number},-")?;
        }
    }
    Ok(true)
}

/// Function records by path, in the order of lines. Names that lcov would confuse are made different.
fn function_records(units: &[Unit<'_>], names: Names) -> BTreeMap<String, Vec<FunctionRecord>> {
    let mut merged: BTreeMap<(String, u32, String), u64> = BTreeMap::new();
    for unit in units {
        for function in summarize(unit) {
            let measured = function.bodies.is_empty() || function.untouched.is_none();
            let Some(position) = function.position.filter(|_| measured) else { continue };
            let key = (unit.file(position.file).to_owned(), position.line, names.show(&function.symbol));
            let sum = merged.entry(key).or_default();
            *sum = sum.saturating_add(function.entries());
        }
    }
    let mut by_path: BTreeMap<String, Vec<FunctionRecord>> = BTreeMap::new();
    for ((path, line, name), entries) in merged {
        let records = by_path.entry(path).or_default();
        let name = if records.iter().any(|r| r.name == name) { format!("{name}:{line}") } else { name };
        records.push(FunctionRecord { line, name, entries });
    }
    by_path
}

/// lcov allows letters, digits and underscores.
fn test_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
