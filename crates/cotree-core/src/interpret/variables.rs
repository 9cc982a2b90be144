//! Affine variables of an activation: their values now, and when their loops were entered.

use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap, Variable};
use crate::place::affine::{AffineVariable, Quotient, mask};
use crate::probe::{Closing, Probe};
use std::collections::BTreeMap;

/// The variables of a function.
#[derive(Clone, Debug)]
pub(super) struct Variables<'a> {
    facts: &'a [AffineVariable],
    loops: LoopForest,
}

/// What they are in one activation.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// Per variable, its value now and when its loop was entered.
    values: IdMap<Variable, (u64, u64)>,
    /// When each variable's loop was entered, and when each block was last left, by which edge.
    entered: IdMap<Variable, u64>,
    left: BTreeMap<Block, (u64, Edge)>,
    time: u64,
}

impl<'a> Variables<'a> {
    pub(super) fn new(cfg: &Cfg, facts: &'a [AffineVariable]) -> Self {
        Self { facts, loops: LoopForest::new(cfg, &Dfs::new(cfg)) }
    }

    pub(super) fn begin(&self) -> Values {
        let count = self.facts.len();
        Values {
            values: IdMap::filled((0, 0), count),
            entered: IdMap::filled(0, count),
            left: BTreeMap::new(),
            time: 0,
        }
    }

    /// The program moves its variables. They enter their loops with the `initial` values.
    pub(super) fn take(&self, now: &mut Values, cfg: &Cfg, edge: Edge, mut initial: impl FnMut() -> u64) {
        let (src, dst) = (cfg.src(edge), cfg.dst(edge));
        now.time += 1;
        now.left.insert(src, (now.time, edge));
        for ((facts, (value, entry)), entered) in
            self.facts.iter().zip(now.values.iter_mut()).zip(now.entered.iter_mut())
        {
            let Some(l) = self.loops.headed_by(facts.header) else { continue };
            if dst == facts.header && !self.loops.contains(l, src) {
                *value = initial() & mask(facts.bits);
                *entry = *value;
                *entered = now.time;
            } else if let Ok(found) = facts.steps.binary_search_by_key(&edge, |s| s.0) {
                *value = value.wrapping_add(facts.steps[found].1.cast_unsigned()) & mask(facts.bits);
            }
        }
    }

    /// What a probe adds to its counter, if it is a closing that adds something.
    pub(super) fn closes(&self, now: &Values, cfg: &Cfg, probe: Probe) -> Option<(usize, u64)> {
        let (counter, closing) = probe.closing()?;
        let (branch, times) = match probe {
            Probe::CloseIf(_, _, branch) => (Some(branch), 1),
            Probe::CloseBy { branch, times, .. } => (branch, times),
            _ => (None, 1),
        };
        let goes = branch.is_none_or(|branch| now.went(closing, branch, cfg.src(branch)));
        goes.then(|| (counter.index(), self.counted(now, closing).wrapping_mul(times)))
    }

    fn counted(&self, now: &Values, closing: Closing) -> u64 {
        let (value, entry) = now.values[closing.variable];
        let facts = &self.facts[closing.variable.index()];
        let bits = facts.bits;
        let value = value.wrapping_add(facts.ahead_at(closing.from).cast_unsigned());
        let moved = value.wrapping_sub(entry).wrapping_sub(closing.offset.cast_unsigned());
        Quotient::new(closing.step, bits).of(moved, bits).wrapping_add(closing.plus.cast_unsigned())
    }
}

impl Values {
    /// Has its branch taken this edge since the loop was entered? If it has taken neither, anything may be true of its
    /// condition.
    fn went(&self, closing: Closing, edge: Edge, src: Block) -> bool {
        match self.left.get(&src) {
            Some(&(time, taken)) if time > self.entered[closing.variable] => taken == edge,
            _ => self.time.is_multiple_of(3),
        }
    }
}
