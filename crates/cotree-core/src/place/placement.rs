//! Places an edge's counter so that few jumps are needed (Ball & Larus 1994, §6.3, Fig. 19).
//!
//! A counter in a block of its own on the edge is always right, but may cost a jump. It can share a block instead:
//! the edge's source if no other edge leaves that, its target if no other edge enters that.
//!
//! Call sites set limits. An activation may be abandoned while a call is running, so the start and the end of a block
//! with call sites see different counts; and a counter behind a call in tail position would turn it into a call that
//! keeps its frame. Where the counter has to stand at the start of a block with call sites, the plan says that it
//! measures the *block* ([`Measure::Block`]), and recovery subtracts the early exits.

use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Counter, Edge, IdMap};
use crate::plan::{CounterPlan, Measure};
use crate::probe::{Place, PlacedProbe, Probe};
use crate::weight::weighting::Weighting;

/// Where and how one edge is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The probe's place.
    pub place: Place,
    /// The probe must look at the target of the branch ([`Probe::CountIfTaken`]).
    pub if_taken: bool,
    /// What the counter then means.
    pub measure: Measure,
}

impl Placement {
    /// Does it take a block of its own, and so perhaps a jump?
    #[must_use]
    pub fn needs_jump(&self) -> bool {
        matches!(self.place, Place::Edge(_))
    }
}

/// The cost of a counter that needs a block of its own on an edge; a counter in an existing block costs 1. Such
/// a block mostly jumps back, and live values may have to move: bzip2's decoder, which keeps twenty variables
/// through its states, runs 40 % more instructions with 1 than with 2. With more than 2, counters move to blocks so hot
/// that the saved jumps are not worth it.
const OWN_BLOCK: f64 = 2.0;

/// A block with no more instructions than this, no call and nowhere to go but EXIT is a bare `ret`, perhaps with a cast
/// before it: calls that end in a jump to it may still become tail calls.
const BARE_RETURN: u32 = 2;

/// The limits that the call sites of one block set.
#[derive(Clone, Copy, Default)]
struct Calls {
    /// There are some.
    any: bool,
    /// One of them is the terminator: it runs after the block's end probes.
    terminator: bool,
}

/// Chooses places for the counters of one function.
pub struct Placer<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    calls: IdMap<Block, Calls>,
}

impl<'a> Placer<'a> {
    /// Looks at the function's call sites; `cfg` is the function's own graph.
    #[must_use]
    pub fn new(function: &'a Function, cfg: &'a Cfg) -> Self {
        let mut calls = cfg.per_block(Calls::default());
        for site in function.sites() {
            if let Some(calls) = calls.get_mut(site.block) {
                calls.any = true;
                calls.terminator |= site.terminator;
            }
        }
        Self { function, cfg, calls }
    }

    /// The cheapest place that measures the edge, perhaps by a [`Measure::Block`]. Not for EXIT→entry.
    #[must_use]
    pub fn edge(&self, edge: Edge) -> Placement {
        let src = self.cfg.src(edge);
        let through_source = Placement { place: Place::Start(src), if_taken: false, measure: Measure::Block(src) };
        let sole_edge_out = self.cfg.succs(src).len() == 1;
        if self.follows_tail_call(edge) {
            return through_source;
        }
        match self.counter(edge) {
            // Move up: everything that enters the source takes the edge, unless the terminator's call is abandoned.
            Placement { place: Place::Edge(_), .. } if sole_edge_out => through_source,
            direct => direct,
        }
    }

    /// The weighting in which every edge weighs the cost of its counter. The papers' statistics don't use it: they
    /// count increments.
    #[must_use]
    pub fn prices(&self, cfg: &Cfg, weighting: &Weighting) -> Weighting {
        let price = |edge: Edge| {
            let jumps = edge != cfg.exit_edge() && self.edge(edge).needs_jump();
            weighting.edge(edge) * if jumps { OWN_BLOCK } else { 1.0 }
        };
        Weighting::new(cfg, cfg.edges().map(price).collect())
    }

    /// The cheapest place for a counter of the edge and nothing else. Not for EXIT→entry.
    #[must_use]
    pub fn counter(&self, edge: Edge) -> Placement {
        let (direct, src) = (self.direct(edge), self.cfg.src(edge));
        // Calls that are no sites are never abandoned: before them the count is the same, and they may be tail calls.
        let calls = self.function.blocks.get(src).is_some_and(|facts| facts.instructions.calls > 0);
        if direct.place == Place::End(src)
            && !direct.if_taken
            && calls
            && !self.calls[src].any
            && self.may_end_in_tail_call(edge)
        {
            return Placement { place: Place::Start(src), ..direct };
        }
        direct
    }

    /// The cheapest place whose probes run exactly when the edge is taken, after all code of its source. Not for
    /// EXIT→entry.
    #[must_use]
    pub fn direct(&self, edge: Edge) -> Placement {
        let (src, dst) = (self.cfg.src(edge), self.cfg.dst(edge));
        let (place, if_taken) = if self.cfg.succs(src).len() == 1 && !self.calls[src].terminator {
            (Place::End(src), false)
        } else if dst != self.cfg.exit() && self.cfg.preds(dst).len() == 1 {
            (Place::Start(dst), false)
        } else if self.splittable(edge) {
            (Place::Edge(edge), false)
        } else {
            (Place::End(src), true)
        };
        Placement { place, if_taken, measure: Measure::Edge(edge) }
    }

    fn splittable(&self, edge: Edge) -> bool {
        self.function.edges.get(edge).is_none_or(|facts| facts.kind.splittable())
    }

    /// Is this the only edge out of a block whose last call may be a tail call (or never return)? A probe behind the
    /// call would keep it from being one.
    #[must_use]
    pub fn follows_tail_call(&self, edge: Edge) -> bool {
        let src = self.cfg.src(edge);
        self.cfg.succs(src).len() == 1 && self.calls[src].any && self.may_end_in_tail_call(edge)
    }

    /// Does the edge lead straight out of the function, with nothing in between that matters to a tail call?
    fn may_end_in_tail_call(&self, edge: Edge) -> bool {
        let dst = self.cfg.dst(edge);
        dst == self.cfg.exit() || self.is_bare_return(dst)
    }

    /// Is the block a bare `ret`, to which calls of several blocks may return together?
    #[must_use]
    pub fn is_bare_return(&self, block: Block) -> bool {
        let leaves = matches!(self.cfg.succs(block), [only] if self.cfg.dst(*only) == self.cfg.exit());
        let size = self.function.blocks.get(block).map_or(u32::MAX, |facts| facts.instructions.total);
        leaves && !self.calls[block].any && size <= BARE_RETURN
    }
}

/// Adds one counter to a plan, measured as the placement says.
pub fn add_counter(plan: &mut CounterPlan, placement: Placement) {
    let counter = Counter::new(plan.key.measures.len());
    plan.key.measures.push(placement.measure);
    let probe = match placement {
        Placement { if_taken: true, measure: Measure::Edge(edge), .. } => Probe::CountIfTaken(counter, edge),
        _ => Probe::Count(counter),
    };
    plan.probes.push(PlacedProbe { place: placement.place, probe });
}

/// Adds a counter of entries into a block.
pub fn add_block_counter(plan: &mut CounterPlan, block: Block) {
    add_counter(plan, Placement { place: Place::Start(block), if_taken: false, measure: Measure::Block(block) });
}
