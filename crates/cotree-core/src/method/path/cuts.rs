//! Chooses where paths are cut: at backedges, where no probe can be put otherwise, and where there would be too many.
//!
//! A cut at a backedge is the paper's (Ball & Larus 1996, §4); irreducible loops are no different, any retreating edge
//! of the depth-first search will do. Blocks are cut
//!
//! - that a backedge enters on which no probe can be put, and that a dispatch node leads to ([`super::classes`]);
//! - that hold a call which may return twice: then the register holds a constant whenever the call returns, and an
//!   activation that comes to life there is known to have an empty path behind it;
//! - that the entry does not reach (facts from LLVM have none).
//!
//! **Too many paths.** The paper's tool removes all edges out of the block at which the number passes a bound. That
//! would cut hot paths where cold edges are to blame. Here each doubling of the number has a price: a cut through all
//! of a block's outgoing edges costs the block's weight and buys all doublings that fit a word. So only the cold edges
//! are cut, coldest first, if they together weigh less than a doubling's share of that; else all that have many paths.
//! Every cut adds the paths that begin there. If in the end there are too many in total, it is done again under a lower
//! bound.
//!
//! A function that has more paths than there are numbers must be cut somewhere. If that cuts few more of its executed
//! paths, it is cut until an array can hold the rest ([`ONCE_CUT`]), which makes all others up to a third cheaper.

use super::classes::{Class, EdgeClasses};
use super::graph::{PathGraph, Role, entered, left};
use super::types::{Cuts, MOST_PATHS};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::ids::{Block, Edge, IdMap};
use crate::weight::weighting::Weighting;

/// How many paths functions with more than [`MOST_PATHS`] may be left with, unless the user says how many there may be.
pub const ONCE_CUT: u64 = 1 << 19;
/// Or with so many, which leave numbers for rare arcs ([`super::numbering`]).
const WITH_ROOM: u64 = 1 << 42;
/// That may cut so many more of its paths, as a part of them.
const FEW_CUT: f64 = 0.125;

/// The cuts that any numbering needs.
#[must_use]
pub fn necessary(function: &Function, cfg: &Cfg, classes: &EdgeClasses) -> Cuts {
    let mut cut = cfg.per_block(false);
    for site in function.sites().filter(|site| site.returns_twice) {
        if let Some(cut) = cut.get_mut(site.block) {
            *cut = true;
        }
    }
    necessary_besides(cut, cfg, classes)
}

/// These blocks, and the cuts that any numbering needs of a function whose calls return once.
#[must_use]
pub(in crate::method) fn necessary_besides(mut cut: IdMap<Block, bool>, cfg: &Cfg, classes: &EdgeClasses) -> Cuts {
    let dfs = Dfs::new(cfg);
    for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
        cut[block] |= !dfs.is_reached(block);
    }
    for (block, _) in classes.dispatch_targets() {
        cut[block] = true;
    }
    let placeable = |edge| matches!(classes.class(edge), Class::Placeable(_));
    for edge in cfg.edges().filter(|&e| dfs.is_backedge(e) && !placeable(e)) {
        cut[cfg.dst(edge)] = true;
    }
    // An edge into a cut block closes no cycle, and self-loops are counted separately.
    let needs_cut = |e: &Edge| dfs.is_backedge(*e) && !cut[cfg.dst(*e)] && cfg.src(*e) != cfg.dst(*e);
    let edges = cfg.edges().filter(needs_cut).collect();
    let blocks = cfg.blocks().filter(|&b| b != cfg.exit() && cut[b]).collect();
    Cuts { edges, blocks, ..Cuts::default() }
}

/// These cuts and those that keep the number of paths within `limit`, if any do: every function keeps about as
/// many paths as it has edges. There never are more than [`MOST_PATHS`].
#[must_use]
pub fn choose(
    function: &Function,
    cfg: &Cfg,
    classes: &EdgeClasses,
    weighting: &Weighting,
    base: Cuts,
    limit: u64,
) -> Cuts {
    let graph = PathGraph::new(function, cfg, &base);
    let chooser = Chooser { cfg, classes, weighting, graph: &graph, fan: largest_fan(cfg, classes) };
    let limit = limit.clamp(1, MOST_PATHS);
    let mut more = chooser.within(limit);
    if limit == MOST_PATHS && more != Cuts::default() {
        let weight = |cuts: &Cuts| -> f64 {
            let edges: f64 = cuts.edges.iter().map(|&edge| weighting.edge(edge)).sum();
            edges + cuts.blocks.iter().map(|&block| weighting.block(block)).sum::<f64>()
        };
        let most = weight(&more) + (weight(&base) + weighting.edge(cfg.exit_edge())) * FEW_CUT;
        let mut further = [ONCE_CUT, WITH_ROOM].into_iter().map(|limit| chooser.within(limit));
        if let Some(further) = further.find(|further| weight(further) <= most) {
            more = further;
        }
    }
    let mut cuts = base;
    cuts.edges.extend(more.edges);
    cuts.edges.sort_unstable();
    cuts.blocks.extend(more.blocks);
    cuts.blocks.sort_unstable();
    cuts
}

/// The most edges out of a block that has some on which no probe can be put.
fn largest_fan(cfg: &Cfg, classes: &EdgeClasses) -> usize {
    let fan = |block| {
        let out = cfg.succs(block);
        if out.iter().any(|&e| classes.class(e) == Class::Unplaceable) { out.len() } else { 1 }
    };
    cfg.blocks().map(fan).max().unwrap_or(1)
}

struct Chooser<'a> {
    cfg: &'a Cfg,
    classes: &'a EdgeClasses,
    weighting: &'a Weighting,
    graph: &'a PathGraph,
    fan: usize,
}

impl Chooser<'_> {
    /// The further cuts that leave no more paths than that, if any do.
    fn within(&self, limit: u64) -> Cuts {
        let limit = u128::from(limit);
        let mut bound = limit;
        loop {
            let (cuts, total) = self.under(bound);
            if total <= limit || bound == 1 {
                return cuts;
            }
            bound = (bound / 4).max(1);
        }
    }

    /// The further cuts that keep the paths from any node below about `bound`, and the number of all paths.
    fn under(&self, bound: u128) -> (Cuts, u128) {
        let graph = self.graph;
        let mut paths = vec![0u128; graph.node_count()];
        paths[graph.exit()] = 1;
        let mut cuts = Cuts::default();
        let mut begins = self.cfg.per_block(false);
        for &node in graph.topological_order().iter().rev() {
            if node == graph.exit() || node == graph.entry() {
                continue;
            }
            let mut sum: u128 = graph.out(node).iter().map(|&arc| paths[graph.dst(arc)]).sum();
            if let Some(&inside) = graph.out(node).first()
                && let Role::Inside(block) = graph.role(inside)
            {
                // Edges that can't be cut must not bring too much.
                if sum > 1 && sum > bound / self.fan as u128 && self.entered_unplaceably(block) {
                    cuts.blocks.push(block);
                    sum = 1;
                }
            } else if sum > bound {
                let block = Block::new(node / 2);
                for edge in self.cheapest(node, &paths, sum, bound) {
                    let dst = self.cfg.dst(edge);
                    sum = sum - paths[entered(dst)] + 1;
                    begins[dst] = true;
                    cuts.edges.push(edge);
                    debug_assert_eq!(self.cfg.src(edge), block);
                }
            }
            paths[node] = sum;
        }
        let mut total: u128 = graph
            .out(graph.entry())
            .iter()
            .filter(|&&arc| !matches!(graph.role(arc), Role::BeginAfterEdge(b) if begins[b]))
            .map(|&arc| paths[graph.dst(arc)])
            .sum();
        total += cuts.blocks.iter().map(|&b| paths[left(b)]).sum::<u128>();
        total += self.cfg.blocks().filter(|&b| begins[b]).map(|b| paths[entered(b)]).sum::<u128>();
        (cuts, total)
    }

    fn entered_unplaceably(&self, block: Block) -> bool {
        self.cfg.preds(block).iter().any(|&e| self.classes.class(e) == Class::Unplaceable)
    }

    /// Which of the edges that leave this node are cut?
    fn cheapest(&self, node: usize, paths: &[u128], sum: u128, bound: u128) -> Vec<Edge> {
        let graph = self.graph;
        let mut edges: Vec<Edge> = graph
            .out(node)
            .iter()
            .filter(|&&arc| paths[graph.dst(arc)] > 1)
            .filter_map(|&arc| match graph.role(arc) {
                Role::Real(edge) if matches!(self.classes.class(edge), Class::Placeable(_)) => Some(edge),
                _ => None,
            })
            .collect();
        let weight = |edge: Edge| self.weighting.edge(edge);
        edges.sort_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(a.cmp(&b)));
        let total: f64 = graph.out(node).iter().map(|&arc| arc_weight(graph, self.weighting, arc)).sum();
        let share = total / f64::from(bound.max(2).ilog2());
        let (mut price, mut rest, mut few) = (0.0, sum, 0);
        while rest > bound && few < edges.len() {
            price += weight(edges[few]);
            rest = rest - paths[entered(self.cfg.dst(edges[few]))] + 1;
            few += 1;
        }
        if rest <= bound && price <= share {
            edges.truncate(few);
        } else {
            let low = bound.isqrt() / edges.len().max(1) as u128;
            edges.retain(|&e| paths[entered(self.cfg.dst(e))] > low.max(1));
        }
        edges
    }
}

fn arc_weight(graph: &PathGraph, weighting: &Weighting, arc: usize) -> f64 {
    match graph.role(arc) {
        Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => weighting.edge(edge),
        _ => 0.0,
    }
}
