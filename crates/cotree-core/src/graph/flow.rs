//! Kirchhoff's law: the counts that are not measured follow from those that are (Ball & Larus 1994, §3.2, Fig. 6).
//!
//! A network has nodes and directed links. At each node, inflow plus a known surplus equals outflow. If the links of
//! unknown flow form a forest, their flows are unique. A leaf of the forest has one unknown link, and the law at its
//! node gives that link's flow; then the link is known, and so on. The paper walks the tree depth-first. We peel leaves
//! off a work list, which needs no stack and handles forests like trees.
//!
//! Flows are signed. The paper computes `max(in, out) − min(in, out)` and so hides negative flows. We keep the sign of
//! the difference, so callers can see that no execution has such a count.

/// The unknown links contain a cycle: the measured ones don't determine them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Underdetermined;

/// Finds the unknown flows, and says whether the law holds at every node in the end.
///
/// `links` are pairs of nodes (from, to), `flow` has one entry per link, and `surplus` is what each node receives
/// other than by links (negative: what it loses).
///
/// # Errors
/// [`Underdetermined`]; `flow` then holds the flows that could be found.
pub fn propagate(
    links: &[(usize, usize)],
    flow: &mut [Option<i128>],
    surplus: Vec<i128>,
) -> Result<bool, Underdetermined> {
    /// The unknown links at one node: how many, and the exclusive-or of their numbers, which is the number of the last
    /// one when only one is left. (A self-loop counts twice and cancels itself: it is never peeled.)
    #[derive(Clone, Copy, Default)]
    struct Unknown {
        degree: u32,
        xor: usize,
    }

    let mut excess = surplus;
    let mut unknown = vec![Unknown::default(); excess.len()];
    let mut left = 0usize;
    for (i, &(from, to)) in links.iter().enumerate() {
        if let Some(known) = flow[i] {
            excess[from] -= known;
            excess[to] += known;
        } else {
            left += 1;
            for node in [from, to] {
                unknown[node].degree += 1;
                unknown[node].xor ^= i;
            }
        }
    }

    let mut leaves: Vec<usize> = (0..unknown.len()).filter(|&n| unknown[n].degree == 1).collect();
    while let Some(leaf) = leaves.pop() {
        if unknown[leaf].degree != 1 {
            continue; // Its last link was found from the other end.
        }
        let link = unknown[leaf].xor;
        let (from, to) = links[link];
        let found = if leaf == from { excess[from] } else { -excess[to] };
        flow[link] = Some(found);
        left -= 1;
        excess[from] -= found;
        excess[to] += found;
        for node in [from, to] {
            unknown[node].degree -= 1;
            unknown[node].xor ^= link;
            if unknown[node].degree == 1 {
                leaves.push(node);
            }
        }
    }
    if left == 0 { Ok(excess.iter().all(|&e| e == 0)) } else { Err(Underdetermined) }
}

#[cfg(test)]
mod tests {
    use super::{Underdetermined, propagate};

    /// 0→1, 0→2, 1→3, 2→3, 3→0: a diamond with its return edge.
    const DIAMOND: [(usize, usize); 5] = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)];

    #[test]
    fn two_measured_edges_of_a_diamond_give_all() {
        let mut flow = [Some(3), Some(4), None, None, None];
        assert_eq!(propagate(&DIAMOND, &mut flow, vec![0; 4]), Ok(true));
        assert_eq!(flow, [Some(3), Some(4), Some(3), Some(4), Some(7)]);
    }

    #[test]
    fn a_surplus_is_known_flow() {
        let mut flow = [Some(3), Some(4), None, None, None];
        assert_eq!(propagate(&DIAMOND, &mut flow, vec![0, -1, 0, 1]), Ok(true));
        assert_eq!(flow, [Some(3), Some(4), Some(2), Some(4), Some(7)]);
    }

    #[test]
    fn negative_flow_keeps_its_sign() {
        let mut flow = [Some(3), Some(4), None, None, None];
        assert_eq!(propagate(&DIAMOND, &mut flow, vec![0, -5, 0, 5]), Ok(true));
        assert_eq!(flow[2], Some(-2), "Fig. 6 as printed would say 2");
    }

    #[test]
    fn contradictory_measurements_are_reported() {
        let mut flow = [Some(3), Some(4), Some(2), None, None];
        assert_eq!(propagate(&DIAMOND, &mut flow, vec![0; 4]), Ok(false));
    }

    #[test]
    fn unknown_cycles_and_self_loops_are_refused() {
        let mut flow = [None, None, None, None, Some(7)];
        assert_eq!(propagate(&DIAMOND, &mut flow, vec![0; 4]), Err(Underdetermined));
        let mut flow = [Some(1), None];
        assert_eq!(propagate(&[(0, 1), (1, 1)], &mut flow, vec![-1, 1]), Err(Underdetermined));
    }
}
