//! Counts of earlier builds as weights for the next one (`--weights`, `--use`).
//!
//! The binary of an earlier build is usually gone, or about to be overwritten, when its counts are wanted. So they go
//! into a self-contained file: one JSON object per line, first the schema and the builds, then one function each, with
//! its symbol and module, its graph, the anchors by which its blocks are found again in a later version of it
//! ([`cotree_core::weight::stale`]), and whom its indirect calls led to, if that was counted ([`targets`]).
//!
//! A profile may hold runs of several builds of a program. A function that is the same in some of them has the sum of
//! their counts.

mod file;
mod modules;
mod refusal;
pub mod targets;

pub use file::{SCHEMA, WeightsError, builds, write};
pub use modules::module_name;
pub use refusal::refused;

use cotree_core::facts::Function;
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::stale::{Fnv, Likeness, Matching, Outline};
use modules::same_module;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use targets::BlockTargets;

/// A build whose runs were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The name of its file, without the folder.
    pub name: String,
    /// The id of the build, in hexadecimal digits.
    pub id: String,
    /// How many runs there were.
    pub runs: u64,
    /// Where its counters are, as `--at` names it, if that is not behind the compiler's inlining.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The counts of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The module: an object file, or `archive(member)`.
    pub module: String,
    /// See [`shape`].
    shape: u64,
    /// What its blocks are known by.
    outline: Outline,
    /// The builds that have the function as it is here, rising.
    pub builds: Vec<usize>,
    /// The counts.
    pub profile: FunctionProfile,
    /// Whom its indirect calls led to, where that was counted.
    pub targets: Vec<BlockTargets>,
}

/// Counts that a function gets from a version of it that was another.
#[derive(Clone, Debug)]
pub struct Guess<'a> {
    /// The counts of that version.
    pub entry: &'a Entry,
    /// The counts of this version, as far as they are known.
    pub profile: FunctionProfile,
    /// How many blocks are known.
    pub pairs: usize,
    /// Whom the indirect calls of these blocks led to.
    pub targets: Vec<BlockTargets>,
}

/// Weights by function.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// The name of the profile that they are from, if it is known.
    pub profile: String,
    /// The builds that were counted.
    pub builds: Vec<Build>,
    by_symbol: HashMap<String, Vec<Entry>>,
}

impl Weights {
    /// The counts of all functions, in no order.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionProfile> {
        self.by_symbol.values().flatten().map(|entry| &entry.profile)
    }

    /// Is there a function of this symbol, of whatever shape?
    #[must_use]
    pub fn knows(&self, symbol: &str) -> bool {
        self.by_symbol.contains_key(symbol)
    }

    /// Adds a function. Where other builds have the same one, the counts are added up.
    fn add(&mut self, symbol: String, entry: Entry) {
        let entries = self.by_symbol.entry(symbol).or_default();
        let same = |other: &&mut Entry| {
            let from_others = entry.builds.iter().all(|build| !other.builds.contains(build));
            from_others
                && same_module(&other.module, &entry.module)
                && (other.shape, &other.outline) == (entry.shape, &entry.outline)
        };
        match entries.iter_mut().find(same) {
            Some(other) => {
                add_counts(&mut other.profile, &entry.profile);
                targets::add(&mut other.targets, entry.targets);
                other.builds.extend(entry.builds);
            }
            None => entries.push(entry),
        }
    }

    /// The counts of the function of this symbol and graph. Of several, the one wins of which most is the same, then
    /// the one from the module of this name.
    #[must_use]
    pub fn of(&self, module: &str, function: &Function) -> Option<&FunctionProfile> {
        self.likest(module, function).map(|(_, entry)| &entry.profile)
    }

    /// The counts of the very function, if all that is known of it is the same.
    #[must_use]
    pub fn same(&self, module: &str, function: &Function) -> Option<&Entry> {
        self.likest(module, function).filter(|(likeness, _)| *likeness == Likeness::All).map(|(_, entry)| entry)
    }

    fn likest(&self, module: &str, function: &Function) -> Option<(Likeness, &Entry)> {
        let entries = self.by_symbol.get(&function.symbol)?;
        let own_shape = shape(function);
        if entries.iter().all(|entry| entry.shape != own_shape) {
            return None;
        }
        let outline = Outline::of(function);
        let likeness = |entry: &Entry| {
            if entry.shape == own_shape { entry.outline.likeness(&outline) } else { Likeness::None }
        };
        let entries = entries.iter().map(|entry| (likeness(entry), entry));
        // Of several that are alike, the first.
        let order = |(likeness, entry): &(Likeness, &Entry)| (*likeness, same_module(&entry.module, module));
        let entries = entries.filter(|(likeness, _)| *likeness != Likeness::None);
        entries.rev().max_by_key(order)
    }

    /// What the counts of another version of the function tell of this one, block by block. `None` if there is no such
    /// version.
    #[must_use]
    pub fn guess(&self, module: &str, function: &Function) -> Option<Guess<'_>> {
        let outline = Outline::of(function);
        let guesses = self.by_symbol.get(&function.symbol)?.iter().map(|entry| {
            let earlier = &entry.outline;
            let matching = Matching::new(earlier, &outline);
            let profile = matching.transfer(earlier, &outline, &entry.profile);
            Guess { entry, profile, pairs: matching.pairs(), targets: targets::moved(&entry.targets, &matching) }
        });
        // Of versions that are equally like this one, the last.
        guesses.max_by_key(|guess| {
            (guess.pairs, same_module(&guess.entry.module, module), guess.entry.builds.last().copied())
        })
    }
}

/// The sums of both, which have as many counts.
fn add_counts(sum: &mut FunctionProfile, more: &FunctionProfile) {
    let add = |sum: &mut [u64], more: &[u64]| {
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum = sum.saturating_add(*more);
        }
    };
    sum.entries = sum.entries.saturating_add(more.entries);
    add(&mut sum.blocks, &more.blocks);
    if let (Some(sum), Some(more)) = (&mut sum.edges, &more.edges) {
        add(sum, more);
    }
}

/// A number for the function's graph: blocks and edges with their kinds.
fn shape(function: &Function) -> u64 {
    let mut hash = Fnv::default();
    hash.eat_number(function.blocks.len() as u64);
    for edge in &function.edges {
        hash.eat_number(u64::from(edge.src.0));
        hash.eat_number(u64::from(edge.dst.0));
        hash.eat_number(u64::from(edge.successor));
    }
    hash.0
}

#[cfg(test)]
mod tests;
