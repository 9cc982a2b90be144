//! Where segments are cut, so that none has a cycle, and none has too many paths.
//!
//! Only loops without a call that ends a segment go round. They are the strongly connected components of the nodes, and
//! retreating edges of a depth-first search over the whole graph cut them.

use super::segments::{Link, Segments, Target};
use super::types::{TraceError, TraceKey};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::strong;
use crate::ids::Edge;
use crate::weight::weighting::Weighting;
use std::collections::BTreeMap;

/// A loop without a call that ends a segment, and all loops within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cycle {
    /// Edges that together cut it, in order.
    pub cuts: Vec<Edge>,
    /// Edges into it and out of it, from and to other nodes of the function.
    pub boundary: Vec<Edge>,
}

/// The loops that have to be cut, so that no segment goes round.
pub(super) fn cycles(function: &Function, cfg: &Cfg, key: &TraceKey) -> Result<Vec<Cycle>, TraceError> {
    let uncut = Segments::uncut(function, cfg, &TraceKey { cuts: Vec::new(), ..key.clone() })?;
    let component = components(&uncut);
    let dfs = Dfs::new(cfg);
    let mut cycles: BTreeMap<u32, Cycle> = BTreeMap::new();
    let mut between = Vec::new();
    for node in 0..uncut.nodes.len() {
        let from = uncut.nodes[node].block;
        for link in uncut.links(node) {
            let Target::Node(to) = link.target else { continue };
            if component[to] != component[node] {
                between.push((link.edge, [component[node], component[to]]));
            } else if dfs.is_backedge(link.edge) || !dfs.is_reached(from) {
                cycles.entry(component[to]).or_default().cuts.push(link.edge);
            }
        }
    }
    for (edge, ends) in between {
        for end in ends {
            if let Some(cycle) = cycles.get_mut(&end) {
                cycle.boundary.push(edge);
            }
        }
    }
    let mut cycles: Vec<Cycle> = cycles.into_values().collect();
    cycles.iter_mut().for_each(|cycle| cycle.cuts.sort_unstable());
    Ok(cycles)
}

/// Per node, the strongly connected component that it is in.
fn components(segments: &Segments) -> Vec<u32> {
    strong::components(segments.nodes.len(), |node, link| {
        let link = segments.links(node).get(link)?;
        Some(if let Target::Node(to) = link.target { Some(to) } else { None })
    })
}

/// The edges that have to be cut besides, in order, so that no node has more than about `most` paths: the coldest that
/// help.
pub(super) fn within(segments: &Segments, weighting: &Weighting, most: u64) -> Vec<Edge> {
    let mut paths = vec![1u64; segments.nodes.len()];
    let mut cuts = Vec::new();
    for &node in segments.order().iter().rev() {
        let of = |link: &Link, paths: &[u64]| if let Target::Node(to) = link.target { paths[to] } else { 1 };
        let links = segments.links(node);
        let mut sum = links.iter().map(|link| of(link, &paths)).fold(0, u64::saturating_add);
        if sum > most {
            let mut candidates: Vec<&Link> = links.iter().filter(|link| of(link, &paths) > 1).collect();
            candidates
                .sort_by(|a, b| weighting.edge(a.edge).total_cmp(&weighting.edge(b.edge)).then(a.edge.cmp(&b.edge)));
            for link in candidates {
                if sum <= most {
                    break;
                }
                sum = (sum - of(link, &paths)).saturating_add(1);
                cuts.push(link.edge);
            }
        }
        paths[node] = sum.max(1);
    }
    cuts.sort_unstable();
    cuts
}
