//! Weightings: how often each edge is expected to run (Ball & Larus 1994, §2).
//!
//! Weights only steer where counters go; a bad guess makes a profile dearer, never wrong.

use crate::facts::Function;
use crate::facts::hints::Hints;
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge};
use crate::profile::FunctionProfile;
use crate::weight::heuristic;
use crate::weight::likelihood;
use crate::weight::prediction;

/// The part that edges to errors have in a weighting at most.
const SELDOM: f64 = 1.0 / 64.0;

/// An expected frequency for every edge and block of one graph: finite, never negative.
///
/// The papers ask for Kirchhoff's law too. The sources here keep it as far as they can and say where they don't;
/// nothing that uses a weighting relies on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighting {
    edges: Vec<f64>,
    blocks: Vec<f64>,
    guessed: bool,
}

impl Weighting {
    /// Takes one weight per edge, EXIT→entry included; a block weighs what enters it. Missing weights are 0, as are
    /// those that are negative or not finite.
    #[must_use]
    pub fn new(cfg: &Cfg, mut edges: Vec<f64>) -> Self {
        edges.resize(cfg.edge_count(), 0.0);
        for weight in &mut edges {
            if !weight.is_finite() || *weight < 0.0 {
                *weight = 0.0;
            }
        }
        let blocks = cfg.blocks().map(|b| cfg.preds(b).iter().map(|e| edges[e.index()]).sum()).collect();
        Self { edges, blocks, guessed: false }
    }

    /// The same as a guess from the shape of the graph.
    #[must_use]
    pub(crate) fn into_guess(self) -> Self {
        Self { guessed: true, ..self }
    }

    /// Is it a guess from the shape of the graph? Then all loops run about equally often.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        self.guessed
    }

    /// The best guess at hand: the counts of an earlier run where there are any that can guide a placement, else
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

    /// The static heuristic with all branches predicted as well as can be ([`crate::weight::prediction`]). Counters are placed by
    /// it.
    #[must_use]
    pub fn predicted(function: &Function, cfg: &Cfg, hints: &Hints) -> Self {
        let dfs = Dfs::new(cfg);
        let loops = LoopForest::new(cfg, &dfs);
        let likelihoods = prediction::likelihoods(function, cfg, &dfs, &loops, hints);
        heuristic::weighting_by(cfg, |edge| likelihoods[edge.index()])
    }

    /// The static heuristic with branches to panics and exceptions taken to be unlikely ([`crate::weight::likelihood`]), and all others
    /// to be even: for paths, which are cut where they are thought to be rare, and cost more where that is wrong.
    #[must_use]
    pub fn expected(function: &Function, cfg: &Cfg) -> Self {
        let likelihoods = likelihood::likelihoods(function, cfg);
        heuristic::weighting_by(cfg, |edge| likelihoods[edge.index()])
    }

    /// The static heuristic of the paper, which sees the graph alone ([`crate::weight::heuristic`]).
    #[must_use]
    pub fn heuristic(cfg: &Cfg) -> Self {
        heuristic::weighting(cfg)
    }

    /// Every edge alike.
    #[must_use]
    pub fn uniform(cfg: &Cfg) -> Self {
        Self::new(cfg, vec![1.0; cfg.edge_count()])
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
        self.edges[edge.index()]
    }

    /// How many of the edges, one of which is taken, are expected ever to be: errors and panics aside.
    #[must_use]
    pub fn likely(&self, edges: impl Iterator<Item = Edge> + Clone) -> usize {
        let all: f64 = edges.clone().map(|e| self.edge(e)).sum();
        edges.filter(|&e| self.edge(e) > all * SELDOM).count()
    }

    /// The weight of a block: the sum of the weights of the edges that enter it.
    #[must_use]
    pub fn block(&self, block: Block) -> f64 {
        self.blocks[block.index()]
    }
}
