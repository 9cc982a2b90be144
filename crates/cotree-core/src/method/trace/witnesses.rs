//! The choice of witnesses (Ball & Larus 1994, §4.2 and §6.2).

use super::segments::{Link, Node, Segments, Target};
use super::types::{Encoding, TraceError, TraceKey};
use super::witness_values::values;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::Edge;
use crate::weight::weighting::Weighting;

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
    let plain = Segments::new(function, cfg, &TraceKey { encoding: Encoding::Paths, ..key.clone() })?;
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
        let key = TraceKey { encoding: Encoding::Witnesses, witnesses: own, ..key.clone() };
        Segments::with_witnesses(function, cfg, &key)?.find_witness_sets()
    };
    if witnesses.len() <= MOST_WITNESSES {
        // The costliest first.
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
