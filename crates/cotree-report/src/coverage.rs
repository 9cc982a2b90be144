//! Coverage of a source file: its lines and branches, added up over all code that was compiled from it.
//!
//! Coverage works on one file at a time, so memory grows with the size of the file and not with that of the program.

use crate::branches::{self, LineBranches};
use crate::exclusions::Exclusions;
use crate::functions::summarize;
use crate::harness::is_of_harness;
use crate::lines;
use crate::loops;
use crate::selection::concerns;
use crate::source::SourceText;
use crate::unit::Unit;
use cotree_core::facts::Function;
use cotree_core::ids::FunctionId;
use cotree_core::profile::Flaw;
use std::collections::{BTreeMap, BTreeSet};

/// Which functions have lines in which source files, over several units.
#[derive(Clone, Debug, Default)]
pub struct FileIndex {
    /// By path: unit, number of the file there, and functions.
    files: BTreeMap<String, Vec<(usize, u32, Vec<FunctionId>)>>,
    /// By path: first lines of functions that were also inlined, and how often those copies were entered.
    inlined: BTreeMap<String, Vec<(u32, u64)>>,
}

impl FileIndex {
    /// Looks through all functions whose symbols are `wanted`, and those into which such functions are inlined.
    #[must_use]
    pub fn new(units: &[Unit<'_>], wanted: impl Fn(&str) -> bool) -> Self {
        let mut files: BTreeMap<String, Vec<(usize, u32, Vec<FunctionId>)>> = BTreeMap::new();
        for (number, unit) in units.iter().enumerate() {
            let mut functions_of: BTreeMap<u32, Vec<FunctionId>> = BTreeMap::new();
            let written = |function: &Function| concerns(function, &wanted) && !is_of_harness(function);
            for function in unit.functions().filter(|function| written(function.facts)) {
                let spans = function.facts.blocks.iter().flat_map(|b| &b.lines).map(|s| s.at.file);
                let touched: BTreeSet<u32> = spans.chain(function.facts.position.map(|p| p.file)).collect();
                for file in touched {
                    functions_of.entry(file).or_default().push(function.index);
                }
            }
            for (file, functions) in functions_of {
                files.entry(unit.file(file).to_owned()).or_default().push((number, file, functions));
            }
        }
        let mut inlined: BTreeMap<String, Vec<(u32, u64)>> = BTreeMap::new();
        for unit in units {
            for function in summarize(unit).into_iter().filter(|f| f.inlined_off_line > 0 && wanted(&f.symbol)) {
                // Functions without a body do not say where they begin.
                if let Some(at) = function.position.filter(|_| !function.bodies.is_empty()) {
                    let lines = inlined.entry(unit.file(at.file).to_owned()).or_default();
                    lines.push((at.line, function.inlined_off_line));
                }
            }
        }
        Self { files, inlined }
    }

    /// The paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Counts the lines of one file. `text` is its source, if it is at hand.
    #[must_use]
    pub fn count(&self, units: &[Unit<'_>], path: &str, text: Option<&SourceText>) -> FileCoverage {
        let mut coverage = FileCoverage::default();
        for (unit, file, functions) in self.files.get(path).into_iter().flatten() {
            for function in functions.iter().filter_map(|&f| units[*unit].function(f)) {
                let Some(flow) = function.flow() else { continue };
                let doubtful = !function.flaws().is_empty();
                lines::count(&flow, Some(*file), text, |_, line, count| {
                    let line = coverage.lines.entry(line).or_default();
                    line.count = line.count.saturating_add(count);
                    line.doubtful |= doubtful;
                });
                branches::of_function(&flow, Some(*file), |_, branch| {
                    // A line that holds nothing but unwinding code is none of the program's.
                    if branch.unwinding && !branch.reached && !coverage.lines.contains_key(&branch.line) {
                        return;
                    }
                    let line = coverage.lines.entry(branch.line).or_default();
                    line.branches.add(branch);
                    line.doubtful |= doubtful;
                });
                if function.flaws().contains(&Flaw::LoopsUnderWay) {
                    for found in loops::of_function(&flow).iter().filter_map(|found| found.position) {
                        if let Some(line) = coverage.lines.get_mut(&found.line).filter(|_| found.file == *file) {
                            line.loop_missing = true;
                        }
                    }
                }
            }
        }
        for &(line, entries) in self.inlined.get(path).into_iter().flatten() {
            if let Some(line) = coverage.lines.get_mut(&line) {
                line.count = line.count.saturating_add(entries);
            }
        }
        coverage
    }
}

/// The lines of one file that have code.
#[derive(Clone, Debug, Default)]
pub struct FileCoverage {
    /// By number.
    pub lines: BTreeMap<u32, LineCoverage>,
}

impl FileCoverage {
    /// Leaves out the lines and branches that markers exclude.
    pub fn exclude(&mut self, exclusions: &Exclusions) {
        self.lines.retain(|&line, _| !exclusions.line(line));
        for (_, facts) in self.lines.iter_mut().filter(|(line, _)| exclusions.branch(**line)) {
            facts.branches = LineBranches::default();
        }
    }

    /// Lines that ran.
    #[must_use]
    pub fn run(&self) -> usize {
        self.lines.values().filter(|l| l.count > 0).count()
    }
}

/// One line that has code.
#[derive(Clone, Debug, Default)]
pub struct LineCoverage {
    /// Times it ran.
    pub count: u64,
    /// Some function that the line belongs to is not vouched for.
    pub doubtful: bool,
    /// A loop of this line may have been under way at the end, whose counts are missing.
    pub loop_missing: bool,
    /// The branches that end on it.
    pub branches: LineBranches,
}
