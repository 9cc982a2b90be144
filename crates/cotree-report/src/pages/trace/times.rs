//! Times that a trace tells, of which the page gets some: each n-th, the last, and both ends of the longest pauses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most times that are kept as each n-th.
const MOST: usize = 4096;
/// The most pauses that are kept.
const MOST_PAUSES: usize = 512;

/// What the clock said, and the time then.
type Told = (u64, u64);

/// Keeps some of the times that are told.
#[derive(Debug)]
pub(super) struct Times {
    regular: Vec<Told>,
    /// Each `step`-th is kept of `count` so far.
    step: u64,
    count: u64,
    last: Option<Told>,
    /// How long pauses were, the shortest on top, and both ends of each.
    pauses: BinaryHeap<Reverse<(u64, Told, Told)>>,
}

impl Default for Times {
    fn default() -> Self {
        Self { regular: Vec::new(), step: 1, count: 0, last: None, pauses: BinaryHeap::new() }
    }
}

impl Times {
    pub(super) fn tell(&mut self, clock: u64, stamp: u64) {
        let told = (clock, stamp);
        if let Some(last) = self.last.replace(told) {
            self.pauses.push(Reverse((stamp.saturating_sub(last.1), last, told)));
            if self.pauses.len() > MOST_PAUSES {
                self.pauses.pop();
            }
        }
        if self.count.is_multiple_of(self.step) {
            self.regular.push(told);
        }
        self.count += 1;
        if self.regular.len() >= MOST {
            let every_other = self.regular.iter().step_by(2).copied().collect();
            self.regular = every_other;
            self.step *= 2;
        }
    }

    /// The times that are kept, in order.
    pub(super) fn finish(self) -> Vec<Told> {
        let ends = self.pauses.into_iter().flat_map(|Reverse((_, from, to))| [from, to]);
        let mut all: Vec<Told> = self.regular.into_iter().chain(ends).chain(self.last).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_and_long_pauses_are_kept() {
        for count in [1, 2, 4095, 4096, 4097, 100_000] {
            let mut times = Times::default();
            let stamp = |call: u64| call * 3 + if call >= count / 2 { 1_000_000 } else { 0 };
            (0..count).for_each(|call| times.tell(call * 10, stamp(call)));
            let kept = times.finish();
            assert!(kept.len() <= MOST + 2 * MOST_PAUSES + 1 && kept.is_sorted());
            assert_eq!(kept.first(), Some(&(0, stamp(0))));
            assert_eq!(kept.last(), Some(&((count - 1) * 10, stamp(count - 1))));
            let around: Vec<u64> = [count / 2, (count / 2).saturating_sub(1)].map(|call| call * 10).to_vec();
            assert!(around.iter().all(|clock| kept.iter().any(|told| told.0 == *clock)), "{count}");
        }
    }
}
