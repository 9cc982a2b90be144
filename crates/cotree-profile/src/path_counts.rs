//! Counts of hash tables of paths, and of activations that were abandoned with their path register.
//!
//! The runtime's buckets come in no order and a key may be in several of them. Here they are sorted by key, each once: so
//! profiles are merged as sorted lists are, whatever their number.

use cotree_rt::layout::{ABANDONED, ADDRESS_MASK, LANDED, VALUE_SHIFT};

/// A sum that is kept by key.
pub trait Amount: Copy + PartialEq {
    /// `self + other × weight`; what does not fit is cut, and `true` comes with it.
    #[must_use]
    fn plus(self, other: Self, weight: u64) -> (Self, bool);
    /// Nothing.
    const ZERO: Self;
}

impl Amount for u64 {
    fn plus(self, other: Self, weight: u64) -> (Self, bool) {
        other.checked_mul(weight).and_then(|n| n.checked_add(self)).map_or((Self::MAX, true), |sum| (sum, false))
    }
    const ZERO: Self = 0;
}

impl Amount for i64 {
    fn plus(self, other: Self, weight: u64) -> (Self, bool) {
        let exact = i128::from(self) + i128::from(other) * i128::from(weight);
        Self::try_from(exact).map_or((if exact < 0 { Self::MIN } else { Self::MAX }, true), |sum| (sum, false))
    }
    const ZERO: Self = 0;
}

/// One path of one function, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathKey {
    /// The function, in the order of [`cotree_core::facts::ProgramMap::functions`].
    pub function: u32,
    /// The path.
    pub path: u64,
}

/// A path register that was found when an activation was abandoned, or came to life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterKey {
    /// As in the table of early exits: a return address, perhaps with [`LANDED`].
    pub address: u64,
    /// Which of the registers that can be found at that address.
    pub value: u8,
    /// What was in it.
    pub register: i64,
}

/// Sums by rising key, none zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<K, A>(Vec<(K, A)>);

impl<K, A> Default for Sums<K, A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Ord, A: Amount> Sums<K, A> {
    /// From entries in any order. With it comes whether some sum did not fit.
    #[must_use]
    pub fn new(mut entries: Vec<(K, A)>) -> (Self, bool) {
        let cut = compact(&mut entries);
        (Self(entries), cut)
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &[(K, A)] {
        &self.0
    }

    /// The entries from one key up to another, both included.
    #[must_use]
    pub fn between(&self, from: K, to: K) -> &[(K, A)] {
        let end = self.0.partition_point(|entry| entry.0 <= to);
        let start = self.0.partition_point(|entry| entry.0 < from).min(end);
        &self.0[start..end]
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    pub fn add(&mut self, other: &Self, weight: u64) -> bool {
        if other.0.is_empty() {
            return false;
        }
        let mut cut = false;
        let mine = std::mem::take(&mut self.0);
        self.0.reserve_exact(mine.len().max(other.0.len()));
        let (mut mine, mut others) = (mine.into_iter().peekable(), other.0.iter().copied().peekable());
        loop {
            let first = match (mine.peek(), others.peek()) {
                (None, None) => break,
                (Some(a), None) => a.0,
                (None, Some(b)) => b.0,
                (Some(a), Some(b)) => a.0.min(b.0),
            };
            let known = mine.next_if(|entry| entry.0 == first).map_or(A::ZERO, |entry| entry.1);
            let sum = match others.next_if(|entry| entry.0 == first) {
                Some((_, more)) => {
                    let (sum, over) = known.plus(more, weight);
                    cut |= over;
                    sum
                }
                None => known,
            };
            if sum != A::ZERO {
                self.0.push((first, sum));
            }
        }
        cut
    }
}

/// Sorts entries and adds up those of one key. Did some sum not fit?
fn compact<K: Copy + Ord, A: Amount>(entries: &mut Vec<(K, A)>) -> bool {
    entries.sort_unstable_by_key(|entry| entry.0);
    let mut cut = false;
    entries.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            let (sum, over) = earlier.1.plus(later.1, 1);
            earlier.1 = sum;
            cut |= over;
        }
        same
    });
    entries.retain(|entry| entry.1 != A::ZERO);
    cut
}

/// How often each path was counted in hash tables.
pub type PathCounts = Sums<PathKey, u64>;
/// Activations abandoned with their registers, less those revived.
pub type RegisterCounts = Sums<RegisterKey, i64>;

/// Takes buckets as they come; memory grows with their keys, not with their number.
#[derive(Default)]
pub(crate) struct Buckets {
    paths: Vec<(PathKey, u64)>,
    sums: Vec<(PathKey, u64)>,
    registers: Vec<(RegisterKey, i64)>,
    /// As many entries as were left when they were last compacted.
    distinct: [usize; 3],
    cut: bool,
    /// What stands for path 0.
    first: u64,
}

/// Entries that may come before it is worth looking for equal ones.
const SLACK: usize = 1 << 16;

impl Buckets {
    /// Of a raw profile of that version.
    pub(crate) fn new(version: u32) -> Self {
        Self { first: u64::from(version >= 4), ..Self::default() }
    }

    /// Adds what a bucket says.
    pub(crate) fn add(&mut self, [function, path, count, metric]: [u64; 4]) -> Result<(), &'static str> {
        const UNKNOWN: &str = "a bucket of its path tables counts what there is not";
        if count == 0 {
            return Ok(()); // Its key may be half written.
        }
        if function & ABANDONED != 0 {
            let value = (function & !(ABANDONED | LANDED)) >> VALUE_SHIFT;
            let address = function & (ADDRESS_MASK | LANDED);
            let value = u8::try_from(value).map_err(|_| UNKNOWN)?;
            let key = RegisterKey { address, value, register: path.cast_signed() };
            self.cut |= push(&mut self.registers, &mut self.distinct[0], (key, count.cast_signed()));
        } else if let Some(function) = function.checked_sub(1) {
            let function = u32::try_from(function).map_err(|_| UNKNOWN)?;
            let key = PathKey { function, path: path.checked_sub(self.first).ok_or(UNKNOWN)? };
            self.cut |= push(&mut self.paths, &mut self.distinct[1], (key, count));
            if metric != 0 {
                self.cut |= push(&mut self.sums, &mut self.distinct[2], (key, metric));
            }
        }
        Ok(())
    }

    /// What they add up to: paths, what is added up along them, registers; and whether some sum did not fit.
    pub(crate) fn finish(self) -> (PathCounts, PathCounts, RegisterCounts, bool) {
        let (paths, paths_cut) = Sums::new(self.paths);
        let (sums, sums_cut) = Sums::new(self.sums);
        let (registers, registers_cut) = Sums::new(self.registers);
        (paths, sums, registers, self.cut | paths_cut | sums_cut | registers_cut)
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
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(files in prop::collection::vec((prop::collection::vec((0u64..9, -9i64..9), 0..20), 1u64..4), 0..5)) {
            let mut sums: Sums<u64, i64> = Sums::default();
            let mut truth: BTreeMap<u64, i64> = BTreeMap::new();
            for (entries, weight) in files {
                for (key, amount) in &entries {
                    *truth.entry(*key).or_default() += amount * weight.cast_signed();
                }
                prop_assert!(!sums.add(&Sums::new(entries).0, weight));
            }
            truth.retain(|_, sum| *sum != 0);
            prop_assert_eq!(sums.entries(), truth.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(sums.between(2, 5), truth.range(2..=5).map(|(&k, &a)| (k, a)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn buckets_are_taken_apart() {
        let mut buckets = Buckets::default();
        let abandoned = ABANDONED | LANDED | 3 << VALUE_SHIFT | 0x1234;
        for _ in 0..2 {
            for bucket in [[0, 9, 9, 9], [8, 5, 2, 7], [8, 6, 0, 3], [1 << 40, 4, 0, 1], [abandoned, u64::MAX, 1, 0]] {
                buckets.add(bucket).unwrap();
            }
        }
        assert!(buckets.add([1 << 40, 0, 1, 0]).is_err());
        assert!(buckets.add([ABANDONED | 1 << 60, 0, 1, 0]).is_err());
        let (paths, sums, registers, cut) = buckets.finish();
        assert_eq!(sums.entries(), [(PathKey { function: 7, path: 5 }, 14)]);
        assert_eq!(paths.entries(), [(PathKey { function: 7, path: 5 }, 4)]);
        let key = RegisterKey { address: LANDED | 0x1234, value: 3, register: -1 };
        assert_eq!(registers.entries(), [(key, 2)]);
        assert!(!cut);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let full: Sums<u64, u64> = Sums::new(vec![(1, u64::MAX)]).0;
        let mut sum = full.clone();
        assert!(sum.add(&full, 1));
        assert_eq!(sum, full);
        assert!(Sums::<u64, i64>::new(vec![(1, i64::MIN), (1, -1)]).1);
    }

    #[test]
    fn many_equal_buckets_take_little_memory() {
        let mut buckets = Buckets::default();
        for number in 0..1_000_000u64 {
            buckets.add([1, number % 100, 1, 0]).unwrap();
        }
        assert!(buckets.paths.capacity() < 4 * SLACK, "{}", buckets.paths.capacity());
        assert_eq!(buckets.finish().0.entries()[99], (PathKey { function: 0, path: 99 }, 10_000));
    }
}
