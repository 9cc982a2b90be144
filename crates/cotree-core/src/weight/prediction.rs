//! Static branch prediction: how likely each edge is among those that leave its block.
//!
//! Rules of thumb about programs (Ball & Larus 1993, "Branch prediction for free") each give some edges a probability,
//! and where several speak of a branch, their evidence is put together as Dempster and Shafer do (Wu & Larus 1994,
//! "Static branch frequency and program profile analysis"). For a branch with two edges, *p* and *q* then make
//! *pq*/(*pq* + (1 − *p*)(1 − *q*)): the odds are multiplied. That is what is done here for any number of edges, so
//! that a *likelihood* is a product of odds, and only the proportions of edges that compete matter.
//!
//! The numbers are those that branches of SQLite, Lua, zstd, bzip2, zlib, Oniguruma, tree-sitter and Clipper show on
//! the average, rounded. Rules that were tried and don't pay there: stores, equality with zero, with other constants
//! and of loop variables, operands that are used again on one side (*guards*), returns of anything but constants.

use crate::facts::Function;
use crate::facts::hints::{Hints, Test};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::dominators::Dominators;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap};
use crate::weight::likelihood::{self, UNLIKELY};

/// A loop goes on at a branch back to its header. Likelihoods do not decide how long loops last; this one decides how
/// exits share the flow that leaves the loop.
const GOES_BACK: f64 = 0.88;
/// A loop goes on at any other branch that may leave it.
const GOES_ON: f64 = 0.8;
/// A branch enters a loop that only one of its edges leads to.
const ENTERS_LOOP: f64 = 0.62;
/// A branch takes the edge that leads to a call where the other edge need not.
const CALLS: f64 = 0.35;
/// A branch takes the edge that leads to a call of a cold function.
const COLD: f64 = 0.02;
/// A branch takes the edge that leads to the return of a constant.
const RETURNS_CONSTANT: f64 = 0.3;
/// A branch takes the edge that leads to the return of a negative constant, an error.
const RETURNS_NEGATIVE: f64 = 0.05;

/// The bounds of likelihoods, so that sums and quotients of them are meaningful.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e9;

/// How often a test holds.
fn holds(test: Test) -> f64 {
    match test {
        Test::SamePointer => 0.37,
        Test::Negative => 0.3,
        Test::Positive => 0.7,
        Test::BitsClear | Test::BelowConstant => 0.6,
        Test::Below => 0.57,
        Test::SameFloat => 0.1,
        Test::StepBelow => 0.75,
        Test::Unordered => 0.01,
    }
}

/// Per edge, EXIT→entry included, its likelihood among the edges of its block: positive and finite.
#[must_use]
pub fn likelihoods(function: &Function, cfg: &Cfg, dfs: &Dfs, loops: &LoopForest, hints: &Hints) -> IdMap<Edge, f64> {
    let mut predictor = Predictor::new(function, cfg, dfs, loops, hints);
    let mut branches = hints.branches.iter().peekable();
    for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
        let branch = branches.next_if(|branch| branch.block == block);
        if cfg.succs(block).len() > 1 && !predictor.weighted[block] {
            if let (Some(branch), &[taken, other]) = (branch, cfg.succs(block))
                // A test of a loop's variable that leaves the loop does not say how soon it does so.
                && !(branch.test == Test::StepBelow && predictor.may_leave_loop(block))
            {
                predictor.multiply(if branch.on_true { taken } else { other }, holds(branch.test));
            }
            predictor.predict(block);
        }
    }
    for likelihood in &mut predictor.likelihoods {
        *likelihood = likelihood.clamp(LEAST, MOST);
    }
    predictor.likelihoods
}

struct Predictor<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    dfs: &'a Dfs,
    loops: &'a LoopForest,
    post: Dominators,
    /// Is the edge almost never taken?
    never: IdMap<Edge, bool>,
    /// Did the compiler have weights for the branches of the block?
    weighted: IdMap<Block, bool>,
    cold: IdMap<Block, bool>,
    returns: IdMap<Edge, Option<i64>>,
    likelihoods: IdMap<Edge, f64>,
}

impl<'a> Predictor<'a> {
    fn new(function: &'a Function, cfg: &'a Cfg, dfs: &'a Dfs, loops: &'a LoopForest, hints: &Hints) -> Self {
        let mut likelihoods = likelihood::likelihoods(function, cfg);
        let never = likelihoods.iter().map(|&likelihood| likelihood <= UNLIKELY).collect();
        let mut weighted = cfg.per_block(false);
        for &(edge, weight) in &hints.weights {
            weighted[cfg.src(edge)] = true;
            likelihoods[edge] *= weight + 1.0;
        }
        let mut cold = cfg.per_block(false);
        for &block in &hints.cold {
            cold[block] = true;
        }
        let mut returns = cfg.per_edge(None);
        for &(edge, value) in &hints.returns {
            returns[edge] = Some(value);
        }
        Self { function, cfg, dfs, loops, post: Dominators::post(cfg), never, weighted, cold, returns, likelihoods }
    }

    fn multiply(&mut self, edge: Edge, probability: f64) {
        self.likelihoods[edge] *= probability / (1.0 - probability);
    }

    /// Does any edge out of the block leave a loop?
    fn may_leave_loop(&self, block: Block) -> bool {
        self.cfg.succs(block).iter().any(|&edge| self.loops.outermost_left(edge).is_some())
    }

    /// The rules that look at where a branch leads to.
    fn predict(&mut self, block: Block) {
        self.rule(block, COLD, |this, edge| this.cold[this.cfg.dst(edge)]);
        let possible = |&&edge: &&Edge| !self.never[edge];
        let edges: Vec<Edge> = self.cfg.succs(block).iter().filter(possible).copied().collect();
        let leaves = |edge: Edge| self.loops.outermost_left(edge).is_some();
        let leaving = edges.iter().filter(|&&edge| leaves(edge)).count();
        if leaving > 0 && leaving < edges.len() {
            let goes_back = edges.iter().any(|&edge| self.dfs.is_backedge(edge));
            let stays = if goes_back { GOES_BACK } else { GOES_ON };
            for edge in edges.into_iter().filter(|&edge| self.loops.outermost_left(edge).is_some()) {
                self.multiply(edge, 1.0 - stays);
            }
            return;
        }
        self.rule(block, CALLS, |this, edge| {
            let target = this.function.blocks.get(this.cfg.dst(edge));
            target.is_some_and(|facts| facts.instructions.calls > 0) && this.optional(block, this.cfg.dst(edge))
        });
        self.rule(block, RETURNS_NEGATIVE, |this, edge| this.returns[edge].is_some_and(|value| value < 0));
        self.rule(block, RETURNS_CONSTANT, |this, edge| this.returns[edge].is_some_and(|value| value >= 0));
        self.rule(block, ENTERS_LOOP, |this, edge| {
            let target = this.cfg.dst(edge);
            let heads = |at: Block| this.loops.headed_by(at).is_some() && this.optional(block, at);
            let next = this.cfg.succs(target);
            heads(target) || (next.len() == 1 && heads(this.cfg.dst(next[0])))
        });
    }

    /// Is there a path from the block that goes past the other?
    fn optional(&self, block: Block, other: Block) -> bool {
        !self.post.dominates(other, block)
    }

    /// Multiplies the odds of those edges out of the block to which the rule applies, unless it applies to all.
    fn rule(&mut self, block: Block, probability: f64, applies: impl Fn(&Self, Edge) -> bool) {
        let edges = self.cfg.succs(block);
        let hits: Vec<Edge> = edges.iter().copied().filter(|&edge| applies(self, edge)).collect();
        if hits.len() < edges.len() {
            for edge in hits {
                self.multiply(edge, probability);
            }
        }
    }
}
