//! Export as an lcov tracefile: what `genhtml` and the coverage services read.
//!
//! A tracefile is written file by file. Lines, functions and branches that several units or copies share are added
//! up. The outcome of a branch that only an exception takes is marked `e`, as lcov 2 does, or left out. What markers in
//! the sources exclude ([`crate::exclusions`]) is left out.

use crate::branches::Branch;
use crate::coverage::{FileCoverage, FileIndex};
use crate::exclusions::{self, Markers};
use crate::files::FilePattern;
use crate::functions::{FunctionSummary, summarize};
use crate::harness::is_of_harness;
use crate::names::Names;
use crate::source::Sources;
use crate::tracefile::{BranchRecord, FileRecords, FunctionRecord, Numbering, OutcomeRecord, TracefileForm, Untold};
use crate::unit::Unit;
use cotree_core::facts::{EdgeKind, Position};
use cotree_core::ids::FunctionId;
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
    /// Also the outcomes that only an exception takes.
    pub exceptions: bool,
    /// Also the checks of the compiler's own ([`crate::checks`]).
    pub checks: bool,
    /// Leave out what markers in the sources exclude.
    pub markers: bool,
    /// Write the last lines of functions, too, for lcov 2 alone.
    pub function_ends: bool,
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
            function_ends: false,
            names: Names::Raw,
        }
    }
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
        let mut markers = if options.markers { read() } else { Markers::default() };
        if markers.have_functions() {
            let functions = function_records(units, options.names);
            let of_file = |path: &str| functions.get(path).map_or(&[][..], Vec::as_slice);
            markers.exclude_functions(|path| of_file(path).iter().map(|record| (record.line, record.end)).collect());
        }
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

    /// Counts the lines of a file, without what markers exclude. Lines that ran and are marked as unreachable become
    /// remarks.
    pub(crate) fn coverage(&self, path: &str, remarks: &mut Vec<String>) -> FileCoverage {
        let text = self.sources.text(path);
        let mut coverage = self.index.count(self.units, path, text.as_deref());
        if let Some(exclusions) = self.markers.of(path) {
            let ran = coverage.lines.iter().filter(|(line, facts)| facts.count > 0 && exclusions.unreachable(**line));
            remarks.extend(ran.map(|(&line, facts)| exclusions::reached(path, line, facts.count)));
            coverage.exclude(exclusions);
        }
        coverage
    }

    /// The branches of a file that are asked for, with those outcomes that are, by lines.
    pub(crate) fn branches(&self, path: &str, coverage: &FileCoverage) -> Vec<Branch> {
        let exclusions = self.markers.of(path);
        let mut branches = Vec::new();
        for (&line, facts) in &coverage.lines {
            let exceptions =
                self.options.exceptions && !exclusions.is_some_and(|exclusions| exclusions.exception(line));
            for branch in facts.branches.clone().sorted() {
                let kept = |&outcome: &usize| exceptions || !is_exceptional(branch.outcomes[outcome].0);
                let kept: Vec<usize> = (0..branch.outcomes.len()).filter(kept).collect();
                // Without the exceptions it may be none.
                if kept.len() >= 2 && (self.options.checks || !branch.check) {
                    let outcomes = kept.iter().map(|&outcome| branch.outcomes[outcome]).collect();
                    let leads_to = kept.iter().map(|&outcome| branch.leads_to[outcome]).collect();
                    branches.push(Branch { outcomes, leads_to, ..branch });
                }
            }
        }
        branches
    }

    /// Writes the tracefile. The result are sentences for the user: what a tracefile can't say, and lines that ran and
    /// are marked as unreachable.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<Vec<String>> {
        let mut remarks = Vec::new();
        let mut untold = Untold::default();
        let form = TracefileForm { function_ends: self.options.function_ends, numbering: Numbering::ByBranch };
        let mut functions = function_records(self.units, self.options.names);
        writeln!(out, "TN:{}", test_name(&self.options.test_name))?;
        for path in &self.paths {
            let coverage = self.coverage(path, &mut remarks);
            let mut records = functions.remove(path).unwrap_or_default();
            if let Some(exclusions) = self.markers.of(path) {
                records.retain(|record| !exclusions.line(record.line));
            }
            if !coverage.lines.is_empty() {
                let file = FileRecords {
                    decisions: Vec::new(),
                    path: path.clone(),
                    functions: records,
                    branches: self.branches(path, &coverage).iter().map(branch_record).collect(),
                    lines: coverage.lines.iter().map(|(&line, facts)| (line, facts.count)).collect(),
                };
                untold.add(file.write(form, out)?);
            }
        }
        remarks.extend(untold.remarks());
        Ok(remarks)
    }
}

/// A branch in a tracefile.
fn branch_record(branch: &Branch) -> BranchRecord {
    let outcomes = branch
        .outcomes
        .iter()
        .map(|&(kind, count)| OutcomeRecord { count: count.unwrap_or(0), exceptional: is_exceptional(kind) });
    BranchRecord { line: branch.line, reached: branch.reached, outcomes: outcomes.collect() }
}

/// Does only an exception take such an outcome?
pub(crate) fn is_exceptional(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::InvokeUnwind)
}

/// Calls `each` with the functions that coverage counts, and where they begin.
pub(crate) fn functions<'u, 'a>(units: &'u [Unit<'a>], mut each: impl FnMut(&'u Unit<'a>, &FunctionSummary, Position)) {
    for unit in units {
        for function in summarize(unit) {
            let measured = function.bodies.is_empty() || function.untouched.is_none();
            let Some(position) = function.position.filter(|_| measured) else { continue };
            let bodies = function.bodies.iter().filter_map(|&body| unit.function(body));
            if bodies.map(|body| is_of_harness(body.facts)).reduce(|one, other| one && other) != Some(true) {
                each(unit, &function, position);
            }
        }
    }
}

/// Function records by path, in the order of lines.
fn function_records(units: &[Unit<'_>], names: Names) -> BTreeMap<String, Vec<FunctionRecord>> {
    let mut merged: BTreeMap<(String, u32, String), (u64, u32)> = BTreeMap::new();
    functions(units, |unit, function, position| {
        let key = (unit.file(position.file).to_owned(), position.line, names.show(&function.symbol));
        let (sum, end) = merged.entry(key).or_default();
        *sum = sum.saturating_add(function.entries());
        *end = end_of(unit, &function.bodies, position).0.max(*end);
    });
    let mut by_path: BTreeMap<String, Vec<FunctionRecord>> = BTreeMap::new();
    for ((path, line, name), (entries, end)) in merged {
        by_path.entry(path).or_default().push(FunctionRecord { line, end, name, entries });
    }
    by_path
}

/// Where a function's own code ends: the line and the column.
pub(crate) fn end_of(unit: &Unit<'_>, bodies: &[FunctionId], position: Position) -> (u32, u32) {
    let bodies = bodies.iter().filter_map(|&body| unit.function(body));
    let spans = bodies.flat_map(|body| body.facts.blocks.iter().flat_map(|block| &block.lines));
    let own = spans.filter(|span| span.inlined.is_none() && span.at.file == position.file);
    own.map(|span| (span.at.line, span.at.column)).fold((position.line, position.column), Ord::max)
}

/// lcov allows letters, digits and underscores.
fn test_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
