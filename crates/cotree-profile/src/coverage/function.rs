//! A function of the map: its regions, and what counts them.

use super::corrections::{Corrections, Excess};
use super::counters::{Counter, Expressions, Values};
use super::place::Place;

/// A source file of a [`CoverageMap`](super::CoverageMap), by its place in [`files`](super::CoverageMap::files).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceFile(pub u32);

/// A view of a source file by one function, by its place in [`MappedFunction::files`].
///
/// A function has one for the file that it is written in, and one for each expansion of a macro and each `#include` in
/// it, also where those are written in the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VirtualFile(pub u32);

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Code, which runs as often as the counter says.
    Code(Counter),
    /// Text that is replaced: a macro, or an `#include` within a function.
    Expansion {
        /// What replaces it. Each file replaces at most one region, and none replaces a region of its own.
        into: VirtualFile,
        /// How often it has run: what counts the first region of the other file.
        count: Counter,
    },
    /// Text that the preprocessor has left out.
    Skipped,
    /// The space between two statements. It counts only for lines in which no code begins.
    Gap(Counter),
    /// A condition.
    Branch {
        /// How often it was true. [`Counter::Zero`]: it never can be.
        taken: Counter,
        /// How often it was false. [`Counter::Zero`]: it never can be.
        not_taken: Counter,
    },
    /// A decision: an expression of several conditions. Its conditions follow it.
    Decision {
        /// Where its vectors end in clang's bitmap (since clang 20; before that, where they begin).
        bitmap: u32,
        /// How many conditions it has.
        conditions: u16,
    },
    /// A condition of a decision.
    Condition {
        /// How often it was true.
        taken: Counter,
        /// How often it was false.
        not_taken: Counter,
        /// The number of the condition in its decision, beginning with 0, which is evaluated first.
        number: u16,
        /// The condition that is evaluated next if it is true. `None`: the decision is made.
        if_true: Option<u16>,
        /// The condition that is evaluated next if it is false. `None`: the decision is made.
        if_false: Option<u16>,
    },
}

/// A region of the source of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The file that it is in.
    pub file: VirtualFile,
    /// Where it begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
    /// What it is.
    pub kind: RegionKind,
}

/// How often a region has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionCount {
    /// How often it has run. Of conditions: how often they were true.
    pub count: u64,
    /// How often a condition was false; 0 of other regions.
    pub not_taken: u64,
    /// A difference was negative, which counts as zero: the counters contradict each other.
    pub negative: bool,
}

/// A function of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFunction {
    /// The lower 64 bits of the MD5 hash of its name. In an executable no other function has the same.
    pub name_hash: u64,
    /// A hash of its structure: counters of another version of the function have another one. 0 for functions with one
    /// counter, and for those [that are not used](Self::is_unused).
    pub structural_hash: u64,
    /// The name in the compiler's profile: the symbol, and before that of a local function its file.
    pub name: String,
    /// The files of its regions.
    pub files: Vec<SourceFile>,
    /// What its regions' counters may refer to.
    pub expressions: Expressions,
    /// The regions of the function, by file.
    pub regions: Vec<Region>,
}

impl MappedFunction {
    /// The file that it is written in: the first one that replaces no text of another.
    #[must_use]
    pub fn main_file(&self) -> Option<VirtualFile> {
        let mut expanded = vec![false; self.files.len()];
        for region in &self.regions {
            if let RegionKind::Expansion { into, .. } = region.kind {
                expanded[into.0 as usize] = true;
            }
        }
        (0..).zip(expanded).find(|(_, expanded)| !expanded).map(|(file, _)| VirtualFile(file))
    }

    /// Whether this only says that the function is there: the compilation did not use it, and made no code. There is
    /// one region, which nothing counts. (The structural hash is 0 then, but also that of functions with one counter.)
    #[must_use]
    pub fn is_unused(&self) -> bool {
        let [region] = self.regions.as_slice() else { return false };
        self.structural_hash == 0 && region.kind == RegionKind::Code(Counter::Zero)
    }

    /// The symbol of the function: its name without the file that stands before that of a local function.
    #[must_use]
    pub fn symbol(&self) -> &str {
        // A symbol of Rust or C++ has neither `;` nor `:`; names of Objective-C do, but begin with a sign.
        let end_of_path = |separator| self.name.rfind(separator).map(|at| &self.name[at + 1..]);
        if self.name.starts_with(['-', '+']) {
            return &self.name;
        }
        end_of_path(';').or_else(|| end_of_path(':')).filter(|symbol| !symbol.is_empty()).unwrap_or(&self.name)
    }

    /// The count of each region, from the values of the function's counters. `None` for the values: it never ran.
    ///
    /// The result is `None` if a region needs a counter that has no value.
    #[must_use]
    pub fn counts(&self, counters: Option<&[u64]>) -> Option<Vec<RegionCount>> {
        self.corrected_counts(counters, None)
    }

    /// The count of each region at its beginning, less what is too much in it.
    ///
    /// The result is `None` if a region needs a counter that has no value.
    #[must_use]
    pub fn corrected_counts(
        &self,
        counters: Option<&[u64]>,
        corrections: Option<&Corrections>,
    ) -> Option<Vec<RegionCount>> {
        let Some(counters) = counters else { return Some(vec![RegionCount::default(); self.regions.len()]) };
        let values = self.expressions.values(counters);
        let excess = |region| corrections.map_or(Excess::default(), |corrections| corrections.of(region));
        (0..).zip(&self.regions).map(|(number, region)| count(&values, region.kind, excess(number))).collect()
    }
}

impl RegionKind {
    /// What counts the region, or a condition's true outcome, and what counts a condition's false outcome.
    #[must_use]
    pub fn counters(self) -> (Counter, Counter) {
        match self {
            RegionKind::Code(count) | RegionKind::Gap(count) | RegionKind::Expansion { count, .. } => {
                (count, Counter::Zero)
            }
            RegionKind::Skipped | RegionKind::Decision { .. } => (Counter::Zero, Counter::Zero),
            RegionKind::Branch { taken, not_taken } | RegionKind::Condition { taken, not_taken, .. } => {
                (taken, not_taken)
            }
        }
    }
}

fn count(values: &Values<'_, u64>, kind: RegionKind, excess: Excess) -> Option<RegionCount> {
    let (counter, otherwise) = kind.counters();
    let (value, otherwise) =
        (values.get(counter)?.saturating_sub(excess.count), values.get(otherwise)?.saturating_sub(excess.not_taken));
    let bounded = |value: i128| u64::try_from(value.max(0)).unwrap_or(u64::MAX);
    Some(RegionCount { count: bounded(value), not_taken: bounded(otherwise), negative: value < 0 || otherwise < 0 })
}
