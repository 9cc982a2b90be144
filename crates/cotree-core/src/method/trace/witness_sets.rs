//! The sets of witnesses that may come next along each edge out of a predicate (Ball & Larus 1994, §4.1).
//!
//! `witness(p, q)` holds the value of the witness on `p → q`, or else what may come first behind `q`: a witness, or the
//! segment's end. The edges out of *p* can be told apart if their sets are disjoint.

use super::links::{Link, Node, Target};
use super::types::TraceError;
use std::collections::BTreeSet;

/// What may come next: a witness, or the segment's end.
pub(super) type Next = Option<u64>;

/// All sets of a function together have at most this many members: larger functions get another encoding.
const MOST_MEMBERS: usize = 1 << 20;

/// The sets of a function's undecided nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct WitnessSets {
    /// Per node, what may come next and the place of the link that it then goes along, in order.
    pub nodes: Vec<Vec<(Next, u32)>>,
    bits: u8,
}

impl WitnessSets {
    /// Finds the sets of links that have their witnesses; `order` has each node before those that it links to.
    pub fn new<'a>(order: &[Node], links: impl Fn(Node) -> &'a [Link]) -> Result<Self, TraceError> {
        let mut nodes = vec![Vec::new(); order.len()];
        let (mut members, mut bits) = (0, 0);
        for &node in order.iter().rev() {
            let mut set: Vec<(Next, u32)> = Vec::new();
            for (place, link) in (0..).zip(links(node)) {
                bits = bits.max(link.bits);
                match link.target {
                    _ if link.bits > 0 => set.push((Some(link.value), place)),
                    Target::Node(to) => {
                        let behind: BTreeSet<Next> = nodes[to].iter().map(|&(next, _): &(Next, u32)| next).collect();
                        set.extend(behind.into_iter().map(|next| (next, place)));
                    }
                    _ => set.push((None, place)),
                }
            }
            if links(node).is_empty() {
                set.push((None, 0));
            }
            set.sort_unstable();
            // Two links with the same witness are ambiguous; one link is never.
            if set.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(TraceError::Ambiguous);
            }
            members += set.len();
            if members > MOST_MEMBERS {
                return Err(TraceError::TooManyPaths);
            }
            nodes[node] = set;
        }
        Ok(Self { nodes, bits })
    }

    /// How many bits a witness has.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// The link, of those of a node, that leads to what comes next.
    pub fn choose(&self, links: &[Link], node: Node, next: Next) -> Option<Link> {
        let set = &self.nodes[node];
        let found = set.binary_search_by_key(&next, |member| member.0).ok()?;
        links.get(set[found].1 as usize).copied()
    }
}
