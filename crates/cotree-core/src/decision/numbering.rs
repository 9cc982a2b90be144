//! Numbers of test vectors: those that clang gives them since version 19.
//!
//! Each outcome of a condition has a number, and the sum along a path is that of the vector. Paths into a condition are
//! numbered as Ball and Larus do ([`crate::method::path`]), but from the first condition on: those that come by one
//! outcome follow those that come by another. What makes the decision shifts them behind those of other such outcomes,
//! which have been sorted: the one that most paths lead to comes first. (`TVIdxBuilder` of LLVM's coverage mapping.)

use super::structure::{Decision, Next, Vector};
use std::cmp::Reverse;

/// More vectors than that have no numbers.
const MOST: u64 = 1 << 31;

/// The numbers of a decision's vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// What each outcome of a condition, false and true, adds to the number.
    pub added: Vec<[u32; 2]>,
    /// How many vectors there are.
    pub vectors: u32,
    /// The outcomes that make the decision, by the number of their first vector: condition and outcome.
    last: Vec<(u32, u16, bool)>,
    /// Per condition, the outcomes that lead to it, by the number of their first path: condition and outcome.
    leading: Vec<Vec<(u32, u16, bool)>>,
}

impl Decision {
    /// Numbers the vectors. `None`: there are more than have numbers.
    #[must_use]
    pub fn numbering(&self) -> Option<Numbering> {
        let mut paths = vec![0u64; self.len()];
        let mut added = vec![[0u32; 2]; self.len()];
        let mut leading = vec![Vec::new(); self.len()];
        let mut ends = Vec::new();
        *paths.first_mut()? = 1;
        for &condition in &self.order {
            let here = paths[usize::from(condition)];
            for outcome in [false, true] {
                match self.next(condition, outcome) {
                    Next::Made(_) => ends.push((here, condition, outcome)),
                    Next::Condition(next) => {
                        let there = &mut paths[usize::from(next)];
                        let first = u32::try_from(*there).ok()?;
                        added[usize::from(condition)][usize::from(outcome)] = first;
                        leading[usize::from(next)].push((first, condition, outcome));
                        *there = there.checked_add(here).filter(|&paths| paths <= MOST)?;
                    }
                }
            }
        }
        ends.sort_by_key(|&(paths, ..)| Reverse(paths));
        let mut vectors = 0u64;
        let mut last = Vec::with_capacity(ends.len());
        for (paths, condition, outcome) in ends {
            let first = u32::try_from(vectors).ok()?;
            added[usize::from(condition)][usize::from(outcome)] = first;
            last.push((first, condition, outcome));
            vectors = vectors.checked_add(paths).filter(|&vectors| vectors <= MOST)?;
        }
        Some(Numbering { added, vectors: u32::try_from(vectors).ok()?, last, leading })
    }
}

impl Numbering {
    /// The last condition of a vector, with its outcome. `None`: there is no such vector.
    #[must_use]
    pub fn last(&self, number: u32) -> Option<(u16, bool)> {
        let (condition, outcome, _) = (number < self.vectors).then(|| part(&self.last, number))?;
        Some((condition, outcome))
    }

    /// The vector of a number.
    ///
    /// # Panics
    /// If there is no such vector, or the numbers are of another decision.
    #[must_use]
    pub fn vector(&self, decision: &Decision, number: u32) -> Vector {
        assert!(number < self.vectors, "a vector of the decision");
        let mut values = vec![None; decision.len()];
        let (mut condition, mut outcome, mut rest) = part(&self.last, number);
        let Next::Made(made) = decision.next(condition, outcome) else { unreachable!("it makes the decision") };
        loop {
            values[usize::from(condition)] = Some(outcome);
            if condition == 0 {
                return Vector { values, outcome: made };
            }
            (condition, outcome, rest) = part(&self.leading[usize::from(condition)], rest);
        }
    }
}

/// The outcome whose numbers hold this one, and what is left of it.
fn part(outcomes: &[(u32, u16, bool)], number: u32) -> (u16, bool, u32) {
    let (first, condition, outcome) = outcomes[outcomes.partition_point(|&(first, ..)| first <= number) - 1];
    (condition, outcome, number - first)
}
