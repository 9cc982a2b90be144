//! The decisions of clang's map: each with its conditions, and what follows each of their outcomes.
//!
//! The map has a region for a decision and one for each of its conditions. A condition is of the smallest decision that
//! has its text, in the same file or through macros, and no other condition of its number.

use super::function::{Region, RegionKind, SourceFile, VirtualFile};
use super::regions;
use cotree_core::decision::{Decision, Next, Numbering};

/// More files than the records of functions have.
const FILES: usize = 1 << 16;

/// A decision of the map.
#[derive(Clone, Debug)]
pub struct MappedDecision {
    /// The region of the decision.
    pub region: Region,
    /// The place of the region in the list of the function.
    pub index: usize,
    /// The regions of the conditions, by number.
    pub conditions: Vec<Region>,
    /// What follows each outcome of a condition. The decision is made with the outcome of the condition.
    pub graph: Decision,
    /// The numbers of the vectors.
    pub numbering: Numbering,
    /// The number of the first vector in the function.
    pub first: u32,
}

/// The decisions of a function, and how many make no sense.
#[derive(Clone, Debug, Default)]
pub struct MappedDecisions {
    /// The decisions that make sense, in the order of the map.
    pub decisions: Vec<MappedDecision>,
    /// The places of the regions of the others.
    pub unreadable: Vec<usize>,
}

/// Reads the decisions of an encoded record, as it stands in the compiler's output. `None`: it makes no sense.
#[must_use]
pub fn decisions_of_record(mapping: &[u8]) -> Option<Vec<MappedDecision>> {
    let decoded = regions::decode(mapping, &vec![SourceFile(0); FILES]).ok()?;
    let found = MappedDecisions::of(&decoded.regions, decoded.files.len());
    found.unreadable.is_empty().then_some(found.decisions)
}

impl MappedDecisions {
    /// Finds the decisions among the regions of a function.
    #[must_use]
    pub fn of(regions: &[Region], files: usize) -> Self {
        let found = found(regions, files);
        // Before clang 20, places in the bitmap are those of the first vector.
        let begins = found.iter().any(|found| found.bitmap == 0);
        let mut all = Self::default();
        for found in found {
            let index = found.index;
            match found.decision(begins) {
                Some(decision) => all.decisions.push(decision),
                None => all.unreadable.push(index),
            }
        }
        all
    }
}

/// A decision whose conditions are collected.
struct Found<'m> {
    region: &'m Region,
    index: usize,
    /// Where its vectors end in the bitmap of the function, or where they begin.
    bitmap: u32,
    /// By number.
    conditions: Vec<Option<&'m Region>>,
}

impl Found<'_> {
    fn decision(self, begins: bool) -> Option<MappedDecision> {
        let conditions: Vec<Region> =
            self.conditions.into_iter().map(Option::<&Region>::cloned).collect::<Option<_>>()?;
        let next = |region: &Region| match region.kind {
            RegionKind::Condition { if_true, if_false, .. } => {
                let to = |next: Option<u16>, outcome| next.map_or(Next::Made(outcome), Next::Condition);
                Some([to(if_false, false), to(if_true, true)])
            }
            _ => None,
        };
        let graph = Decision::new(conditions.iter().map(next).collect::<Option<_>>()?).ok()?;
        let numbering = graph.numbering()?;
        let first = if begins { self.bitmap } else { self.bitmap.checked_sub(numbering.vectors)? };
        Some(MappedDecision { region: *self.region, index: self.index, conditions, graph, numbering, first })
    }
}

/// The decisions of a function with their conditions.
fn found(regions: &[Region], files: usize) -> Vec<Found<'_>> {
    let mut decisions: Vec<Found<'_>> = Vec::new();
    for (index, region) in regions.iter().enumerate() {
        if let RegionKind::Decision { bitmap, conditions } = region.kind {
            decisions.push(Found { region, index, bitmap, conditions: vec![None; conditions.into()] });
        }
    }
    if decisions.is_empty() {
        return decisions;
    }
    let mut replaced: Vec<Option<&Region>> = vec![None; files];
    for region in regions {
        if let RegionKind::Expansion { into, .. } = region.kind {
            replaced[into.0 as usize] = Some(region);
        }
    }
    for region in regions {
        let RegionKind::Condition { number, .. } = region.kind else { continue };
        let takes = |decision: &&mut Found<'_>| {
            decision.conditions.get(usize::from(number)).is_some_and(Option::is_none)
                && holds(decision.region, region, &replaced)
        };
        let extent = |region: &Region| (region.end.line - region.start.line, region.end.column);
        let smallest = decisions.iter_mut().filter(takes).min_by_key(|decision| extent(decision.region));
        if let Some(decision) = smallest {
            decision.conditions[usize::from(number)] = Some(region);
        }
    }
    decisions
}

/// Whether a region is in the text of another one, or in what replaces a part of it.
fn holds(outer: &Region, inner: &Region, replaced: &[Option<&Region>]) -> bool {
    let within = |region: &Region| region.file == outer.file && outer.start <= region.start && region.end <= outer.end;
    let above = |region: &&Region| {
        let VirtualFile(file) = region.file;
        replaced[file as usize]
    };
    // A file replaces no region of its own, so that there are no more regions above than files.
    std::iter::successors(Some(inner), above).take(replaced.len() + 1).any(within)
}
