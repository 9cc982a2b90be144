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
    let (mut good, mut bad) = (0, count - 1);
    // The last good commit before the first bad one that is known: where amounts go up and down, that is one change of
    // several.
    for commit in 1..bad {
        match known(commit) {
            Some(true) => bad = commit,
            Some(false) => good = commit,
            None => continue,
        }
        if bad == commit {
            break;
        }
    }
    let open = (good + 1..bad).filter(|&commit| state(commit).is_none());
    // The nearest to the middle; of two, the older one.
    let middle = good + (bad - good) / 2;
    let best = open.min_by_key(|&commit| (commit.abs_diff(middle), Reverse(commit > middle)));
    best.map_or(Step::Between { good, bad }, Step::Measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of numbers that look random (SplitMix64).
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[test]
    fn a_search_ends_between_a_good_and_a_bad_one() {
        let mut seed = 45;
        for turn in 0..20_000 {
            let count = 2 + (random(&mut seed) % 30) as usize;
            let first = 1 + random(&mut seed) as usize % (count - 1);
            let (noisy, skips) = (turn % 3 == 2, turn % 2 == 1);
            let truth: Vec<Option<bool>> = (0..count)
                .map(|commit| match commit {
                    0 => Some(false),
                    _ if commit == count - 1 => Some(true),
                    _ if skips && random(&mut seed) % 4 == 0 => None,
                    _ if noisy => Some(random(&mut seed) % 2 == 0),
                    _ => Some(commit >= first),
                })
                .collect();
            let mut looked_at = vec![false; count];
            (looked_at[0], looked_at[count - 1]) = (true, true);
            let (good, bad) = loop {
                match search(count, |commit| looked_at[commit].then(|| truth[commit])) {
                    Step::Measure(commit) => assert!(!std::mem::replace(&mut looked_at[commit], true)),
                    Step::Between { good, bad } => break (good, bad),
                }
            };
            assert_eq!((truth[good], truth[bad]), (Some(false), Some(true)));
            assert!((good + 1..bad).all(|commit| truth[commit].is_none()), "{truth:?}");
            if !noisy {
                assert!(good < first && bad >= first.min(count - 1), "{truth:?}");
            }
            if !skips && !noisy {
                assert_eq!(bad, first);
                let steps = looked_at.iter().filter(|looked_at| **looked_at).count() - 2;
                assert!(1 << steps <= 2 * count, "{steps} steps for {count} commits");
            }
        }
    }
}
