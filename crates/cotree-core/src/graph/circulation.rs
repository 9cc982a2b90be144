//! Random circulations, which tell what runs equally often in every execution.
//!
//! A *circulation* gives each link of a graph a number, such that at each node as much flows in as out. Counts of edges
//! are one, with an edge from EXIT to the entry. So an equation between sums of counts holds for all executions if it
//! holds for all circulations. It holds for all of them if it holds for one that is chosen at random, but for a chance
//! of about one in the range of the numbers (Schwartz 1980, Zippel 1979). Cycle equivalence is the case of two single
//! edges; here both sides may be sums and differences.

use super::flow::propagate;
use super::union_find::UnionFind;

/// A number per link, drawn from 2⁴⁸ where the choice is free: the same numbers for the same graph.
///
/// # Panics
/// Never: the links whose numbers follow from those of others form a forest.
#[must_use]
pub fn random_circulation(nodes: usize, links: &[(usize, usize)]) -> Vec<i128> {
    random_circulation_with(nodes, links, &vec![None; links.len()], 0).expect("without known numbers there is one")
}

/// A number per link, some of which are known. Another `draw` gives others where the choice is free. `None`: there is
/// no circulation with these numbers.
#[must_use]
pub fn random_circulation_with(
    nodes: usize,
    links: &[(usize, usize)],
    known: &[Option<i128>],
    draw: u64,
) -> Option<Vec<i128>> {
    let mut sets = UnionFind::new(nodes);
    let mut state = 0x9E37_79B9_7F4A_7C15u64.wrapping_add(draw);
    let mut free = |&(from, to): &(usize, usize)| {
        let number = next(&mut state) >> 16;
        (!sets.union(from, to)).then_some(i128::from(number))
    };
    let mut flow: Vec<Option<i128>> =
        links.iter().zip(known).map(|(link, known)| known.or_else(|| free(link))).collect();
    let holds = propagate(links, &mut flow, vec![0; nodes]).ok()?;
    holds.then(|| flow.into_iter().map(Option::unwrap_or_default).collect())
}

/// The next number of a sequence that looks random (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{random_circulation, random_circulation_with};

    /// `if (x) return; while (y) …;` has the blocks 0 to 4, and EXIT is 5.
    #[test]
    fn equations_that_always_hold_hold() {
        let links = [(0, 1), (0, 2), (1, 5), (2, 3), (3, 2), (2, 4), (4, 5), (5, 0)];
        let flow = random_circulation(6, &links);
        let [returned, stayed, _, body, back, left, ended, entered] = flow[..] else { panic!("eight links") };
        assert_eq!((stayed, body), (entered - returned, back));
        assert_eq!((left, ended), (stayed, stayed));
        for (one, other) in [(returned, stayed), (body, stayed), (entered, stayed), (stayed, 0), (body, 0)] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn what_is_known_is_kept_and_the_rest_is_drawn() {
        let links = [(0, 1), (0, 1), (1, 2), (1, 2), (2, 0)];
        let known = [Some(3), None, None, None, Some(10)];
        let draw = |number| random_circulation_with(3, &links, &known, number).expect("there are some");
        let (one, other) = (draw(1), draw(2));
        assert_eq!((one[0], one[1], one[4], one[2] + one[3]), (3, 7, 10, 10));
        assert_eq!(one[1], other[1], "it follows from what is known");
        assert_ne!(one[2], other[2], "it does not");
        assert_eq!(random_circulation_with(2, &[(0, 1), (1, 0)], &[Some(1), Some(2)], 0), None);
    }

    #[test]
    fn what_leads_nowhere_has_no_flow() {
        assert_eq!(random_circulation(3, &[(0, 1), (1, 2)]), [0, 0]);
        assert_eq!(random_circulation(1, &[]), []);
    }
}
