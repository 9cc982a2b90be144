//! Which commit to look at next, and between which two the change is.

use std::cmp::Reverse;

/// What is known of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This commit must be looked at.
    Measure(usize),
    /// The change is behind the last good commit, and not behind the first bad one; of commits between them it can't be
    /// known.
    Between {
        /// The good one.
        good: usize,
        /// The bad one.
        bad: usize,
    },
}

/// Searches commits of which the first is good and the last one bad. `state` says of a commit whether it was looked at,
/// and then whether it is bad, if that can be known.
pub fn search(count: usize, state: impl Fn(usize) -> Option<Option<bool>>) -> Step {
    let known = |commit: usize| state(commit).flatten();
    // The last good commit before the first bad one that is known: where amounts go up and down, that is one change of
    // several.
    let bad = (1..count - 1).find(|&commit| known(commit) == Some(true)).unwrap_or(count - 1);
    let good = (1..bad).rev().find(|&commit| known(commit) == Some(false)).unwrap_or(0);
    let open = (good + 1..bad).filter(|&commit| state(commit).is_none());
    // The nearest to the middle; of two, the older one.
    let middle = good + (bad - good) / 2;
    let best = open.min_by_key(|&commit| (commit.abs_diff(middle), Reverse(commit > middle)));
    best.map_or(Step::Between { good, bad }, Step::Measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Searches commits of which the states are known; gives how many were looked at, and the result.
    fn searched(states: &[Option<bool>]) -> Result<(usize, usize, usize), TestCaseError> {
        let last = states.len() - 1;
        let mut looked_at = vec![false; states.len()];
        (looked_at[0], looked_at[last]) = (true, true);
        for count in 0.. {
            match search(states.len(), |commit| looked_at[commit].then(|| states[commit])) {
                Step::Measure(commit) => prop_assert!(!std::mem::replace(&mut looked_at[commit], true)),
                Step::Between { good, bad } => return Ok((count, good, bad)),
            }
        }
        unreachable!("it ends")
    }

    proptest! {
        /// Whatever amounts do, the result is a good commit, a bad one, and between them only what can't be known.
        #[test]
        fn a_search_ends_between_a_good_and_a_bad_one(
            mut states in prop::collection::vec(prop::option::weighted(0.8, any::<bool>()), 2..40),
        ) {
            let last = states.len() - 1;
            (states[0], states[last]) = (Some(false), Some(true));
            let (_, good, bad) = searched(&states)?;
            prop_assert_eq!((states[good], states[bad]), (Some(false), Some(true)));
            prop_assert!((good + 1..bad).all(|commit| states[commit].is_none()));
        }

        /// Where one commit makes the benchmark dearer it is found, by as few steps as halving takes.
        #[test]
        fn one_change_is_found_by_halving(count in 2..200_usize, first in any::<prop::sample::Index>()) {
            let first = 1 + first.index(count - 1);
            let states: Vec<_> = (0..count).map(|commit| Some(commit >= first)).collect();
            let (steps, good, bad) = searched(&states)?;
            prop_assert_eq!((good, bad), (first - 1, first));
            prop_assert!(1 << steps <= 2 * count, "{} steps", steps);
        }

        /// Commits that can't be measured hide the change only where they stand beside it.
        #[test]
        fn what_is_unknown_widens_the_result(
            unknown in prop::collection::vec(any::<bool>(), 2..60),
            first in any::<prop::sample::Index>(),
        ) {
            let last = unknown.len() - 1;
            let first = 1 + first.index(last);
            let is_known = |commit: usize| commit == 0 || commit == last || !unknown[commit];
            let states: Vec<_> =
                (0..=last).map(|commit| is_known(commit).then_some(commit >= first)).collect();
            let (_, good, bad) = searched(&states)?;
            prop_assert_eq!(good, (0..first).rev().find(|&commit| is_known(commit)).expect("the first one is good"));
            prop_assert_eq!(bad, (first..=last).find(|&commit| is_known(commit)).expect("the last one is bad"));
        }
    }
}
