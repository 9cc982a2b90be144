//! The contents of hash tables of paths: counts and sums of paths, and path registers of abandoned activations.
//!
//! The runtime's buckets are unordered, and several may hold the same key. Here keys are sorted, each once.

use crate::sums::{Amount, Sums, compact};
use cotree_core::ids::FunctionId;
use cotree_core::method::path::PathMetric;
use cotree_rt::layout::{ABANDONED, ADDRESS_MASK, AT_LANDING_PAD, PathBucket, RawHeader, VALUE_SHIFT};
use std::mem::size_of;

/// One path of one function, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId {
    /// The function.
    pub function: FunctionId,
    /// The path.
    pub path: u64,
}

/// A path register that was found when an activation was abandoned or revived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterKey {
    /// As in the table of early exits: a return address, perhaps with [`AT_LANDING_PAD`].
    pub address: u64,
    /// Which of the registers that can be found at that address.
    pub value: u8,
    /// What was in it.
    pub register: i64,
}

/// The counts of a path profile besides its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// Paths counted in hash tables.
    pub counts: Sums<PathId, u64>,
    /// What is added up along paths.
    pub metric: PathMetric,
    /// The sums of paths in hash tables.
    pub sums: Sums<PathId, u64>,
    /// Activations abandoned with their path registers, less those revived.
    pub registers: Sums<RegisterKey, i64>,
}

impl PathCounts {
    /// Nothing was counted, and no metric could have been.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    pub(crate) fn add(&mut self, other: &Self, weight: u64) -> bool {
        let counts = self.counts.add(&other.counts, weight);
        let sums = self.sums.add(&other.sums, weight);
        let registers = self.registers.add(&other.registers, weight);
        counts | sums | registers
    }
}

/// Bytes of a bucket.
pub(in crate::method) const BUCKET_SIZE: u64 = size_of::<PathBucket>() as u64;

/// What is added up along paths in a raw profile.
pub(in crate::method) fn metric(header: &RawHeader) -> Result<PathMetric, &'static str> {
    PathMetric::from_number(header.path_metric.into())
        .ok_or("its paths are measured by a metric that this cotree does not know")
}

/// Collects buckets in any order; memory grows with the number of keys, not with that of buckets.
#[derive(Default)]
pub(in crate::method) struct Buckets {
    metric: PathMetric,
    paths: Vec<(PathId, u64)>,
    sums: Vec<(PathId, u64)>,
    registers: Vec<(RegisterKey, i64)>,
    /// The number of entries that the last compaction left, per kind.
    distinct: [usize; 3],
    cut: bool,
}

/// How many entries may accumulate before compaction pays.
const SLACK: usize = 1 << 16;

impl Buckets {
    /// Begins the counts of a raw profile.
    pub(in crate::method) fn new(metric: PathMetric) -> Self {
        Self { metric, ..Self::default() }
    }

    /// Adds what a bucket says.
    pub(in crate::method) fn add(&mut self, bucket: &[u64]) -> Result<(), &'static str> {
        const UNKNOWN: &str = "a bucket of its path tables counts what there is not";
        let &[function, path, count, metric] = bucket else { return Err(UNKNOWN) };
        if count == 0 {
            return Ok(()); // Its key may be half written.
        }
        if function & ABANDONED != 0 {
            let value = (function & !(ABANDONED | AT_LANDING_PAD)) >> VALUE_SHIFT;
            let address = function & (ADDRESS_MASK | AT_LANDING_PAD);
            let value = u8::try_from(value).map_err(|_| UNKNOWN)?;
            let key = RegisterKey { address, value, register: path.cast_signed() };
            self.cut |= push(&mut self.registers, &mut self.distinct[0], (key, count.cast_signed()));
        } else if let Some(function) = function.checked_sub(1) {
            let function = FunctionId(u32::try_from(function).map_err(|_| UNKNOWN)?);
            let key = PathId { function, path: path.checked_sub(1).ok_or(UNKNOWN)? };
            self.cut |= push(&mut self.paths, &mut self.distinct[1], (key, count));
            if metric != 0 {
                self.cut |= push(&mut self.sums, &mut self.distinct[2], (key, metric));
            }
        }
        Ok(())
    }

    /// What they add up to, and whether some sum did not fit.
    pub(in crate::method) fn finish(self) -> (PathCounts, bool) {
        let (counts, counts_cut) = Sums::new(self.paths);
        let (sums, sums_cut) = Sums::new(self.sums);
        let (registers, registers_cut) = Sums::new(self.registers);
        let cut = self.cut | counts_cut | sums_cut | registers_cut;
        (PathCounts { counts, metric: self.metric, sums, registers }, cut)
    }
}

/// Adds an entry; now and then equal ones are added up. Did some sum not fit?
fn push<K: Copy + Ord, A: Amount>(entries: &mut Vec<(K, A)>, distinct: &mut usize, entry: (K, A)) -> bool {
    entries.push(entry);
    if entries.len() <= 2 * *distinct + SLACK {
        return false;
    }
    let cut = compact(entries);
    *distinct = entries.len();
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_taken_apart() {
        let mut buckets = Buckets { metric: PathMetric::Events, ..Buckets::default() };
        let abandoned = ABANDONED | AT_LANDING_PAD | 3 << VALUE_SHIFT | 0x1234;
        for _ in 0..2 {
            for bucket in [[0, 9, 9, 9], [8, 5, 2, 7], [8, 6, 0, 3], [1 << 40, 4, 0, 1], [abandoned, u64::MAX, 1, 0]] {
                buckets.add(&bucket).unwrap();
            }
        }
        assert!(buckets.add(&[1 << 40, 0, 1, 0]).is_err());
        assert!(buckets.add(&[ABANDONED | 1 << 60, 0, 1, 0]).is_err());
        assert!(buckets.add(&[1, 0, 1, 0]).is_err(), "no path has the key 0");
        let (PathCounts { counts, sums, registers, .. }, cut) = buckets.finish();
        assert_eq!(sums.entries(), [(PathId { function: FunctionId(7), path: 4 }, 14)]);
        assert_eq!(counts.entries(), [(PathId { function: FunctionId(7), path: 4 }, 4)]);
        let key = RegisterKey { address: AT_LANDING_PAD | 0x1234, value: 3, register: -1 };
        assert_eq!(registers.entries(), [(key, 2)]);
        assert!(!cut);
    }

    #[test]
    fn many_equal_buckets_take_little_memory() {
        let mut buckets = Buckets::default();
        for number in 0..1_000_000u64 {
            buckets.add(&[1, 1 + number % 100, 1, 0]).unwrap();
        }
        assert!(buckets.paths.capacity() < 4 * SLACK, "{}", buckets.paths.capacity());
        assert_eq!(buckets.finish().0.counts.entries()[99], (PathId { function: FunctionId(0), path: 99 }, 10_000));
    }
}
