//! What the map's counters say too much of a function's regions, where executions left early.
//!
//! The map has one counter for a stretch of code without branches, and sums and differences of counters for what
//! follows branches. Both are wrong behind a call that did not return. Whoever knows more of the execution than the
//! counters do says here what to take from each region: from its beginning, and from places in its text on. Corrections
//! of several runs add up.

use super::place::Place;
use std::collections::BTreeMap;

/// What to take from the counts of one function's regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corrections {
    /// By region, and for places within its text.
    excess: BTreeMap<(u32, Option<Place>), Excess>,
}

/// By how much a count is too high. Negative: it is too low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excess {
    /// What is too much of how often a region ran, or a condition was true.
    pub count: i128,
    /// What is too much of how often a condition was false.
    pub not_taken: i128,
}

impl Corrections {
    /// Adds what is too much in a region as a whole, or `from` a place on besides what is too much before it.
    pub fn add(&mut self, region: u32, from: Option<Place>, excess: Excess) {
        if excess == Excess::default() {
            return;
        }
        let sum = self.excess.entry((region, from)).or_default();
        sum.count = sum.count.saturating_add(excess.count);
        sum.not_taken = sum.not_taken.saturating_add(excess.not_taken);
    }

    /// Adds those of other runs.
    pub fn add_all(&mut self, other: &Self) {
        for (&(region, from), &excess) in &other.excess {
            self.add(region, from, excess);
        }
    }

    /// Is nothing to be taken from anything?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.excess.is_empty()
    }

    /// The regions that have another count than the map says, or several.
    pub fn regions(&self) -> impl Iterator<Item = u32> {
        let mut last = None;
        self.excess.keys().map(|&(region, _)| region).filter(move |&region| last.replace(region) != Some(region))
    }

    /// What is too much in a region from its beginning on.
    #[must_use]
    pub fn of(&self, region: u32) -> Excess {
        self.excess.get(&(region, None)).copied().unwrap_or_default()
    }

    /// The places in the text of a region from which on more is too much than before, with how much more.
    pub fn within(&self, region: u32) -> impl Iterator<Item = (Place, i128)> {
        let all = self.excess.range((region, None)..).take_while(move |((of, _), _)| *of == region);
        all.filter_map(|((_, from), excess)| Some(((*from)?, excess.count)))
    }
}
