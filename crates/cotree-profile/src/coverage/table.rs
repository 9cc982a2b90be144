//! The values of counters, by function.

use super::corrections::Corrections;
use std::collections::HashMap;

/// The values of the counters of many functions.
#[derive(Clone, Debug, Default)]
pub struct CounterTable {
    /// By hash of the name: versions of the function, by structural hash.
    functions: HashMap<u64, Vec<(u64, Vec<u64>)>>,
    /// By hash of the name and structural hash: how often each test vector of the function's decisions occurred.
    vectors: HashMap<(u64, u64), Vec<u64>>,
    /// By hash of the name and structural hash.
    corrections: HashMap<(u64, u64), Corrections>,
}

/// What a table knows of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters<'t> {
    /// The values of its counters.
    Known(&'t [u64]),
    /// Nothing: the function never ran.
    Unknown,
    /// Only counters of another version of it, with another structural hash.
    OtherVersion,
}

/// Two vectors for one version of a function have different lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "two builds disagree about how many counters the function with the name hash {name_hash:#018x} has: give profiles of one version of the sources"
)]
pub struct LengthMismatch {
    /// The function.
    pub name_hash: u64,
}

impl CounterTable {
    /// Adds the values of a function's counters to those that are there.
    ///
    /// # Errors
    /// If there are more or fewer of them than those that are there.
    pub fn add(&mut self, name_hash: u64, structural_hash: u64, values: &[u64]) -> Result<(), LengthMismatch> {
        let versions = self.functions.entry(name_hash).or_default();
        match versions.iter_mut().find(|(hash, _)| *hash == structural_hash) {
            None => versions.push((structural_hash, values.to_vec())),
            Some((_, kept)) if kept.len() != values.len() => return Err(LengthMismatch { name_hash }),
            Some((_, kept)) => kept.iter_mut().zip(values).for_each(|(sum, &value)| *sum = sum.saturating_add(value)),
        }
        Ok(())
    }

    /// Adds how often each test vector of a function's decisions occurred.
    pub fn add_vectors(&mut self, name_hash: u64, structural_hash: u64, counts: &[u64]) {
        let sums = self.vectors.entry((name_hash, structural_hash)).or_default();
        sums.resize(sums.len().max(counts.len()), 0);
        sums.iter_mut().zip(counts).for_each(|(sum, &count)| *sum = sum.saturating_add(count));
    }

    /// How often each test vector of the decisions of a version of a function occurred; empty if it never ran.
    #[must_use]
    pub fn vectors(&self, name_hash: u64, structural_hash: u64) -> &[u64] {
        self.vectors.get(&(name_hash, structural_hash)).map_or(&[], Vec::as_slice)
    }

    /// Adds what is to be taken from the counts of a function's regions.
    pub fn correct(&mut self, name_hash: u64, structural_hash: u64, corrections: &Corrections) {
        self.corrections.entry((name_hash, structural_hash)).or_default().add_all(corrections);
    }

    /// What is to be taken from the counts of a function's regions, if anything is.
    #[must_use]
    pub fn corrections(&self, name_hash: u64, structural_hash: u64) -> Option<&Corrections> {
        self.corrections.get(&(name_hash, structural_hash)).filter(|corrections| !corrections.is_empty())
    }

    /// What is known of a version of a function.
    #[must_use]
    pub fn get(&self, name_hash: u64, structural_hash: u64) -> Counters<'_> {
        let Some(versions) = self.functions.get(&name_hash) else { return Counters::Unknown };
        let found = versions.iter().find(|(hash, _)| *hash == structural_hash);
        found.map_or(Counters::OtherVersion, |(_, values)| Counters::Known(values))
    }
}
