//! The summary of a profile: from which count on code is hot, and up to which it is cold.
//!
//! Counts are sorted, greatest first. The *cutoff* at a share is the count at which the counts before it, and itself,
//! add up to that share of all. Code is *hot* from the cutoff at 99 % on, and *cold* up to the one at 99.9999 %. Shares
//! and thresholds are those of LLVM's `ProfileSummaryBuilder` and `ProfileSummaryInfo`; counts are those of blocks,
//! which the thresholds are compared with.

use crate::profile::FunctionProfile;

/// The shares at which LLVM wants cutoffs, in millionths.
const SHARES: [u32; 16] = [
    10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 950_000, 990_000, 999_000,
    999_900, 999_990, 999_999,
];

/// The share of all counts that hot code has.
const HOT: u32 = 990_000;

/// The share of all counts that code has which is not cold.
const NOT_COLD: u32 = 999_999;

/// The summary of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileSummary {
    /// The sum of all counts of blocks.
    pub total: u64,
    /// The greatest count of a block.
    pub most: u64,
    /// The greatest count of a block that is no entry.
    pub most_inside: u64,
    /// The greatest count of an entry.
    pub most_entries: u64,
    /// How many blocks there are.
    pub blocks: u64,
    /// How many functions there are.
    pub functions: u64,
    /// The cutoffs, by rising shares. None if nothing ran.
    pub cutoffs: Vec<Cutoff>,
}

/// Where the greatest counts add up to a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The share, in millionths.
    pub share: u32,
    /// The least of these counts.
    pub count: u64,
    /// How many blocks have such a count or a greater one.
    pub blocks: u32,
}

impl ProfileSummary {
    /// The summary of these functions. The first block of a function is its entry.
    pub fn of<'a>(functions: impl IntoIterator<Item = &'a FunctionProfile>) -> Self {
        let mut summary = Self::default();
        let mut counts = Vec::new();
        for function in functions {
            summary.functions += 1;
            summary.most_entries = summary.most_entries.max(function.blocks.first().copied().unwrap_or(0));
            let inside = function.blocks.iter().skip(1).copied().max().unwrap_or(0);
            summary.most_inside = summary.most_inside.max(inside);
            counts.extend_from_slice(&function.blocks);
        }
        counts.sort_unstable_by(|one, other| other.cmp(one));
        summary.blocks = counts.len() as u64;
        summary.most = counts.first().copied().unwrap_or(0);
        // Counts of a hostile file may add up to anything.
        let all: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        summary.total = u64::try_from(all).unwrap_or(u64::MAX);
        if all > 0 {
            summary.cutoffs = cutoffs(&counts, all);
        }
        summary
    }

    /// The least count of hot code; none if nothing ran.
    #[must_use]
    pub fn hot(&self) -> Option<u64> {
        self.cutoff(HOT)
    }

    /// The greatest count of cold code; none if nothing ran.
    #[must_use]
    pub fn cold(&self) -> Option<u64> {
        self.cutoff(NOT_COLD)
    }

    fn cutoff(&self, share: u32) -> Option<u64> {
        self.cutoffs.iter().find(|cutoff| cutoff.share == share).map(|cutoff| cutoff.count)
    }
}

/// The cutoffs of counts that fall and add up to `all`.
fn cutoffs(counts: &[u64], all: u128) -> Vec<Cutoff> {
    let (mut sum, mut seen) = (0_u128, 0);
    let cutoff = |&share: &u32| {
        let wanted = (all / 1_000_000) * u128::from(share) + (all % 1_000_000) * u128::from(share) / 1_000_000;
        while let Some(&count) = counts.get(seen) {
            // All equal counts are on one side.
            if sum >= wanted && seen > 0 && counts[seen - 1] != count {
                break;
            }
            sum += u128::from(count);
            seen += 1;
        }
        let count = seen.checked_sub(1).map_or(0, |last| counts[last]);
        Cutoff { share, count, blocks: u32::try_from(seen).unwrap_or(u32::MAX) }
    };
    SHARES.iter().map(cutoff).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(blocks: &[u64]) -> FunctionProfile {
        FunctionProfile { blocks: blocks.to_vec().into(), ..FunctionProfile::default() }
    }

    #[test]
    fn hot_code_has_nearly_all_of_the_counts() {
        let functions = [function(&[10, 980_000, 10, 0]), function(&[9_990, 9_990, 0]), function(&[0])];
        let summary = ProfileSummary::of(&functions);
        assert_eq!((summary.total, summary.most, summary.most_inside), (1_000_000, 980_000, 980_000));
        assert_eq!((summary.most_entries, summary.blocks, summary.functions), (9_990, 8, 3));
        assert_eq!(summary.hot(), Some(9_990));
        assert_eq!(summary.cold(), Some(10));
        let half = summary.cutoffs.iter().find(|cutoff| cutoff.share == 500_000);
        assert_eq!(half, Some(&Cutoff { share: 500_000, count: 980_000, blocks: 1 }));
        let hot = summary.cutoffs.iter().find(|cutoff| cutoff.share == HOT);
        assert_eq!(hot.map(|cutoff| cutoff.blocks), Some(3), "both that ran 9,990 times");
    }

    #[test]
    fn nothing_is_hot_or_cold_where_nothing_ran() {
        for functions in [vec![], vec![function(&[0, 0])], vec![function(&[])]] {
            let summary = ProfileSummary::of(&functions);
            assert_eq!((summary.total, summary.hot(), summary.cold()), (0, None, None));
        }
    }

    #[test]
    fn sums_past_64_bits_are_cut() {
        let summary = ProfileSummary::of(&[function(&[u64::MAX, u64::MAX, 1])]);
        assert_eq!((summary.total, summary.hot()), (u64::MAX, Some(u64::MAX)));
    }
}
