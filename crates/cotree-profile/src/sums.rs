//! Sums by key, sorted, each key once, so that any number of profiles is merged like sorted lists.

/// A sum that is kept by key.
pub trait Amount: Copy + PartialEq {
    /// `self + other × weight`, saturated, and whether it saturated.
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

/// Sums by rising key, none zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<K, A>(Vec<(K, A)>);

impl<K, A> Default for Sums<K, A> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Copy + Ord, A: Amount> Sums<K, A> {
    /// Adds up entries in any order. Also returns whether some sum did not fit.
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
pub(crate) fn compact<K: Copy + Ord, A: Amount>(entries: &mut Vec<(K, A)>) -> bool {
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
    fn what_does_not_fit_is_cut() {
        let full: Sums<u64, u64> = Sums::new(vec![(1, u64::MAX)]).0;
        let mut sum = full.clone();
        assert!(sum.add(&full, 1));
        assert_eq!(sum, full);
        assert!(Sums::<u64, i64>::new(vec![(1, i64::MIN), (1, -1)]).1);
    }
}
