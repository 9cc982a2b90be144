//! The sets of witnesses that may come next on each way on from a predicate (Ball & Larus 1994, §4.1).
//!
//! `witness(p, q)` holds the value of the witness on `p → q`, or else what may come first behind `q`: a witness, or the
//! segment's end. The ways on from *p* can be told apart if their sets are disjoint.

use super::segments::{Link, Node, Segments, Target};
use super::types::{TraceError, TraceKey, Way};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::Edge;
use crate::weight::weighting::Weighting;
use std::collections::BTreeSet;

/// What may come next: a witness, or the segment's end.
type Next = Option<u64>;

/// The sets of all sets together may have so many members: larger functions are traced in other ways.
const MOST_MEMBERS: usize = 1 << 20;

/// The sets of a function's undecided nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct WitnessSets {
    /// Per node, what may come next and the place of the link that it then goes along, in order.
    nodes: Vec<Vec<(Next, u32)>>,
    bits: u8,
}

impl WitnessSets {
    /// Finds the sets of links that have their witnesses.
    pub fn new(segments: &Segments) -> Result<Self, TraceError> {
        let mut nodes = vec![Vec::new(); segments.nodes.len()];
        let (mut members, mut bits) = (0, 0);
        for &node in segments.order().iter().rev() {
            let mut set: Vec<(Next, u32)> = Vec::new();
            for (place, link) in (0..).zip(segments.links(node)) {
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
            if segments.links(node).is_empty() {
                set.push((None, 0));
            }
            set.sort_unstable();
            // Two links with the same witness are ambiguous; one link is never.
            if set.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                return Err(TraceError::Ambiguous);
            }
            members += set.len();
            if members > MOST_MEMBERS {
                return Err(TraceError::TooManyWays);
            }
            nodes[node] = set;
        }
        Ok(Self { nodes, bits })
    }

    /// How many bits a witness has.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// The link that leads to what comes next.
    pub fn choose(&self, segments: &Segments, node: Node, next: Next) -> Option<Link> {
        let set = &self.nodes[node];
        let found = set.binary_search_by_key(&next, |member| member.0).ok()?;
        segments.links(node).get(set[found].1 as usize).copied()
    }
}

/// Functions with so many witnesses are not looked at for needless ones, nor are their values reused.
const MOST_WITNESSES: usize = 64;

/// Chooses the witnesses of a function and their values, in order. All ends of segments are one vertex: that a token
/// ends there is part of the token. Witnesses are then on the links that are off a maximum spanning tree (§4.2); those
/// that are not needed are left out, and a value is used again where no predicate has to tell the two apart (§6.2).
pub(super) fn choose(
    function: &Function,
    cfg: &Cfg,
    key: &TraceKey,
    weighting: &Weighting,
) -> Result<Vec<(Edge, u32)>, TraceError> {
    let plain = Segments::new(function, cfg, &TraceKey { way: Way::Paths, ..key.clone() })?;
    let end = plain.nodes.len();
    let mut trees = UnionFind::new(end + 1);
    let head = |link: &Link| if let Target::Node(to) = link.target { to } else { end };
    let mut others: Vec<(Node, Link)> = Vec::new();
    for node in 0..end {
        match plain.links(node) {
            [] => drop(trees.union(node, end)),
            [only] => drop(trees.union(node, head(only))),
            links => others.extend(links.iter().map(|&link| (node, link))),
        }
    }
    others
        .sort_by(|(_, a), (_, b)| weighting.edge(b.edge).total_cmp(&weighting.edge(a.edge)).then(a.edge.cmp(&b.edge)));
    let mut witnesses: Vec<Edge> = Vec::new();
    for (node, link) in others {
        if !trees.union(node, head(&link)) {
            witnesses.push(link.edge);
        }
    }
    let sets = |witnesses: &[Edge]| {
        let mut own: Vec<(Edge, u32)> = (0..).zip(witnesses).map(|(value, &edge)| (edge, value)).collect();
        own.sort_unstable();
        let key = TraceKey { way: Way::Witnesses, witnesses: own, ..key.clone() };
        WitnessSets::new(&Segments::with_witnesses(function, cfg, &key)?)
    };
    if witnesses.len() <= MOST_WITNESSES {
        // The dearest first.
        let mut place = 0;
        while let Some(&edge) = witnesses.get(place) {
            let rest: Vec<Edge> = witnesses.iter().copied().filter(|&other| other != edge).collect();
            if sets(&rest).is_ok() {
                witnesses = rest;
            } else {
                place += 1;
            }
        }
    }
    let values = if witnesses.len() <= MOST_WITNESSES {
        values(witnesses.len(), &sets(&witnesses)?)
    } else {
        (0..witnesses.len() as u32).collect()
    };
    let mut valued: Vec<(Edge, u32)> = witnesses.into_iter().zip(values).collect();
    valued.sort_unstable();
    Ok(valued)
}

/// A value for each witness, by its number in the sets: the smallest that none has with which it may be confused.
fn values(count: usize, sets: &WitnessSets) -> Vec<u32> {
    let mut confused = vec![BTreeSet::new(); count];
    for set in &sets.nodes {
        for &(a, along) in set {
            for &(b, other) in set {
                if let (Some(a), Some(b)) = (a, b)
                    && along != other
                {
                    confused[a as usize].insert(b as usize);
                }
            }
        }
    }
    let mut values: Vec<u32> = Vec::with_capacity(count);
    for confused in &confused {
        let taken: BTreeSet<u32> = confused.iter().filter_map(|&other| values.get(other).copied()).collect();
        let free = (0..).find(|value| !taken.contains(value));
        values.push(free.unwrap_or_default());
    }
    values
}
