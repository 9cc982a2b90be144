//! The conditions of a file with the counts of their outcomes, each once.
//!
//! A condition in a macro stands where the main file uses the macro. The instances of a template have the same
//! conditions, whose counts add up.

use super::functions::CountedFunction;
use super::uses::uses;
use cotree_profile::coverage::{Place, Region};
use std::collections::BTreeMap;

/// A condition of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition<'m> {
    /// Where it stands in the file: where it begins, or where the outermost macro is used that it is in.
    pub at: Place,
    /// The text of the condition.
    pub region: &'m Region,
    /// The path of the file that its text is in.
    pub path: &'m str,
    /// Whether its text is that of a macro, or of a file that is included in the midst of a function.
    pub expanded: bool,
    /// How often it was true. `None`: the compiler knows that it never can be.
    pub taken: Option<u64>,
    /// How often it was false. `None`: the compiler knows that it never can be.
    pub not_taken: Option<u64>,
}

impl Condition<'_> {
    /// The outcomes that are possible: true before false.
    pub fn outcomes(&self) -> impl Iterator<Item = u64> + Clone {
        [self.taken, self.not_taken].into_iter().flatten()
    }
}

/// The conditions of functions that are written in one file, by their places.
#[must_use]
pub fn conditions<'c, 'm: 'c>(functions: impl Iterator<Item = &'c CountedFunction<'m>>) -> Vec<Condition<'m>> {
    let mut all: BTreeMap<(Place, u32, Place, Place), Vec<Condition<'m>>> = BTreeMap::new();
    for function in functions {
        let uses = uses(function.function, function.main_file);
        // A macro that uses a parameter several times has the same text several times.
        let mut times: BTreeMap<_, usize> = BTreeMap::new();
        for branch in function.branches() {
            let region = branch.region;
            let expanded = Some(region.file) != function.main_file;
            let Some(at) = (if expanded { uses[region.file.0 as usize] } else { Some(region.start) }) else { continue };
            let key = (at, region.file.0, region.start, region.end);
            let time = times.entry(key).and_modify(|time| *time += 1).or_insert(0);
            let same_text = all.entry(key).or_default();
            match same_text.get_mut(*time) {
                Some(condition) => {
                    condition.taken = sum(condition.taken, branch.taken);
                    condition.not_taken = sum(condition.not_taken, branch.not_taken);
                }
                None => same_text.push(Condition {
                    at,
                    region,
                    path: function.path(region.file),
                    expanded,
                    taken: branch.taken,
                    not_taken: branch.not_taken,
                }),
            }
        }
    }
    all.into_values().flatten().collect()
}

/// Adds counts of an outcome up. What is possible in one instance is possible.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
