//! Which ways are numbered apart, so that all other paths of a function have numbers that an array can hold.
//!
//! Most of a function's paths go through what seldom runs: checks that never fail, cases that never come up. If the arcs that lead
//! there are numbered apart ([`Cuts::apart`](super::Cuts)), those that are left make few paths, and theirs are the small numbers.
//!
//! That is a knapsack: each arc taken out costs what goes through it, and divides the number of paths. Taken is what costs least per
//! halving, until few enough are left; what this is must be counted again, since it depends on what was taken before.

use super::graph::{Node, PathGraph, Role, Sight};
use super::types::Arc;
use crate::graph::cfg::Cfg;
use crate::weight::weighting::Weighting;

/// In larger graphs it would take too long.
pub(super) const MOST_ARCS: usize = 1 << 16;
/// So many turns take what is cheapest and what costs little more, fewer if each has to look at many arcs; after them a large part of
/// everything is taken at once.
const CAREFUL_TURNS: usize = 400;
/// How many arcs all of these turns may look at.
const CAREFUL_LOOKS: usize = 1 << 22;
/// How much more that is.
const ABOUT: f64 = 1.25;
/// What is taken at once is no more than this part of what there is to choose from.
const PART: usize = 16;

/// Not everything can be saved.
const MOST_SAVED: f64 = 0.999_999;

/// How often each arc is executed.
pub(super) fn frequencies(cfg: &Cfg, graph: &PathGraph, weighting: &Weighting) -> Vec<f64> {
    let mut begins = vec![0.0; cfg.block_count()];
    for arc in 0..graph.arc_count() {
        if let Role::EndOnEdge(edge) = graph.role(arc) {
            begins[cfg.dst(edge).index()] += weighting.edge(edge);
        }
    }
    let frequency = |arc| match graph.role(arc) {
        Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => weighting.edge(edge),
        Role::BeginAfterEdge(block) => begins[block.index()],
        Role::Enter => weighting.edge(cfg.exit_edge()),
        Role::DeadEnd(_) => 0.0,
        Role::Inside(block)
        | Role::Again(block)
        | Role::BeginAtBlock(block)
        | Role::EndAtBlock(block)
        | Role::ToDispatch(block)
        | Role::FromDispatch(block) => weighting.block(block),
    };
    (0..graph.arc_count()).map(frequency).collect()
}

/// The arcs that leave no more than `most` low numbers if they are numbered apart, in order.
#[must_use]
pub(super) fn choose(graph: &PathGraph, backward: bool, frequency: &[f64], most: u64) -> Vec<Arc> {
    let sight = Sight::new(graph, backward);
    let careful = CAREFUL_TURNS.min(CAREFUL_LOOKS / graph.arc_count().max(1));
    let mut chosen: Vec<Arc> = Vec::new();
    for turn in 0.. {
        let chooser = Chooser { graph, sight, frequency, apart: sight.all_apart(&chosen) };
        let lows = chooser.lows();
        #[allow(clippy::cast_precision_loss, reason = "what is left is counted exactly in the end")]
        if lows[sight.near_end()].all() <= most as f64 {
            break;
        }
        let mut offers = chooser.offers(&lows);
        offers.sort_unstable_by(|a, b| a.price.total_cmp(&b.price).then(a.arc.cmp(&b.arc)));
        let Some(cheapest) = offers.first() else { break };
        let (part, dearest) = if turn < careful { (PART, cheapest.price * ABOUT) } else { (2, f64::INFINITY) };
        let (mut left, mut taken) = (offers.len().div_ceil(part), vec![false; graph.node_count()]);
        for Offer { node, arc, .. } in offers.into_iter().take_while(|offer| offer.price <= dearest) {
            if left > 0 && !std::mem::replace(&mut taken[node], true) {
                chosen.push(arc);
                left -= 1;
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

/// How many low numbers a node needs, as [`super::numbering`] counts them.
#[derive(Clone, Copy, Default)]
struct Low {
    /// For the arcs that are not apart.
    near: f64,
    /// For the arc apart that needs most.
    apart: f64,
    most: Option<Arc>,
}

impl Low {
    fn all(self) -> f64 {
        self.near.max(self.apart)
    }
}

/// What can be taken out at a node.
struct Offer {
    /// What it costs per factor of *e* by which the low numbers become fewer.
    price: f64,
    node: Node,
    arc: Arc,
}

struct Chooser<'a> {
    graph: &'a PathGraph,
    sight: Sight<'a>,
    frequency: &'a [f64],
    apart: Vec<bool>,
}

impl Chooser<'_> {
    fn lows(&self) -> Vec<Low> {
        let sight = self.sight;
        let mut lows = vec![Low::default(); self.graph.node_count()];
        for node in sight.order().rev() {
            let mut here = Low { near: f64::from(u8::from(node == sight.far_end())), ..Low::default() };
            for &arc in sight.ways(node) {
                let low = lows[sight.beyond(arc)].all();
                if !self.apart[arc] {
                    here.near += low;
                } else if low > here.apart {
                    (here.apart, here.most) = (low, Some(arc));
                }
            }
            lows[node] = here;
        }
        lows
    }

    fn offers(&self, lows: &[Low]) -> Vec<Offer> {
        let sight = self.sight;
        let all = lows[sight.near_end()].all();
        // How many low numbers there are for each one of a node.
        let mut times = vec![0.0; self.graph.node_count()];
        times[sight.near_end()] = 1.0;
        let mut offers = Vec::new();
        for node in sight.order() {
            let (here, times_here) = (lows[node], times[node]);
            if let (Some(most), true) = (here.most, here.apart > here.near) {
                times[sight.beyond(most)] += times_here;
                continue;
            }
            let near: Vec<Arc> = sight.ways(node).iter().copied().filter(|&arc| !self.apart[arc]).collect();
            for &arc in &near {
                let beyond = sight.beyond(arc);
                times[beyond] += times_here;
                let low = lows[beyond].all();
                let saved = times_here * (here.near - (here.near - low).max(low).max(here.apart)) / all;
                if near.len() > 1 && saved > 0.0 {
                    let price = self.frequency[arc] / -(-saved.min(MOST_SAVED)).ln_1p();
                    offers.push(Offer { price, node, arc });
                }
            }
        }
        offers
    }
}
