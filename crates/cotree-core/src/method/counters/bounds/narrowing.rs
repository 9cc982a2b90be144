//! Narrows the ranges of one function's counts, block by block.

use super::function::{FunctionBounds, Live, Uncertain};
use super::range::{Range, UNBOUNDED, narrow, reconcile};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::dominators::Dominators;
use crate::ids::{Block, Edge, IdMap};
use crate::method::counters::readings::Readings;
use crate::method::counters::{CounterError, Measured};
use crate::place::supergraph::executions;
use crate::plan::{CallPoint, Measure};
use std::collections::VecDeque;

/// Narrows the ranges of one function.
pub(super) struct Narrowing<'a> {
    pub(super) cfg: Cfg,
    uncertain: Uncertain<'a>,
    /// What the counters say, to begin again from where they contradict each other.
    counted: IdMap<Edge, Range>,
    pub(super) edges: IdMap<Edge, Range>,
    /// Per block, EXIT included: how often it was entered, and how often it was left by its edges.
    entered: IdMap<Block, Range>,
    left: IdMap<Block, Range>,
    /// Per block, how many are known to have ended early there; for EXIT, all of them, negated.
    early: IdMap<Block, i128>,
    /// How many activations may be live; none if only counters speak.
    live: Option<i128>,
    /// Per block, how many of them may be in it; for EXIT, all.
    live_in: IdMap<Block, i128>,
    /// None if activations came to life in the midst of the function.
    dominators: Option<Dominators>,
}

impl<'a> Narrowing<'a> {
    pub(super) fn new(uncertain: Uncertain<'a>) -> Result<Self, CounterError> {
        let Measured { function, key, .. } = uncertain.measured;
        let cfg = function.cfg().map_err(|_| CounterError::ForeignGraph)?;
        let readings = Readings::new(&cfg, uncertain.measured)?;
        let live = match uncertain.live {
            Live::AtMost(live) => Some(live),
            Live::Unknown => None,
        };
        // What is counted when a loop is left, or never, says only that it ran at least so often.
        let at_least = uncertain.at_least || live.is_none();
        let range = |count: &Option<i128>| {
            count.map_or(Range::ANY, |least| Range { least, most: if at_least { UNBOUNDED } else { least } })
        };
        let counted: IdMap<Edge, Range> = readings.edges.iter().map(range).collect();
        let mut entered: IdMap<Block, Range> = cfg.per_block(Range::ANY);
        for (block, count) in readings.blocks.numbered() {
            entered[block] = range(count);
        }
        debug_assert!(
            key.measures.iter().all(|measure| !matches!(measure, Measure::Block(block) if *block >= cfg.exit()))
        );
        let revived = uncertain.measured.early.at_site.iter().any(|&early| early < 0);
        let mut state = Self {
            dominators: (!revived).then(|| Dominators::new(&cfg, &Dfs::new(&cfg))),
            left: cfg.per_block(Range::ANY),
            live_in: cfg.per_block(live.unwrap_or(UNBOUNDED)),
            edges: counted.clone(),
            counted,
            entered,
            early: readings.early,
            cfg,
            uncertain,
            live,
        };
        state.settle(state.cfg.blocks().collect());
        Ok(state)
    }

    /// The entries are known to be in a range. Tells whether that narrows anything.
    pub(super) fn enter(&mut self, range: Range) -> bool {
        let edge = self.cfg.exit_edge();
        let mut all = self.edges[edge];
        let changed = narrow(&mut all, range) == Some(true);
        if changed {
            self.edges[edge] = all;
            self.settle(vec![Block(0), self.cfg.exit()]);
        }
        changed
    }

    /// How often a call was made. It stands behind the beginning of its block.
    pub(super) fn point(&self, call: &CallPoint) -> Option<Range> {
        let Measured { function, early, .. } = self.uncertain.measured;
        let entered = *self.entered.get(call.block)?;
        let executions = |entered| executions(function, early, entered, call.block, call.after_sites);
        let late = self.entered[call.block].least - self.early[call.block] - self.past(call.block);
        Some(Range { least: (executions(entered.least) - late).max(0), most: executions(entered.most).max(0) })
    }

    /// A call is known to have been made so often. Tells whether that narrows anything.
    pub(super) fn call(&mut self, call: &CallPoint, range: Range) -> bool {
        let Measured { function, early, .. } = self.uncertain.measured;
        let gone = -executions(function, early, 0, call.block, call.after_sites);
        let Some(entered) = self.entered.get_mut(call.block) else { return false };
        let changed = narrow(entered, Range { least: range.least + gone, most: UNBOUNDED }) == Some(true);
        if changed {
            self.settle(vec![call.block]);
        }
        changed
    }

    /// How many certainly came to the end of a block, of those that entered it.
    fn past(&self, block: Block) -> i128 {
        let by_law = self.live.map_or(0, |_| self.entered[block].least - self.early[block] - self.live_in[block]);
        self.left[block].least.max(by_law).max(0)
    }

    /// How many activations may be live in a block.
    pub(super) fn live_in(&self, block: Block) -> i128 {
        let (Some(_), Some(entered)) = (self.live, self.entered.get(block)) else { return UNBOUNDED };
        if entered.most >= UNBOUNDED {
            return self.live_in[block];
        }
        self.live_in[block].min(entered.most - self.early[block] - self.left[block].least).max(0)
    }

    /// At most so many activations are live. Tells whether that narrows anything.
    pub(super) fn live_at_most(&mut self, most: i128) -> bool {
        if self.live.is_none_or(|live| live <= most) {
            return false;
        }
        self.live = Some(most);
        self.live_in.iter_mut().for_each(|live| *live = most.min(*live));
        self.settle(self.cfg.blocks().collect());
        true
    }

    /// Who is certainly live in one block is in no other one. Gives the blocks for which that narrows anything.
    fn share_live(&mut self) -> Option<Vec<Block>> {
        let Some(live) = self.live.filter(|&live| live < UNBOUNDED) else { return Some(Vec::new()) };
        let real = || self.cfg.blocks().filter(|&block| block != self.cfg.exit());
        let certain = |block: Block| (self.entered[block].least - self.early[block] - self.left[block].most).max(0);
        let all: i128 = real().map(certain).sum();
        let shares: Vec<(Block, i128)> = real().map(|block| (block, live - (all - certain(block)))).collect();
        let mut changed = Vec::new();
        for (block, share) in shares {
            if share < 0 {
                return None;
            }
            if share < self.live_in[block] {
                self.live_in[block] = share;
                changed.push(block);
            }
        }
        Some(changed)
    }

    /// Narrows the ranges at these blocks, and at all that this changes. Where the counters contradict each other, the
    /// law of flow is given up.
    fn settle(&mut self, blocks: Vec<Block>) {
        let mut work = blocks;
        while !work.is_empty() {
            let settled = self.try_settle(work);
            let reached = settled.and_then(|()| Some([self.reach()?, self.share_live()?].concat()));
            match reached {
                Some(blocks) => work = blocks,
                None => return self.give_up_law(),
            }
        }
    }

    /// What dominates a block that ran has run. Gives the blocks of which something was narrowed.
    fn reach(&mut self) -> Option<Vec<Block>> {
        let mut changed = Vec::new();
        let Some(dominators) = self.dominators.as_ref().filter(|_| self.live.is_some()) else { return Some(changed) };
        let once = Range { least: 1, most: UNBOUNDED };
        for block in self.cfg.blocks().filter(|&block| block != self.cfg.exit()) {
            let mut next = dominators.immediate(block).filter(|_| self.entered[block].least > 0);
            while let Some(above) = next {
                if !(narrow(&mut self.entered[above], once)? | narrow(&mut self.left[above], once)?) {
                    break;
                }
                changed.push(above);
                next = dominators.immediate(above);
            }
        }
        Some(changed)
    }

    /// Takes the counters alone for true.
    fn give_up_law(&mut self) {
        self.live = None;
        let open = |range: &Range| Range { least: range.least, most: UNBOUNDED };
        self.edges = self.counted.iter().map(open).collect();
        self.entered = self.cfg.per_block(Range::ANY);
        self.left = self.cfg.per_block(Range::ANY);
        let measures = self.uncertain.measured.key.measures.iter().zip(self.uncertain.measured.counts);
        for (measure, &count) in measures {
            if let Measure::Block(block) = measure {
                self.entered[*block].least = count.into();
            }
        }
        let _lower_ends_agree = self.try_settle(self.cfg.blocks().collect());
    }

    /// `None`: no counts fit.
    fn try_settle(&mut self, blocks: Vec<Block>) -> Option<()> {
        let mut work: VecDeque<Block> = blocks.into();
        let mut waits = self.cfg.per_block(false);
        work.iter().for_each(|&block| waits[block] = true);
        let mut steps = 200 * (self.edges.len() + self.entered.len());
        while let Some(block) = work.pop_front() {
            waits[block] = false;
            steps = steps.saturating_sub(1 + self.cfg.preds(block).len() + self.cfg.succs(block).len());
            if steps == 0 {
                break;
            }
            for edge in self.settle_block(block)? {
                for end in [self.cfg.src(edge), self.cfg.dst(edge)] {
                    if end != block && !std::mem::replace(&mut waits[end], true) {
                        work.push_back(end);
                    }
                }
            }
        }
        Some(())
    }

    /// Narrows what is around a block. Gives the edges that were narrowed; `None` if no counts fit.
    fn settle_block(&mut self, block: Block) -> Option<Vec<Edge>> {
        let mut narrowed = Vec::new();
        loop {
            let mut changed = self.sum(block, true, &mut narrowed)?;
            changed |= self.law(block)?;
            changed |= self.sum(block, false, &mut narrowed)?;
            if !changed {
                return Some(narrowed);
            }
        }
    }

    /// A block is entered as often as the edges into it are taken, and left as often as those out of it are.
    fn sum(&mut self, block: Block, into: bool, narrowed: &mut Vec<Edge>) -> Option<bool> {
        let edges = if into { self.cfg.preds(block) } else { self.cfg.succs(block) };
        let total = if into { &mut self.entered[block] } else { &mut self.left[block] };
        let before = *total;
        let mut parts: Vec<Range> = edges.iter().map(|&edge| self.edges[edge]).collect();
        let mut all: Vec<&mut Range> = parts.iter_mut().collect();
        reconcile(total, &mut all).then_some(())?;
        let mut changed = *total != before;
        for (&edge, part) in edges.iter().zip(parts) {
            if self.edges[edge] != part {
                self.edges[edge] = part;
                narrowed.push(edge);
                changed = true;
            }
        }
        Some(changed)
    }

    /// What entered a block has left it, has ended early or is live there. What leaves EXIT are the entries: more than
    /// come back.
    fn law(&mut self, block: Block) -> Option<bool> {
        if self.live.is_none() {
            return Some(false);
        }
        let live = self.live_in[block];
        let early = self.early[block];
        let (entered, left) = (self.entered[block], self.left[block]);
        let (low, high) = if block == self.cfg.exit() { (0, live) } else { (-live, 0) };
        let up = |most: i128, by: i128| if most >= UNBOUNDED { UNBOUNDED } else { most + by };
        let mut changed = narrow(
            &mut self.left[block],
            Range { least: entered.least - early + low, most: up(entered.most, high - early) },
        )?;
        changed |= narrow(
            &mut self.entered[block],
            Range { least: left.least + early - high, most: up(left.most, early - low) },
        )?;
        Some(changed)
    }

    pub(super) fn bounds(self) -> FunctionBounds {
        let real = || self.cfg.blocks().filter(|&block| block != self.cfg.exit());
        let interrupted = real().map(|block| {
            let late = self.entered[block].least - self.early[block] - self.past(block);
            u64::try_from(late.max(0)).unwrap_or(u64::MAX)
        });
        FunctionBounds {
            entries: self.edges[self.cfg.exit_edge()],
            interrupted: interrupted.collect(),
            blocks: real().map(|block| self.entered[block]).collect(),
            edges: self.cfg.edges().filter(|&edge| edge != self.cfg.exit_edge()).map(|edge| self.edges[edge]).collect(),
            early: self.uncertain.measured.early.clone(),
        }
    }
}
