//! Functions prepared for the interpreter: their calls by block, their probes by place.

use super::variables::Variables;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge, IdMap};
use crate::plan::FunctionPlan;
use crate::probe::{Place, Probe};
use std::ops::Range;

/// One function of a program.
pub(super) struct Code<'a> {
    pub function: &'a Function,
    pub cfg: &'a Cfg,
    /// Per block, its calls.
    calls: IdMap<Block, Range<usize>>,
    /// By place: the starts of all blocks, their ends, all edges, before all calls, behind them.
    probes: Vec<Vec<Probe>>,
    /// How many counters they use.
    pub counters: usize,
    pub variables: Option<Variables<'a>>,
}

impl<'a> Code<'a> {
    /// A function without probes.
    pub fn new(function: &'a Function, cfg: &'a Cfg) -> Self {
        let mut calls = cfg.per_block(0..0);
        for (call, facts) in function.calls.numbered() {
            if let Some(range) = calls.get_mut(facts.block) {
                let start = if range.start == range.end { call.index() } else { range.start };
                *range = start..call.index() + 1;
            }
        }
        Self { function, cfg, calls, probes: Vec::new(), counters: 0, variables: None }
    }

    /// Puts a plan's probes where they belong.
    ///
    /// # Panics
    /// If the plan is not for this graph.
    pub fn place(&mut self, plan: FunctionPlan<'_>) {
        let places = 2 * self.cfg.block_count() + self.cfg.edge_count() + 2 * self.function.calls.len();
        self.probes = vec![Vec::new(); places];
        for placed in plan.probes {
            let place = self.number(placed.place);
            self.probes[place].push(placed.probe);
        }
        self.counters = plan.counters;
    }

    fn number(&self, place: Place) -> usize {
        match place {
            Place::Start(block) => block.index(),
            Place::End(block) => self.cfg.block_count() + block.index(),
            Place::Edge(edge) => 2 * self.cfg.block_count() + edge.index(),
            Place::Call(call) => 2 * self.cfg.block_count() + self.cfg.edge_count() + call.index(),
            Place::After(call) => self.number(Place::Call(call)) + self.function.calls.len(),
        }
    }

    /// The probes of a place, in order.
    pub fn probes(&self, place: Place) -> &[Probe] {
        self.probes.get(self.number(place)).map_or(&[], Vec::as_slice)
    }

    /// The numbers of the block's calls.
    pub fn calls_of(&self, block: Block) -> Range<usize> {
        self.calls[block].clone()
    }

    /// Does the block end in a call that may not return?
    pub fn ends_in_site(&self, block: Block) -> bool {
        self.function.sites_of(block).any(|(_, site)| site.terminator)
    }

    /// The call that ends the block, if one does.
    pub fn last_call(&self, block: Block) -> Option<CallId> {
        let last = CallId::new(self.calls_of(block).last()?);
        self.function.calls[last].terminator.then_some(last)
    }

    /// May an activation go along the edge from the block?
    pub fn leads(&self, block: Block, edge: Edge) -> bool {
        edge < self.cfg.exit_edge() && self.cfg.src(edge) == block
    }

    /// The edge by which a `musttail` call leaves its block.
    pub fn tail_edge(&self, call: CallId) -> Option<Edge> {
        let facts = self.function.calls.get(call).filter(|facts| facts.must_tail)?;
        match self.cfg.succs(facts.block) {
            &[edge] if self.cfg.dst(edge) == self.cfg.exit() => Some(edge),
            _ => None,
        }
    }
}
