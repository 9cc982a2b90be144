//! Chooses the rare arcs (see [`super::numbering`]), so that all paths without them have numbers that an array can
//! hold.
//!
//! Most of a function's paths go through code that rarely runs: checks that never fail, cases that never come up. If
//! the arcs that lead there are numbered last ([`Cuts::rare`](super::Cuts)), the other arcs form few paths, and these
//! have the small numbers.
//!
//! This is a knapsack problem: each arc taken out costs the executions that go through it, and divides the number of
//! paths. We take the arc that costs least per halving, until few enough paths are left. The costs depend on the arcs
//! taken before, so they are computed anew each time.

use super::graph::{DirectedView, Node, PathGraph, Role};
use super::types::Arc;
use crate::graph::cfg::Cfg;
use crate::weight::weighting::Weighting;

/// The most arcs of a graph: in larger ones the choice would take too long.
pub(super) const MOST_ARCS: usize = 1 << 16;
/// This many rounds take the cheapest arcs and those that cost little more; there are fewer rounds if each has to look
/// at many arcs. After them a large part of all arcs is taken at once.
const CAREFUL_TURNS: usize = 400;
/// How many arcs all of these rounds may look at.
const CAREFUL_LOOKS: usize = 1 << 22;
/// How much more that is.
const ABOUT: f64 = 1.25;
/// At most this part of the candidates is taken at once.
const PART: usize = 16;

/// The largest part of the low numbers that an arc is assumed to save.
const MOST_SAVED: f64 = 0.999_999;

/// How often each arc is executed.
pub(super) fn frequencies(cfg: &Cfg, graph: &PathGraph, weighting: &Weighting) -> Vec<f64> {
    let mut begins = cfg.per_block(0.0);
    for arc in 0..graph.arc_count() {
        if let Role::EndOnEdge(edge) = graph.role(arc) {
            begins[cfg.dst(edge)] += weighting.edge(edge);
        }
    }
    let frequency = |arc| match graph.role(arc) {
        Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => weighting.edge(edge),
        Role::BeginAfterEdge(block) => begins[block],
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

/// Chooses rare arcs that leave no more than `most` low numbers; in order.
#[must_use]
pub(super) fn choose(graph: &PathGraph, backward: bool, frequency: &[f64], most: u64) -> Vec<Arc> {
    let view = DirectedView::new(graph, backward);
    let careful = CAREFUL_TURNS.min(CAREFUL_LOOKS / graph.arc_count().max(1));
    let mut chosen: Vec<Arc> = Vec::new();
    for turn in 0.. {
        let chooser = Chooser { graph, view, frequency, rare: view.all_rare(&chosen) };
        let lows = chooser.lows();
        #[allow(clippy::cast_precision_loss, reason = "what is left is counted exactly in the end")]
        if lows[view.start()].all() <= most as f64 {
            break;
        }
        let mut offers = chooser.offers(&lows);
        offers.sort_unstable_by(|a, b| a.price.total_cmp(&b.price).then(a.arc.cmp(&b.arc)));
        let Some(cheapest) = offers.first() else { break };
        let (part, highest) = if turn < careful { (PART, cheapest.price * ABOUT) } else { (2, f64::INFINITY) };
        let (mut left, mut taken) = (offers.len().div_ceil(part), vec![false; graph.node_count()]);
        for Offer { node, arc, .. } in offers.into_iter().take_while(|offer| offer.price <= highest) {
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
    /// For the arcs that are not rare.
    common: f64,
    /// For the rare arc that needs most.
    rare: f64,
    most: Option<Arc>,
}

impl Low {
    fn all(self) -> f64 {
        self.common.max(self.rare)
    }
}

/// An arc that can be taken out at a node.
struct Offer {
    /// The cost of the arc per factor of *e* by which it reduces the low numbers.
    price: f64,
    node: Node,
    arc: Arc,
}

struct Chooser<'a> {
    graph: &'a PathGraph,
    view: DirectedView<'a>,
    frequency: &'a [f64],
    rare: Vec<bool>,
}

impl Chooser<'_> {
    fn lows(&self) -> Vec<Low> {
        let view = self.view;
        let mut lows = vec![Low::default(); self.graph.node_count()];
        for node in view.order().rev() {
            let mut here = Low { common: f64::from(u8::from(node == view.end())), ..Low::default() };
            for &arc in view.next_arcs(node) {
                let low = lows[view.target(arc)].all();
                if !self.rare[arc] {
                    here.common += low;
                } else if low > here.rare {
                    (here.rare, here.most) = (low, Some(arc));
                }
            }
            lows[node] = here;
        }
        lows
    }

    fn offers(&self, lows: &[Low]) -> Vec<Offer> {
        let view = self.view;
        let all = lows[view.start()].all();
        // How many low numbers of the graph each low number of a node stands for.
        let mut times = vec![0.0; self.graph.node_count()];
        times[view.start()] = 1.0;
        let mut offers = Vec::new();
        for node in view.order() {
            let (here, times_here) = (lows[node], times[node]);
            if let (Some(most), true) = (here.most, here.rare > here.common) {
                times[view.target(most)] += times_here;
                continue;
            }
            let common: Vec<Arc> = view.next_arcs(node).iter().copied().filter(|&arc| !self.rare[arc]).collect();
            for &arc in &common {
                let beyond = view.target(arc);
                times[beyond] += times_here;
                let low = lows[beyond].all();
                let saved = times_here * (here.common - (here.common - low).max(low).max(here.rare)) / all;
                if common.len() > 1 && saved > 0.0 {
                    let price = self.frequency[arc] / -(-saved.min(MOST_SAVED)).ln_1p();
                    offers.push(Offer { price, node, arc });
                }
            }
        }
        offers
    }
}
