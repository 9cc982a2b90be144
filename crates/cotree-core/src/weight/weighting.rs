//! Weightings: how often each edge is expected to run (Ball & Larus 1994, §2).
//!
//! Weights only influence where counters go. A bad estimate makes a profile more expensive, never wrong.

use crate::facts::Function;
use crate::facts::hints::Hints;
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap};
use crate::profile::FunctionProfile;
use crate::weight::heuristic;
use crate::weight::likelihood;
use crate::weight::prediction;

/// The greatest part of a weighting that edges to errors may have.
const SELDOM: f64 = 1.0 / 64.0;

/// An expected frequency for every edge and block of one graph: finite, never negative.
///
/// The papers require Kirchhoff's law too. The sources here obey it as far as they can and say where they don't;
/// no user of a weighting relies on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighting {
    edges: IdMap<Edge, f64>,
    blocks: IdMap<Block, f64>,
    guessed: bool,
}

impl Weighting {
    /// Makes a weighting of one weight per edge, EXIT→entry included; a block weighs the sum of the edges into it.
    /// Missing, negative and infinite weights become 0.
    #[must_use]
    pub fn new(cfg: &Cfg, mut edges: IdMap<Edge, f64>) -> Self {
        edges.resize(cfg.edge_count(), 0.0);
        for weight in &mut edges {
            if !weight.is_finite() || *weight < 0.0 {
                *weight = 0.0;
            }
        }
        let blocks = cfg.blocks().map(|b| cfg.preds(b).iter().map(|&e| edges[e]).sum()).collect();
        Self { edges, blocks, guessed: false }
    }

    /// Guesses from the shape of the graph, and from how likely edges are ([`crate::weight::heuristic`]).
    fn guess(cfg: &Cfg, likelihood: impl Fn(Edge) -> f64) -> Self {
        Self { guessed: true, ..Self::new(cfg, heuristic::weights(cfg, likelihood)) }
    }

    /// Is it a guess from the shape of the graph? Then all loops run about equally often.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        self.guessed
    }

    /// The best weighting available: the counts of an earlier run if they can guide a placement, else
    /// [`Self::predicted`], or [`Self::expected`] where hints are not wanted.
    #[must_use]
    pub fn from_previous(
        function: &Function,
        cfg: &Cfg,
        hints: Option<&Hints>,
        previous: Option<&FunctionProfile>,
    ) -> Self {
        let guess = || match hints {
            Some(hints) => Self::predicted(function, cfg, hints),
            None => Self::expected(function, cfg),
        };
        previous.and_then(|profile| Self::from_profile(cfg, profile)).unwrap_or_else(guess)
    }

    /// The static heuristic with all branches predicted as well as possible ([`crate::weight::prediction`]). It guides
    /// the placement of counters.
    #[must_use]
    pub fn predicted(function: &Function, cfg: &Cfg, hints: &Hints) -> Self {
        let dfs = Dfs::new(cfg);
        let loops = LoopForest::new(cfg, &dfs);
        let likelihoods = prediction::likelihoods(function, cfg, &dfs, &loops, hints);
        Self::guess(cfg, |edge| likelihoods[edge])
    }

    /// The static heuristic in which branches to panics and exceptions are unlikely ([`crate::weight::likelihood`]),
    /// and all others even. It is for paths, which are cut where they are expected to be rare, and cost more where that
    /// is wrong.
    #[must_use]
    pub fn expected(function: &Function, cfg: &Cfg) -> Self {
        let likelihoods = likelihood::likelihoods(function, cfg);
        Self::guess(cfg, |edge| likelihoods[edge])
    }

    /// The static heuristic of the paper, which uses only the graph ([`crate::weight::heuristic`]).
    #[must_use]
    pub fn heuristic(cfg: &Cfg) -> Self {
        Self::guess(cfg, |_| 1.0)
    }

    /// Every edge alike.
    #[must_use]
    pub fn uniform(cfg: &Cfg) -> Self {
        Self::new(cfg, cfg.per_edge(1.0))
    }

    /// The counts of an earlier run; `None` where they can't guide a placement: another shape of graph, no edge
    /// counts, or a function that never ran.
    #[must_use]
    pub fn from_profile(cfg: &Cfg, profile: &FunctionProfile) -> Option<Self> {
        let counts = profile.edges.as_ref()?;
        let fits = counts.len() + 1 == cfg.edge_count() && profile.blocks.len() + 1 == cfg.block_count();
        if !fits || counts.iter().chain(&profile.blocks).all(|&c| c == 0) {
            return None;
        }
        #[allow(clippy::cast_precision_loss, reason = "weights are estimates")]
        let edges = counts.iter().chain([&profile.entries]).map(|&c| c as f64).collect();
        Some(Self::new(cfg, edges))
    }

    /// The weight of an edge.
    #[must_use]
    pub fn edge(&self, edge: Edge) -> f64 {
        self.edges[edge]
    }

    /// How many of the edges, one of which is taken, are expected to be taken at all: errors and panics aside.
    #[must_use]
    pub fn likely(&self, edges: impl Iterator<Item = Edge> + Clone) -> usize {
        let all: f64 = edges.clone().map(|e| self.edge(e)).sum();
        edges.filter(|&e| self.edge(e) > all * SELDOM).count()
    }

    /// The weight of a block: the sum of the weights of the edges that enter it.
    #[must_use]
    pub fn block(&self, block: Block) -> f64 {
        self.blocks[block]
    }
}
