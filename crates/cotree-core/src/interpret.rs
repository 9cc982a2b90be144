//! An interpreter of probes over walks of the graph: test support, here so that every crate can check plans without
//! running machine code.
//!
//! A [`Walk`] is what one activation does between two points at which it is seen from outside: it begins at the entry
//! or comes to life at a call site (the second return of `setjmp`, a frame that a forked child inherits), takes
//! edges, and ends at EXIT or is abandoned at a call site. [`Machine`] runs a plan's probes over walks; [`observe`]
//! counts the same walks directly, without any probe. For every method and all walks,
//! `recover(plan, run(plan, walks)) == observe(walks)`.

use crate::affine::{AffineVariable, Quotient, mask};
use crate::cfg::Cfg;
use crate::dfs::Dfs;
use crate::facts::Function;
use crate::ids::{Block, Edge, Site, Table};
use crate::loops::LoopForest;
use crate::plan::FunctionPlan;
use crate::probe::{Closing, Place, Probe, Reg};
use crate::profile::{EarlyExits, FunctionProfile};
use std::collections::BTreeMap;

/// Where a walk begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the entry: a new activation.
    Entry,
    /// While the call at this site is running; what follows the call comes next.
    Site(Site),
}

/// Where a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At EXIT, by its last edge.
    Exit,
    /// While the call at this site of the last block is running: abandoned.
    Site(Site),
}

/// A stretch of one activation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Its beginning.
    pub from: From,
    /// The edges taken, in order.
    pub edges: Vec<Edge>,
    /// Its end.
    pub until: Until,
}

/// Why a sequence of edges is no walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// The edge does not leave the block that was reached.
    #[error("{0} does not leave {1}")]
    Detached(Edge, Block),
    /// There is no such call site, or not in the block that was reached.
    #[error("call site {0} is not in {1}")]
    NoSuchSite(Site, Block),
    /// A walk that should end at EXIT ends elsewhere, or one passes through EXIT.
    #[error("the walk ends in {0}")]
    EndsIn(Block),
}

/// What happens along a walk, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A new activation.
    Begin,
    /// The block is entered.
    Enter(Block),
    /// The block's end is reached; the edge is the one that its terminator is about to take.
    End(Block, Option<Edge>),
    /// The edge is taken.
    Take(Edge),
    /// Abandoned at a call site (1) or come to life there (−1).
    Early(Site, i64),
}

/// Checks a walk and tells its steps.
fn steps(function: &Function, cfg: &Cfg, walk: &Walk, mut tell: impl FnMut(Step)) -> Result<(), WalkError> {
    let site = |site: Site, block: Option<Block>| match function.calls.site(site) {
        Some(facts) if block.is_none_or(|b| b == facts.block) => Ok(facts),
        _ => Err(WalkError::NoSuchSite(site, block.unwrap_or(cfg.exit()))),
    };
    let (mut at, mut end_is_ahead) = match walk.from {
        From::Entry => {
            tell(Step::Begin);
            tell(Step::Enter(cfg.entry()));
            (cfg.entry(), true)
        }
        From::Site(from) => {
            let facts = site(from, None)?;
            tell(Step::Early(from, -1));
            (facts.block, !facts.terminator)
        }
    };
    for &edge in &walk.edges {
        if at == cfg.exit() {
            return Err(WalkError::EndsIn(at));
        }
        if edge >= cfg.exit_edge() || cfg.src(edge) != at {
            return Err(WalkError::Detached(edge, at));
        }
        if end_is_ahead {
            tell(Step::End(at, Some(edge)));
        }
        tell(Step::Take(edge));
        (at, end_is_ahead) = (cfg.dst(edge), true);
        if at != cfg.exit() {
            tell(Step::Enter(at));
        }
    }
    match walk.until {
        Until::Exit if at == cfg.exit() => Ok(()),
        Until::Exit => Err(WalkError::EndsIn(at)),
        Until::Site(until) => {
            let facts = site(until, Some(at))?;
            if matches!(walk.from, From::Site(from) if walk.edges.is_empty() && until < from) {
                return Err(WalkError::NoSuchSite(until, at));
            }
            if facts.terminator && end_is_ahead {
                tell(Step::End(at, None));
            }
            tell(Step::Early(until, 1));
            Ok(())
        }
    }
}

/// The true profile of some walks, counted directly, and the early exits that the runtime would report for them.
///
/// # Errors
/// Where one of them is no walk of the function.
pub fn observe(function: &Function, cfg: &Cfg, walks: &[Walk]) -> Result<(FunctionProfile, EarlyExits), WalkError> {
    let mut entries = 0;
    let mut blocks = vec![0; function.blocks.len()];
    let mut edges = vec![0; function.edges.len()];
    let mut at_site = vec![0; function.sites().len()];
    for walk in walks {
        steps(function, cfg, walk, |step| match step {
            Step::Begin => entries += 1,
            Step::Enter(block) => blocks[block.index()] += 1,
            Step::Take(edge) => edges[edge.index()] += 1,
            Step::Early(site, count) => at_site[site.index()] += count,
            Step::End(..) => {}
        })?;
    }
    let early = if at_site.iter().all(|&n| n == 0) { Vec::new() } else { at_site };
    let profile = FunctionProfile { entries, blocks, edges: Some(edges), early: early.clone(), flaws: Vec::new() };
    Ok((profile, EarlyExits { at_site: early }))
}

/// The registers of one activation; a register that was never set holds 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    values: BTreeMap<Reg, i64>,
    /// The thread's events when the path began.
    began: i64,
}

impl Registers {
    /// The value of a register.
    #[must_use]
    pub fn get(&self, reg: Reg) -> i64 {
        self.values.get(&reg).copied().unwrap_or(0)
    }
}

/// Affine variables with what they are now, and what they were when their loops were entered.
#[derive(Clone, Debug)]
struct Variables<'a> {
    facts: &'a [AffineVariable],
    loops: LoopForest,
    values: Vec<(u64, u64)>,
    /// When each loop was entered, and when each block was last left, by which edge.
    entered: Vec<u64>,
    left: BTreeMap<Block, (u64, Edge)>,
    time: u64,
}

impl Variables<'_> {
    /// The program moves its variables.
    fn take(&mut self, cfg: &Cfg, edge: Edge, initial: &mut impl FnMut() -> u64) {
        let (src, dst) = (cfg.src(edge), cfg.dst(edge));
        self.time += 1;
        self.left.insert(src, (self.time, edge));
        for ((facts, (value, entry)), entered) in self.facts.iter().zip(&mut self.values).zip(&mut self.entered) {
            let Some(l) = self.loops.headed_by(facts.header) else { continue };
            if dst == facts.header && !self.loops.contains(l, src) {
                *value = initial() & mask(facts.bits);
                *entry = *value;
                *entered = self.time;
            } else if let Ok(found) = facts.steps.binary_search_by_key(&edge, |s| s.0) {
                *value = value.wrapping_add(facts.steps[found].1.cast_unsigned()) & mask(facts.bits);
            }
        }
    }

    /// Has its branch gone this way since the loop was entered? If it has gone neither way, anything may be true of its condition.
    fn went(&self, closing: Closing, edge: Edge, src: Block) -> bool {
        match self.left.get(&src) {
            Some(&(time, way)) if time > self.entered[closing.variable.index()] => way == edge,
            _ => self.time.is_multiple_of(3),
        }
    }

    /// What a closing adds to its counter.
    fn counted(&self, closing: Closing) -> u64 {
        let (value, entry) = self.values[closing.variable.index()];
        let facts = &self.facts[closing.variable.index()];
        let bits = facts.bits;
        let value = value.wrapping_add(facts.ahead_at(closing.from).cast_unsigned());
        let moved = value.wrapping_sub(entry).wrapping_sub(closing.offset.cast_unsigned());
        Quotient::new(closing.step, bits).of(moved, bits).wrapping_add(closing.plus.cast_unsigned())
    }
}

/// Everything that probes write to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The counters of the plan.
    pub counters: Vec<u64>,
    /// The path tables: how often each path number was counted.
    pub paths: BTreeMap<(Table, i64), u64>,
    /// The path tables: the events between beginning and end of each path.
    pub sums: BTreeMap<(Table, i64), i64>,
    /// The witnesses written, in order: value (cut to its bits) and number of bits.
    pub trace: Vec<(u32, u8)>,
    /// The thread's event counter.
    pub events: i64,
}

fn place_number(cfg: &Cfg, place: Place) -> usize {
    match place {
        Place::Start(block) => block.index(),
        Place::End(block) => cfg.block_count() + block.index(),
        Place::Edge(edge) => 2 * cfg.block_count() + edge.index(),
    }
}

/// Runs the probes of one plan.
pub struct Machine<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    /// By place: the starts of all blocks, their ends, all edges.
    probes: Vec<Vec<Probe>>,
    variables: Option<Variables<'a>>,
    /// How many events come next.
    events: Option<&'a mut dyn FnMut() -> i64>,
    effects: Effects,
}

impl<'a> Machine<'a> {
    /// A machine with all counters at 0.
    ///
    /// # Panics
    /// If the plan is not for this graph.
    #[must_use]
    pub fn new<'p>(function: &'a Function, cfg: &'a Cfg, plan: impl Into<FunctionPlan<'p>>) -> Self {
        let plan = plan.into();
        let mut probes = vec![Vec::new(); 2 * cfg.block_count() + cfg.edge_count()];
        for placed in plan.probes {
            probes[place_number(cfg, placed.place)].push(placed.probe);
        }
        let effects = Effects { counters: vec![0; plan.counters.measures.len()], ..Effects::default() };
        Self { function, cfg, probes, variables: None, events: None, effects }
    }

    /// A machine whose program has affine variables. They enter their loops with all kinds of values.
    #[must_use]
    pub fn with_variables(mut self, variables: &'a [AffineVariable]) -> Self {
        let loops = LoopForest::new(self.cfg, &Dfs::new(self.cfg));
        self.variables = Some(Variables {
            facts: variables,
            loops,
            values: vec![(0, 0); variables.len()],
            entered: vec![0; variables.len()],
            left: BTreeMap::new(),
            time: 0,
        });
        self
    }

    /// A machine whose program reports events: in each block after the probes at its start, before those at its end, and
    /// where it ends in a call after that.
    #[must_use]
    pub fn with_events(mut self, events: &'a mut dyn FnMut() -> i64) -> Self {
        self.events = Some(events);
        self
    }

    /// Runs a walk with fresh registers; gives the registers at its end.
    ///
    /// # Errors
    /// Where it is no walk of the function.
    pub fn run(&mut self, walk: &Walk) -> Result<Registers, WalkError> {
        self.run_with(walk, Registers::default())
    }

    /// Runs a walk of an activation that has run before.
    ///
    /// # Errors
    /// Where it is no walk of the function.
    ///
    /// # Panics
    /// If the plan uses counters that it does not have.
    pub fn run_with(&mut self, walk: &Walk, mut registers: Registers) -> Result<Registers, WalkError> {
        let Self { function, cfg, probes, variables, events, effects } = self;
        let mut report = |effects: &mut Effects| {
            let more = events.as_mut().map_or(0, |next| next());
            effects.events = effects.events.wrapping_add(more);
        };
        let calls_last = |block| function.sites_of(block).any(|(_, site)| site.terminator);
        let mut drawn = walk.edges.len() as u64;
        let mut initial = || {
            drawn = drawn.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x7F4A_7C15_F39C_C060);
            drawn ^ drawn >> 29
        };
        steps(function, cfg, walk, |step| {
            match (step, &mut *variables) {
                (Step::Begin, Some(variables)) => variables.take(cfg, cfg.exit_edge(), &mut initial),
                (Step::Take(edge), Some(variables)) => variables.take(cfg, edge, &mut initial),
                _ => {}
            }
            match step {
                Step::Begin => registers.began = effects.events,
                Step::End(..) => report(effects),
                Step::Take(edge) if calls_last(cfg.src(edge)) => report(effects),
                Step::Enter(_) | Step::Take(_) | Step::Early(..) => {}
            }
            let (place, next) = match step {
                Step::Enter(block) => (Place::Start(block), None),
                Step::End(block, next) => (Place::End(block), next),
                Step::Take(edge) => (Place::Edge(edge), None),
                Step::Begin | Step::Early(..) => return,
            };
            let place = place_number(cfg, place);
            for &probe in &probes[place] {
                if let (Some((counter, closing)), Some(variables)) = (probe.closing(), &*variables) {
                    let adds =
                        !matches!(probe, Probe::CloseIf(_, _, way) if !variables.went(closing, way, cfg.src(way)));
                    if adds {
                        effects.bump(counter.index(), variables.counted(closing));
                    }
                }
                effects.apply(probe, next, &mut registers);
            }
            if let Step::Enter(_) = step {
                report(effects);
            }
        })?;
        Ok(registers)
    }

    /// What the probes have written so far.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// What the probes have written.
    #[must_use]
    pub fn into_effects(self) -> Effects {
        self.effects
    }
}

impl Effects {
    fn apply(&mut self, probe: Probe, next: Option<Edge>, registers: &mut Registers) {
        match probe {
            Probe::Count(counter) => self.bump(counter.index(), 1),
            Probe::CountIfTaken(counter, edge) if next == Some(edge) => self.bump(counter.index(), 1),
            // Variables are not registers: the machine that has them sees to closings.
            Probe::CountIfTaken(..) | Probe::Close(..) | Probe::CloseIf(..) => {}
            Probe::Set(reg, constant) => {
                registers.values.insert(reg, constant);
            }
            Probe::Add(reg, constant) => {
                let slot = registers.values.entry(reg).or_insert(0);
                *slot = slot.wrapping_add(constant);
            }
            Probe::Linear { to, from, times, plus } => {
                registers.values.insert(to, registers.get(from).wrapping_mul(times).wrapping_add(plus));
            }
            Probe::CountPath(table, reg, constant) => {
                let path = registers.get(reg).wrapping_add(constant);
                *self.paths.entry((table, path)).or_insert(0) += 1;
                let sum = self.sums.entry((table, path)).or_insert(0);
                *sum = sum.wrapping_add(self.events.wrapping_sub(registers.began));
                registers.began = self.events;
            }
            Probe::AddTo(counter, reg, constant) => {
                self.bump(counter.index(), registers.get(reg).wrapping_add(constant).cast_unsigned());
            }
            Probe::Witness { value, bits } => {
                let mask = u32::MAX.checked_shl(u32::from(bits)).map_or(u32::MAX, |high| !high);
                self.trace.push((value & mask, bits));
            }
            Probe::Events(count) => self.events = self.events.wrapping_add(count),
        }
    }

    fn bump(&mut self, counter: usize, by: u64) {
        self.counters[counter] = self.counters[counter].wrapping_add(by);
    }
}

/// The counters after all walks, each an activation of its own.
///
/// # Errors
/// Where one of them is no walk of the function.
pub fn run<'p>(
    function: &Function,
    cfg: &Cfg,
    plan: impl Into<FunctionPlan<'p>>,
    walks: &[Walk],
) -> Result<Vec<u64>, WalkError> {
    let mut machine = Machine::new(function, cfg, plan);
    for walk in walks {
        machine.run(walk)?;
    }
    Ok(machine.into_effects().counters)
}
