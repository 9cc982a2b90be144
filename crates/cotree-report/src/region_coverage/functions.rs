//! A function of the map with the counts of its regions.

use super::uses::uses;
use crate::exclusions::{Exclusions, Markers};
use cotree_profile::coverage::{
    Corrections, Counter, CoverageMap, MappedFunction, Place, Region, RegionCount, RegionKind, VirtualFile,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A function of the map with the counts of its regions.
#[derive(Clone, Debug)]
pub struct CountedFunction<'m> {
    /// The map that it is in.
    pub map: &'m CoverageMap,
    /// The function.
    pub function: &'m MappedFunction,
    /// Per region of the function, how often it ran.
    pub counts: Vec<RegionCount>,
    /// How often each test vector of its decisions occurred; empty if the function never ran.
    pub vectors: Vec<u64>,
    /// By region: the places in its text from which on fewer executions came, and how many fewer than before.
    pub cuts: BTreeMap<usize, Vec<Cut>>,
    /// The file that it is written in.
    pub main_file: Option<VirtualFile>,
    /// What markers exclude in that file.
    exclusions: Option<Arc<Exclusions>>,
    /// Per region, whether markers exclude it; empty if there are none.
    excluded: Vec<bool>,
}

/// A place in the text of a region from which on fewer executions came than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The place.
    pub at: Place,
    /// How many fewer came. Negative: more.
    pub fewer: i128,
}

/// A region of text, with its count. Conditions and decisions are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRegion<'m> {
    /// The region.
    pub region: &'m Region,
    /// How often it ran, as far as its first cut.
    pub count: u64,
    /// Where executions left it, in order.
    pub cuts: &'m [Cut],
}

/// The cuts of a region in several executables.
pub(super) fn added(one: &[Cut], other: &[Cut]) -> Vec<Cut> {
    let mut all = [one, other].concat();
    all.sort_by_key(|cut| cut.at);
    all.dedup_by(|next, kept| {
        let same = next.at == kept.at;
        if same {
            kept.fewer = kept.fewer.saturating_add(next.fewer);
        }
        same
    });
    all
}

/// A condition, with its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedBranch<'m> {
    /// The region.
    pub region: &'m Region,
    /// How often it was true. `None`: the compiler knows that it never can be.
    pub taken: Option<u64>,
    /// How often it was false. `None`: the compiler knows that it never can be.
    pub not_taken: Option<u64>,
}

impl CountedBranch<'_> {
    /// The outcomes that are possible.
    pub fn outcomes(&self) -> impl Iterator<Item = u64> {
        [self.taken, self.not_taken].into_iter().flatten()
    }
}

impl<'m> CountedFunction<'m> {
    /// Brings a function and its counts together.
    #[must_use]
    pub fn new(map: &'m CoverageMap, function: &'m MappedFunction, counts: Vec<RegionCount>) -> Self {
        let main_file = function.main_file();
        Self {
            map,
            function,
            counts,
            vectors: Vec::new(),
            cuts: BTreeMap::new(),
            main_file,
            exclusions: None,
            excluded: Vec::new(),
        }
    }

    /// Cuts regions where executions left them.
    pub fn cut(&mut self, corrections: &Corrections) {
        for region in corrections.regions() {
            let cuts: Vec<Cut> = corrections.within(region).map(|(at, fewer)| Cut { at, fewer }).collect();
            if !cuts.is_empty() {
                self.cuts.insert(region as usize, cuts);
            }
        }
    }

    /// Leaves out what markers in the source exclude: regions that begin on an excluded line, and the conditions of
    /// such lines. What is in a macro is excluded where the macro is used as well as where it is written.
    pub fn exclude(&mut self, markers: &Markers) {
        let of_file: Vec<_> = (0..self.function.files.len() as u32)
            .map(|file| markers.of(self.path(VirtualFile(file))).cloned())
            .collect();
        self.exclusions = self.main_file.and_then(|main| of_file[main.0 as usize].clone());
        if of_file.iter().all(Option::is_none) {
            return;
        }
        let uses = uses(self.function, self.main_file);
        let excluded = self.function.regions.iter().map(|region| {
            let is_branch = matches!(
                region.kind,
                RegionKind::Branch { .. } | RegionKind::Condition { .. } | RegionKind::Decision { .. }
            );
            let excludes = |exclusions: &Option<Arc<Exclusions>>, place: Place| {
                exclusions.as_ref().is_some_and(|exclusions| match is_branch {
                    true => exclusions.branch(place.line),
                    false => exclusions.line(place.line),
                })
            };
            let file = region.file.0 as usize;
            excludes(&of_file[file], region.start) || uses[file].is_some_and(|at| excludes(&self.exclusions, at))
        });
        self.excluded = excluded.collect();
    }

    /// Whether markers exclude a region, by its place in the list of regions.
    #[must_use]
    pub fn is_excluded_region(&self, index: usize) -> bool {
        self.excluded.get(index).copied().unwrap_or(false)
    }

    /// Whether markers exclude the line that the function begins on: then it is none of the functions that are counted.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        self.exclusions.as_ref().zip(self.start()).is_some_and(|(exclusions, start)| exclusions.line(start.line))
    }

    /// What markers exclude in the file that the function is written in.
    #[must_use]
    pub fn exclusions(&self) -> Option<&Exclusions> {
        self.exclusions.as_deref()
    }

    /// Adds the counts of another executable, if it has the same function with the same regions; tells whether it has.
    pub fn add(&mut self, other: &Self) -> bool {
        let same = self.function.structural_hash == other.function.structural_hash
            && self.function.regions == other.function.regions;
        if same {
            for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
                sum.count = sum.count.saturating_add(count.count);
                sum.not_taken = sum.not_taken.saturating_add(count.not_taken);
                sum.negative |= count.negative;
            }
            self.vectors.resize(self.vectors.len().max(other.vectors.len()), 0);
            for (sum, count) in self.vectors.iter_mut().zip(&other.vectors) {
                *sum = sum.saturating_add(*count);
            }
            for (&region, cuts) in &other.cuts {
                let sum = self.cuts.entry(region).or_default();
                *sum = added(sum, cuts);
            }
        }
        same
    }

    /// The regions of text.
    pub fn regions(&self) -> impl Iterator<Item = CountedRegion<'_>> {
        let is_text = |kind: RegionKind| {
            !matches!(kind, RegionKind::Branch { .. } | RegionKind::Condition { .. } | RegionKind::Decision { .. })
        };
        let counted = self.function.regions.iter().zip(&self.counts).enumerate();
        let text = counted.filter(move |(_, (region, _))| is_text(region.kind));
        text.map(|(index, (region, count))| {
            let cuts = self.cuts.get(&index).map_or(&[][..], Vec::as_slice);
            CountedRegion { region, count: count.count, cuts }
        })
    }

    /// The regions of code that are counted as regions: those that no marker excludes.
    pub fn code(&self) -> impl Iterator<Item = CountedRegion<'m>> {
        let counted = (0..).zip(&self.function.regions).zip(&self.counts);
        let is_code = |region: &Region| matches!(region.kind, RegionKind::Code(_));
        let code = counted.filter(move |((index, region), _)| is_code(region) && !self.is_excluded_region(*index));
        code.map(|((_, region), count)| CountedRegion { region, count: count.count, cuts: &[] })
    }

    /// The conditions of the function, also those of decisions, but for those with no possible outcome and those that
    /// markers exclude.
    pub fn branches(&self) -> impl Iterator<Item = CountedBranch<'m>> {
        let all = (0..).zip(&self.function.regions).zip(&self.counts);
        let counted = all.filter(|((index, _), _)| !self.is_excluded_region(*index));
        let counted = counted.map(|((_, region), count)| (region, count));
        let branches = counted.filter_map(|(region, count)| match region.kind {
            RegionKind::Branch { taken, not_taken } | RegionKind::Condition { taken, not_taken, .. } => {
                Some(CountedBranch {
                    region,
                    taken: (taken != Counter::Zero).then_some(count.count),
                    not_taken: (not_taken != Counter::Zero).then_some(count.not_taken),
                })
            }
            _ => None,
        });
        branches.filter(|branch| branch.outcomes().next().is_some())
    }

    /// How often the function was entered: the count of its first region.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.regions().next().map_or(0, |first| first.count)
    }

    /// Whether a difference of counters was negative somewhere: the counters contradict each other. It counts as zero.
    #[must_use]
    pub fn is_contradictory(&self) -> bool {
        self.counts.iter().any(|count| count.negative)
    }

    /// Where the function begins.
    #[must_use]
    pub fn start(&self) -> Option<Place> {
        let main = self.main_file?;
        self.regions().find(|counted| counted.region.file == main).map(|counted| counted.region.start)
    }

    /// The path of one of its files.
    #[must_use]
    pub fn path(&self, file: VirtualFile) -> &'m str {
        self.map.path(self.function.files[file.0 as usize])
    }

    /// The path of the file that it is written in.
    #[must_use]
    pub fn main_path(&self) -> Option<&'m str> {
        self.main_file.map(|file| self.path(file))
    }

    /// Per file of the function, whether its text is part of what the main file's view shows: the main file, what
    /// replaces regions of it, and so on.
    #[must_use]
    pub fn shown_in_main(&self) -> Vec<bool> {
        let mut shown = vec![false; self.function.files.len()];
        let mut leads_to: Vec<Vec<VirtualFile>> = vec![Vec::new(); shown.len()];
        for region in &self.function.regions {
            if let RegionKind::Expansion { into, .. } = region.kind {
                leads_to[region.file.0 as usize].push(into);
            }
        }
        let mut work: Vec<VirtualFile> = self.main_file.into_iter().collect();
        while let Some(file) = work.pop() {
            shown[file.0 as usize] = true;
            work.append(&mut leads_to[file.0 as usize]);
        }
        shown
    }
}
