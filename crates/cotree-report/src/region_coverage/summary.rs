//! How much there is of a file and how much of it ran, by LLVM's rules.
//!
//! A function that begins at the same place as others, as instances of a template do, counts once. Of its regions,
//! lines and branches there are as many as the instance has that has most, and as many ran as ran in the instance in
//! which most ran. A file has what the functions have that are written in it; so a macro belongs to the file in which
//! it is used, and a file of macros has nothing.

use super::functions::CountedFunction;
use super::line_runs::LineRuns;
use super::program::RegionCoverage;
pub use super::ratio::Ratio;
use super::segments::{segments, without_repeats};

/// How much there is of a function, and how much of it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionSummary {
    /// The regions of the function, also those in macros.
    pub regions: Ratio,
    /// The lines of the function in the file that it is written in.
    pub lines: Ratio,
    /// Outcomes of its conditions, also of those in macros.
    pub branches: Ratio,
    /// Conditions of its decisions, and those that were shown to be independent.
    pub mcdc: Ratio,
}

/// How much there is of a file, or of several, and how much of it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// Functions. The instances of a template are one.
    pub functions: Ratio,
    /// Instances of functions.
    pub instantiations: Ratio,
    /// Regions.
    pub regions: Ratio,
    /// Lines.
    pub lines: Ratio,
    /// Outcomes of conditions.
    pub branches: Ratio,
    /// Conditions of decisions, and those that were shown to be independent.
    pub mcdc: Ratio,
}

impl FileSummary {
    /// Adds what another file has.
    pub fn add(&mut self, other: &Self) {
        self.functions.add(other.functions);
        self.instantiations.add(other.instantiations);
        self.regions.add(other.regions);
        self.lines.add(other.lines);
        self.branches.add(other.branches);
        self.mcdc.add(other.mcdc);
    }
}

impl CountedFunction<'_> {
    /// How much there is of the function, and how much of it ran.
    #[must_use]
    pub fn summary(&self) -> FunctionSummary {
        let mut summary = FunctionSummary::default();
        for counted in self.code() {
            summary.regions.count(counted.count > 0);
        }
        let segments = segments(
            without_repeats(self.regions().filter(|counted| Some(counted.region.file) == self.main_file)).into_iter(),
        );
        for run in LineRuns::new(&segments).without(self.exclusions()) {
            summary.lines.total += run.len();
            summary.lines.covered += if run.count > 0 { run.len() } else { 0 };
        }
        let shown = self.shown_in_main();
        for branch in self.branches().filter(|branch| shown[branch.region.file.0 as usize]) {
            branch.outcomes().for_each(|count| summary.branches.count(count > 0));
        }
        self.decisions().decisions.iter().for_each(|decision| summary.mcdc.add(decision.independent()));
        summary
    }
}

impl RegionCoverage<'_> {
    /// How much there is of a file, and how much of it ran.
    #[must_use]
    pub fn summary(&self, path: &str) -> FileSummary {
        let mut file = FileSummary::default();
        for group in self.groups(path) {
            let mut most = FunctionSummary::default();
            let functions = group.functions.iter().filter(|function| !function.is_excluded());
            if functions.clone().next().is_some() {
                file.functions.count(functions.clone().any(|function| function.entries() > 0));
            }
            functions.for_each(|function| file.instantiations.count(function.entries() > 0));
            for function in &group.functions {
                let summary = function.summary();
                most.regions = most.regions.most(summary.regions);
                most.lines = most.lines.most(summary.lines);
                most.branches = most.branches.most(summary.branches);
                most.mcdc = most.mcdc.most(summary.mcdc);
            }
            file.regions.add(most.regions);
            file.lines.add(most.lines);
            file.branches.add(most.branches);
            file.mcdc.add(most.mcdc);
        }
        file.branches.add(self.source_decisions.branches(path));
        self.source_decisions.decisions(path).iter().for_each(|decision| file.mcdc.add(decision.independent()));
        file
    }
}
