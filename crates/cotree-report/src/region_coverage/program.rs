//! The coverage of one or several executables.

use super::functions::{CountedBranch, CountedFunction, CountedRegion};
use super::line_runs::LineRuns;
use super::segments::{Segment, segments, without_repeats};
use super::source_decisions::SourceDecisions;
use crate::exclusions::{self, Exclusions, Markers};
use cotree_profile::coverage::{Counter, CounterTable, Counters, CoverageMap, MappedFunction, Place, RegionKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The functions of one or several executables, counted.
#[derive(Clone, Debug, Default)]
pub struct RegionCoverage<'m> {
    /// The functions, in the order of the maps. What several maps have is there once, with the sum of its counts.
    pub functions: Vec<CountedFunction<'m>>,
    /// Functions that the counters do not fit. They are left out.
    pub unusable: Vec<Unusable<'m>>,
    /// Decisions of Rust.
    pub source_decisions: SourceDecisions<'m>,
    /// The greatest counts that may be true; none if all are exact.
    pub possible: Option<Box<Self>>,
    /// By path: the functions that have text in it.
    files: BTreeMap<&'m str, Vec<usize>>,
    /// What markers in the sources exclude.
    markers: Markers,
}

/// A function that the counters do not fit.
#[derive(Clone, Copy, Debug)]
pub struct Unusable<'m> {
    /// The function.
    pub function: &'m MappedFunction,
    /// Why it is left out.
    pub reason: UnusableReason,
}

/// Why the counters do not fit a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusableReason {
    /// The counters are of another version of the function.
    OtherVersion,
    /// A region needs a counter that is not there.
    TooFewCounters,
}

/// Functions that begin at one place in a file: the instances of a template or of a generic function.
#[derive(Clone, Debug)]
pub struct Group<'c, 'm> {
    /// Where they begin.
    pub start: Place,
    /// The functions, in the order of the maps.
    pub functions: Vec<&'c CountedFunction<'m>>,
}

/// What all functions say of one file.
#[derive(Clone, Debug)]
pub struct FileView<'m> {
    /// From where to where which count holds.
    pub segments: Vec<Segment>,
    /// The conditions that are written in the file, function by function.
    pub branches: Vec<CountedBranch<'m>>,
    /// What markers exclude in the file.
    exclusions: Option<Arc<Exclusions>>,
}

impl FileView<'_> {
    /// The mapped lines that no marker excludes.
    #[must_use]
    pub fn lines(&self) -> LineRuns<'_> {
        LineRuns::new(&self.segments).without(self.exclusions.as_deref())
    }

    /// What markers exclude in the file.
    #[must_use]
    pub fn exclusions(&self) -> Option<&Exclusions> {
        self.exclusions.as_deref()
    }
}

impl<'m> RegionCoverage<'m> {
    /// Counts the functions of executables, each by its own counters.
    ///
    /// A function that several executables have is counted in all of them, if it is the same text. One that an
    /// executable has without using it gives way to one that another executable uses.
    #[must_use]
    pub fn new(executables: &[(&'m CoverageMap, &CounterTable)]) -> Self {
        let all = || executables.iter().flat_map(|(map, table)| map.functions.iter().map(move |f| (*map, *table, f)));
        let place = |map: &'m CoverageMap, function: &'m MappedFunction| {
            let main = function.main_file().map(|file| map.path(function.files[file.0 as usize]));
            (function.name.as_str(), main)
        };
        let used = all().filter(|(_, _, function)| !function.is_unused());
        let used: HashSet<_> = used.map(|(map, _, function)| place(map, function)).collect();
        let mut coverage = Self { source_decisions: SourceDecisions::new(executables), ..Self::default() };
        let mut known: HashMap<(&str, u64, Vec<&str>), usize> = HashMap::new();
        for (map, table, function) in all() {
            if function.is_unused() && used.contains(&place(map, function)) {
                continue;
            }
            let counted = match counted(map, function, table) {
                Ok(Some(counted)) => counted,
                Ok(None) => continue,
                Err(reason) => {
                    coverage.unusable.push(Unusable { function, reason });
                    continue;
                }
            };
            let paths: Vec<&str> = function.files.iter().map(|&file| map.path(file)).collect();
            let next = coverage.functions.len();
            let first = *known.entry((&function.name, function.structural_hash, paths.clone())).or_insert(next);
            if coverage.functions.get_mut(first).is_some_and(|first| first.add(&counted)) {
                continue;
            }
            for path in paths {
                let functions = coverage.files.entry(path).or_default();
                if functions.last() != Some(&next) {
                    functions.push(next);
                }
            }
            coverage.functions.push(counted);
        }
        coverage
    }

    /// Counts the functions of executables of which the least and the most is known that ran.
    #[must_use]
    pub fn between(
        least: &[(&'m CoverageMap, &CounterTable)],
        most: Option<&[(&'m CoverageMap, &CounterTable)]>,
    ) -> Self {
        Self { possible: most.map(|most| Box::new(Self::new(most))), ..Self::new(least) }
    }

    /// The first and last lines of the functions that are written in a file.
    #[must_use]
    pub fn function_lines(&self, path: &str) -> Vec<(u32, u32)> {
        let written = self.functions_in(path).filter(|function| function.main_path() == Some(path));
        let lines = written.filter_map(|function| {
            let own = function.regions().filter(|counted| Some(counted.region.file) == function.main_file);
            Some((function.start()?.line, own.map(|counted| counted.region.end.line).max()?))
        });
        lines.collect()
    }

    /// Leaves out what markers in the sources exclude.
    pub fn exclude(&mut self, markers: Markers) {
        if let Some(possible) = &mut self.possible {
            possible.exclude(markers.clone());
        }
        self.functions.iter_mut().for_each(|function| function.exclude(&markers));
        self.source_decisions.exclude(&markers);
        self.markers = markers;
    }

    /// Sentences for the user: lines that ran and are marked as unreachable.
    #[must_use]
    pub fn reached(&self) -> Vec<String> {
        let marked = self.paths().filter_map(|path| Some((path, self.markers.of(path)?)));
        let lines = marked.flat_map(|(path, exclusions)| {
            let view = self.file(path);
            let ran = LineRuns::new(&view.segments)
                .lines()
                .filter(|&(line, count)| count > 0 && exclusions.unreachable(line));
            ran.map(|(line, count)| exclusions::reached(path, line, count)).collect::<Vec<_>>()
        });
        lines.collect()
    }

    /// The paths of all files that functions have text in, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &'m str> {
        self.files.keys().copied()
    }

    /// The functions that have text in a file.
    pub fn functions_in(&self, path: &str) -> impl Iterator<Item = &CountedFunction<'m>> {
        self.files.get(path).into_iter().flatten().map(|&index| &self.functions[index])
    }

    /// What all functions together say of a file: of their main text as well as of macros and headers.
    #[must_use]
    pub fn file(&self, path: &str) -> FileView<'m> {
        let mut regions: Vec<CountedRegion<'_>> = Vec::new();
        let mut branches = Vec::new();
        for function in self.functions_in(path) {
            let here: Vec<bool> = function.function.files.iter().map(|&file| function.map.path(file) == path).collect();
            let of_file = function.regions().filter(|counted| here[counted.region.file.0 as usize]);
            regions.extend(without_repeats(of_file));
            branches.extend(function.branches().filter(|branch| here[branch.region.file.0 as usize]));
        }
        FileView { segments: segments(regions.into_iter()), branches, exclusions: self.markers.of(path).cloned() }
    }

    /// The functions that are written in a file, by where they begin.
    #[must_use]
    pub fn groups(&self, path: &str) -> Vec<Group<'_, 'm>> {
        let mut groups: BTreeMap<Place, Vec<&CountedFunction<'m>>> = BTreeMap::new();
        for function in self.functions_in(path).filter(|function| function.main_path() == Some(path)) {
            if let Some(start) = function.start() {
                groups.entry(start).or_default().push(function);
            }
        }
        groups.into_iter().map(|(start, functions)| Group { start, functions }).collect()
    }
}

/// Counts a function. `Ok(None)`: its record says that it is not used, but other code of its name was.
fn counted<'m>(
    map: &'m CoverageMap,
    function: &'m MappedFunction,
    table: &CounterTable,
) -> Result<Option<CountedFunction<'m>>, UnusableReason> {
    let counters = match table.get(function.name_hash, function.structural_hash) {
        Counters::Known(values) => Some(values),
        Counters::Unknown => None,
        Counters::OtherVersion => return Err(UnusableReason::OtherVersion),
    };
    if let [region] = function.regions.as_slice()
        && region.kind == RegionKind::Code(Counter::Zero)
        && counters.and_then(|values| values.first()).is_some_and(|&value| value > 0)
    {
        return Ok(None);
    }
    let corrections = table.corrections(function.name_hash, function.structural_hash);
    let counts = function.corrected_counts(counters, corrections).ok_or(UnusableReason::TooFewCounters)?;
    let mut counted = CountedFunction::new(map, function, counts);
    counted.vectors = table.vectors(function.name_hash, function.structural_hash).to_vec();
    if let Some(corrections) = corrections {
        counted.cut(corrections);
    }
    Ok(Some(counted))
}
