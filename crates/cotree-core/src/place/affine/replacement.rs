//! Replacements: which counters an affine variable can replace, and at what price.
//!
//! A replacement puts an addition on every exit of a loop in the place of the counter on an edge inside it. So each
//! edge that some variable counts has a second price beside its own frequency. The greatest spanning tree under the
//! lower of the two prices is the cheapest plan, since the edges off a tree of greatest weight have the least total
//! weight. Of the edges that a variable counts, which all run about equally often, the most expensive is offered.

use super::fixed::FixedLoops;
use super::region::{Counted, LoopRegion};
use super::{AffineVariable, LONGEST_RUN, Quotient};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Counter, Edge, IdMap, Loop, Site, Variable};
use crate::plan::{CounterPlan, Measure};
use crate::probe::{Closing, Place, PlacedProbe, Probe};
use crate::weight::weighting::Weighting;
use std::collections::BTreeMap;

/// The cost, in increments, of the value at entry where the loop is left: a subtraction.
const VALUE_AT_ENTRY: f64 = 1.0;

/// The cost of the value at entry is added once more for this many blocks of the function: the value takes a register
/// while the loop runs, and large functions have none to spare. An interpreter or a decoder of a thousand blocks loses
/// a twentieth of its speed by one value too many.
const CROWD: f64 = 100.0;

/// The cost of testing the condition of a branch, in increments.
const CONDITION: f64 = 2.0;

/// The cost of finding the highest bits of the present value and of the value at entry.
const HIGHEST_BITS: f64 = 3.0;

/// The factor for estimates of how often a loop runs. Most loops run only a few times, above all those that are entered
/// most often; what a closing saves in a long loop is a small part of that loop's work.
const SURE_TRIPS: f64 = 0.6;

/// The factor for estimates of how often loops with several exits run: searches end early.
const SURE_TRIPS_OF_SEARCHES: f64 = 0.25;

/// In functions of more blocks, loops of known length are counted when they are left, like others: that costs little
/// beside the rest of such a function. But whether its inner loops find registers for their values depends on single
/// instructions elsewhere: bzip2's decoder (587 blocks) takes a quarter more instructions without one closing.
pub const LARGE: usize = 256;

/// The most blocks and edges that are visited for all variables of a function, per block and edge of the function. Deep
/// loop nests would exceed it.
const EFFORT: usize = 100;

/// Why a variable can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The variable's block is no loop header.
    #[error("its block is the header of no loop")]
    NoLoop,
    /// The loop has several entries.
    #[error("its loop is irreducible")]
    Irreducible,
    /// No edge is passed once for each step that it makes (Def. 3.5 is not met).
    #[error("its steps count no single edge of the loop")]
    NoEdge,
    /// The loop is never left.
    #[error("its loop has no exit")]
    NoExit,
    /// An activation may be abandoned within the loop.
    #[error("its loop may be abandoned at the call {0}")]
    Abandoned(Site),
    /// No code can be put on this exit.
    #[error("no code can be put on the exit {0} of its loop")]
    Exit(Edge),
    /// The variable may wrap around more often than the count allows.
    #[error("it is not proven that it does not wrap around")]
    Wraps,
    /// The function is too large.
    #[error("the function is too large to look at all loops")]
    TooLarge,
}

/// A counter's replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    /// The edge that is counted.
    pub edge: Edge,
    /// What a counter there would cost: how often it is expected to be bumped.
    pub counter_cost: f64,
    /// What the variable costs instead, in increments.
    pub cost: f64,
    /// Where the loop is left: the additions.
    pub closings: Vec<(Place, Closing)>,
    /// The additions are made only if the branch that the edge leaves takes that edge while the loop runs.
    pub conditional: bool,
}

/// The replacements that the variables of one function offer.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    /// Per variable, the replacement that it offers for an edge that it counts unconditionally.
    pub verdicts: IdMap<Variable, Result<Replacement, Refusal>>,
    /// Conditional replacements: for edges out of steady branches.
    pub conditional: Vec<(Variable, Replacement)>,
    /// The loops of known length, which need neither counter nor variable.
    pub fixed: FixedLoops,
    /// The cheapest replacement for each edge, if it is cheaper than a counter there.
    best: BTreeMap<Edge, Best>,
}

#[derive(Clone, Copy, Debug)]
enum Best {
    Always(Variable),
    /// An index of `conditional`.
    If(usize),
}

impl Replacements {
    /// Examines all variables of a function.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg, weighting: &Weighting, variables: &[AffineVariable]) -> Self {
        if variables.is_empty() {
            return Self::default();
        }
        let dfs = Dfs::new(cfg);
        let loops = LoopForest::new(cfg, &dfs);
        let mut judge = Judge {
            function,
            cfg,
            loops: &loops,
            weighting,
            numbers: LoopRegion::numbers(cfg),
            regions: BTreeMap::new(),
            effort: EFFORT.saturating_mul(cfg.block_count() + cfg.edge_count()),
        };
        let verdicts: IdMap<Variable, _> =
            (0..).map(Variable).zip(variables).map(|(n, v)| judge.replacement(n, v)).collect();
        let small = function.blocks.len() <= LARGE;
        let rounds = variables.iter().filter(|_| small).filter_map(|variable| {
            let l = loops.headed_by(variable.header)?;
            let (region, _) = judge.regions.get(&l)?.as_ref().ok()?;
            Some((l, (variable.rounds?, region)))
        });
        let fixed = FixedLoops::new(cfg, &loops, &rounds.collect());
        let conditional: Vec<(Variable, Replacement)> =
            (0..).map(Variable).zip(variables).flat_map(|(n, v)| judge.conditional(n, v)).collect();
        let mut replacements = Self { verdicts, conditional, fixed, best: BTreeMap::new() };
        let always =
            replacements.verdicts.numbered().filter_map(|(v, verdict)| Some((Best::Always(v), verdict.as_ref().ok()?)));
        let on_condition =
            replacements.conditional.iter().enumerate().map(|(index, (_, replacement))| (Best::If(index), replacement));
        let mut best: BTreeMap<Edge, (Best, f64)> = BTreeMap::new();
        for (how, replacement) in always.chain(on_condition) {
            if replacement.cost < replacement.counter_cost
                && best.get(&replacement.edge).is_none_or(|known| replacement.cost < known.1)
            {
                best.insert(replacement.edge, (how, replacement.cost));
            }
        }
        replacements.best = best.into_iter().map(|(edge, (how, _))| (edge, how)).collect();
        replacements
    }

    /// The replacement that replaces a counter on this edge, if there is one that pays.
    #[must_use]
    pub fn of(&self, edge: Edge) -> Option<(Variable, &Replacement)> {
        match *self.best.get(&edge)? {
            Best::Always(variable) => Some((variable, self.verdicts[variable].as_ref().ok()?)),
            Best::If(index) => self.conditional.get(index).map(|(variable, replacement)| (*variable, replacement)),
        }
    }

    /// The weighting in which every edge weighs the cost of measuring it, for these costs of counters.
    #[must_use]
    pub fn prices(&self, cfg: &Cfg, counters: &Weighting) -> Weighting {
        let price = |e: Edge| self.of(e).map_or(counters.edge(e), |(_, replacement)| replacement.cost);
        Weighting::new(cfg, cfg.edges().map(price).collect())
    }
}

impl Replacement {
    /// Adds the counter to a plan.
    pub fn add(&self, plan: &mut CounterPlan) {
        let counter = Counter::new(plan.key.measures.len());
        plan.key.measures.push(Measure::Edge(self.edge));
        plan.probes.extend(self.probes(counter));
    }

    /// The additions to a counter.
    pub fn probes(&self, counter: Counter) -> impl Iterator<Item = PlacedProbe> {
        self.closings.iter().map(move |&(place, closing)| {
            let probe = if self.conditional {
                Probe::CloseIf(counter, closing, self.edge)
            } else {
                Probe::Close(counter, closing)
            };
            PlacedProbe { place, probe }
        })
    }
}

/// The cost of a closing, in increments: its instructions and the registers that it occupies.
fn instructions(function: &Function, variable: &AffineVariable, place: Place, closing: Closing) -> f64 {
    let quotient = Quotient::new(closing.step, variable.bits);
    let mut cost = 1.0;
    if !variable.from_constant {
        #[allow(clippy::cast_precision_loss, reason = "costs are estimates")]
        let blocks = function.blocks.len() as f64;
        cost += VALUE_AT_ENTRY * (1.0 + blocks / CROWD);
    }
    if variable.shifted {
        cost += HIGHEST_BITS;
    }
    for part in [
        closing.plus != 0 || closing.offset != 0,
        quotient.shift != 0,
        quotient.inverse != 1,
        quotient.inverse != 1 && quotient.shift != 0,
        matches!(place, Place::Edge(_)),
    ] {
        cost += f64::from(u8::from(part));
    }
    cost
}

struct Judge<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    loops: &'a LoopForest,
    weighting: &'a Weighting,
    numbers: IdMap<Block, usize>,
    /// Loops that have been examined: their regions with the places of their exits, or why they can't be used.
    regions: BTreeMap<Loop, Result<Places, Refusal>>,
    effort: usize,
}

/// A region with the places of its exits.
type Places = (LoopRegion, Vec<Place>);

impl Judge<'_> {
    fn replacement(&mut self, number: Variable, variable: &AffineVariable) -> Result<Replacement, Refusal> {
        let l = self.loops.headed_by(variable.header).ok_or(Refusal::NoLoop)?;
        if !self.regions.contains_key(&l) {
            let region = self.region(l);
            self.regions.insert(l, region);
        }
        let (region, places) = self.regions[&l].as_ref().map_err(|&refusal| refusal)?;
        self.effort = self.effort.checked_sub(region.size()).ok_or(Refusal::TooLarge)?;

        let steps: BTreeMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let movement = |edge: Edge| steps.get(&edge).copied().unwrap_or(0);
        let edges = region.counted(movement);
        let costliest = edges.into_iter().max_by(|&a, &b| {
            self.weighting.edge(a).total_cmp(&self.weighting.edge(b)).then(b.cmp(&a)) // the first of equals
        });
        let counted = costliest.and_then(|edge| region.count(edge, movement)).ok_or(Refusal::NoEdge)?;
        self.offer(number, variable, region, places, &counted)
    }

    /// What the variable counts in runs of its loop that take one edge of a branch: for both edges of each steady
    /// branch.
    fn conditional(&mut self, number: Variable, variable: &AffineVariable) -> Vec<(Variable, Replacement)> {
        let Some(l) = self.loops.headed_by(variable.header) else { return Vec::new() };
        if !matches!(self.regions.get(&l), Some(Ok(_))) {
            return Vec::new();
        }
        let steps: BTreeMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let movement = |edge: Edge| steps.get(&edge).copied().unwrap_or(0);
        let mut replacements = Vec::new();
        for &branch in &variable.steady {
            let &[one, other] = self.cfg.succs(branch) else { continue };
            for (edge, never) in [(one, other), (other, one)] {
                let region = LoopRegion::without(self.cfg, self.loops, l, &mut self.numbers, never);
                let Some(effort) = self.effort.checked_sub(2 * region.size()) else { return replacements };
                self.effort = effort;
                let places: Option<Vec<Place>> = region.exits.iter().map(|&(exit, _)| self.place(exit)).collect();
                let (Some(places), Some(counted)) = (places, region.count(edge, movement)) else { continue };
                if let Ok(replacement) = self.offer(number, variable, &region, &places, &counted) {
                    let exits: f64 = region.exits.iter().map(|&(exit, _)| self.weighting.edge(exit)).sum();
                    replacements.push((
                        number,
                        Replacement { cost: replacement.cost + exits * CONDITION, conditional: true, ..replacement },
                    ));
                }
            }
        }
        replacements
    }

    /// The replacement for an edge that is counted in this region.
    fn offer(
        &self,
        number: Variable,
        variable: &AffineVariable,
        region: &LoopRegion,
        places: &[Place],
        counted: &Counted,
    ) -> Result<Replacement, Refusal> {
        let closings = region.exits.iter().zip(places).map(|(&(exit, at), &place)| {
            let closing = self.closing(number, variable, counted, self.cfg.src(exit), counted.potential[at])?;
            Ok((place, closing))
        });
        let closings = closings.collect::<Result<Vec<_>, Refusal>>()?;
        let closing_cost =
            |(place, closing): &(Place, Closing)| instructions(self.function, variable, *place, *closing);
        let costs =
            region.exits.iter().zip(&closings).map(|(&(exit, _), c)| self.weighting.edge(exit) * closing_cost(c));
        let cost = costs.sum();
        let counter_cost = self.weighting.edge(counted.edge) * self.certainty(region, variable);
        Ok(Replacement { edge: counted.edge, counter_cost, cost, closings, conditional: false })
    }

    fn region(&mut self, l: Loop) -> Result<Places, Refusal> {
        if self.loops.is_irreducible(l) {
            return Err(Refusal::Irreducible);
        }
        if self.loops.exit_count(l) == 0 {
            return Err(Refusal::NoExit);
        }
        let region = LoopRegion::new(self.cfg, self.loops, l, &mut self.numbers);
        self.effort = self.effort.checked_sub(region.size()).ok_or(Refusal::TooLarge)?;
        for &block in &region.blocks {
            if let Some((site, _)) = self.function.sites_of(block).next() {
                return Err(Refusal::Abandoned(site));
            }
        }
        let places = region.exits.iter().map(|&(exit, _)| self.place(exit).ok_or(Refusal::Exit(exit)));
        let places = places.collect::<Result<_, _>>()?;
        Ok((region, places))
    }

    /// Where code runs whenever, and only when, the exit is taken.
    fn place(&self, exit: Edge) -> Option<Place> {
        let dst = self.cfg.dst(exit);
        if dst != self.cfg.exit() && self.cfg.preds(dst).len() == 1 {
            return Some(Place::Start(dst));
        }
        let kind = self.function.edges.get(exit)?.kind;
        let splittable = kind.splittable() && !kind.exceptional() && kind != EdgeKind::CallBrIndirect;
        splittable.then_some(Place::Edge(exit))
    }

    /// What is added where the loop is left from this block.
    fn closing(
        &self,
        number: Variable,
        variable: &AffineVariable,
        counted: &Counted,
        from: Block,
        potential: i128,
    ) -> Result<Closing, Refusal> {
        let step = i64::try_from(counted.step).map_err(|_| Refusal::Wraps)?;
        let ahead = variable.ahead_at(from);
        let potential = i64::try_from(potential + i128::from(ahead)).map_err(|_| Refusal::Wraps)?;
        let shift = step.unsigned_abs().trailing_zeros();
        if shift >= variable.bits || variable.bits > 64 {
            return Err(Refusal::Wraps);
        }
        let closing = Closing { variable: number, from, step, offset: 0, plus: 0 };
        let divides = potential % step == 0;
        // All movements have the same sign, so their sum is never negative.
        let mut moves = variable.steps.iter().map(|s| s.1).chain([ahead]);
        let same_sign = moves.all(|by| by == 0 || (by < 0) == (step < 0));
        if variable.bits - shift >= LONGEST_RUN {
            // Subtracting after the division is cheaper, but then the quotient must be exact by itself.
            let after = divides && (same_sign || (shift == 0 && variable.bits == 64));
            return Ok(match after.then(|| (potential / step).checked_neg()).flatten() {
                Some(plus) => Closing { plus, ..closing },
                None => Closing { offset: potential, ..closing },
            });
        }
        // The sum must also stay below 2^bits.
        if !same_sign || !divides {
            return Err(Refusal::Wraps);
        }
        let missed = i128::from(potential / step);
        let room = i128::from(Quotient::new(step, variable.bits).mask);
        let fits = variable.never_wraps
            || variable.circuits.is_some_and(|circuits| {
                let once = self.once_per_circuit(variable.header, counted.edge);
                let begun = i128::from(from != variable.header);
                once && i128::from(circuits) + begun + missed <= room
            });
        if !fits {
            return Err(Refusal::Wraps);
        }
        Ok(Closing { plus: i64::try_from(-missed).map_err(|_| Refusal::Wraps)?, ..closing })
    }

    /// The part of the weighting's circuits of the loop that can be relied on.
    fn certainty(&self, region: &LoopRegion, variable: &AffineVariable) -> f64 {
        if !self.weighting.is_guess() {
            return 1.0;
        }
        let exits = self.weighting.likely(region.exits.iter().map(|&(exit, _)| exit));
        let sure = if exits == 1 { SURE_TRIPS } else { SURE_TRIPS_OF_SEARCHES };
        let Some(trips) = variable.trips else { return sure };
        let entries: f64 = region.entries.iter().map(|&e| self.weighting.edge(e)).sum();
        #[allow(clippy::cast_precision_loss, reason = "weights are estimates")]
        let known = entries * trips as f64 / self.weighting.block(variable.header).max(f64::MIN_POSITIVE);
        // Other exits may be taken first.
        if exits == 1 { known } else { known.min(sure) }
    }

    /// Is the edge passed at most once between two visits of the header?
    fn once_per_circuit(&self, header: Block, edge: Edge) -> bool {
        let headed = |b: Block| self.loops.innermost(b).map(|l| self.loops.header(l)) == Some(header);
        headed(self.cfg.src(edge)) || headed(self.cfg.dst(edge))
    }
}
