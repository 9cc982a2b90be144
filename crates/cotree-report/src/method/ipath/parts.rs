//! A path across functions as what its reader follows: parts of one activation after the other.

use crate::method::path::route::Stop;
use crate::unit::Unit;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::ipath::decode::{Step, active_suffix};
use cotree_core::method::ipath::graph::Role;
use cotree_core::method::ipath::numbering::Numbering;

/// What a path executes of one block: all of it, or what is between two of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The block.
    pub block: Block,
    /// How many of its calls are before.
    pub after_calls: u32,
    /// Up to the call that has so many before it, that one included; to the end without.
    pub until: Option<u32>,
}

/// A part of a path: visits of one activation that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The function.
    pub function: FunctionId,
    /// How many calls deep, the outermost activation of the path at 0.
    pub depth: u32,
    /// The calls that are open around it, as far as the path knows them, outermost first.
    pub chain: Vec<(FunctionId, CallId)>,
    /// How it was reached is not known to the path: it began in a callee.
    pub came_back: bool,
    /// What it executes.
    pub visits: Vec<Visit>,
    /// The part belongs to the context-prefix, which other paths have executed.
    pub context: bool,
    /// An activation begins with it.
    pub enters: bool,
}

/// The parts of a path.
#[must_use]
pub fn path_parts(unit: &Unit<'_>, numbering: &Numbering, steps: &[Step]) -> Vec<PathPart> {
    let active = active_suffix(numbering, steps);
    let mut follower =
        Follower { unit, out: Vec::new(), chain: Vec::new(), came_back: false, depths: Vec::new(), depth: 0 };
    for (index, &step) in steps.iter().enumerate() {
        let context = index < active;
        match step {
            Step::Start(function, _) => follower.open(function, context, false),
            Step::Along(function, arc) => {
                let Some(numbers) = numbering.of(function) else { continue };
                follower.along(function, numbers.graph.role(arc), context);
            }
            Step::Call(function, call, callee) | Step::Descend(function, call, callee) => {
                follower.until(function, call);
                follower.chain.push((function, call));
                follower.depth += 1;
                follower.open(callee, context, true);
            }
            Step::Return(function, call) => {
                follower.came_back |= follower.chain.pop().is_none();
                follower.depth -= 1;
                follower.open(function, context, false);
                follower.behind(function, call);
            }
        }
    }
    let Follower { mut out, depths, .. } = follower;
    let outermost = depths.iter().copied().min().unwrap_or(0);
    for (part, depth) in out.iter_mut().zip(depths) {
        part.depth = depth.abs_diff(outermost);
    }
    out.retain(|part| !part.visits.is_empty() || part.enters);
    out
}

/// The block of a call, and how many calls of the block come before it.
#[must_use]
pub fn place_of(function: &Function, call: CallId) -> Option<(Block, u32)> {
    let calls = &function.calls;
    let block = calls.get(call)?.block;
    let before = (0..call.index()).rev().take_while(|&earlier| calls[CallId::new(earlier)].block == block);
    Some((block, u32::try_from(before.count()).unwrap_or(u32::MAX)))
}

struct Follower<'a> {
    unit: &'a Unit<'a>,
    out: Vec<PathPart>,
    chain: Vec<(FunctionId, CallId)>,
    came_back: bool,
    /// Per part, how deep it is beside where the path began.
    depths: Vec<i32>,
    depth: i32,
}

impl Follower<'_> {
    fn facts(&self, function: FunctionId) -> Option<&Function> {
        self.unit.function(function).map(|of| of.facts)
    }

    fn open(&mut self, function: FunctionId, context: bool, enters: bool) {
        let (chain, came_back) = (self.chain.clone(), self.came_back);
        self.out.push(PathPart { function, depth: 0, chain, came_back, visits: Vec::new(), context, enters });
        self.depths.push(self.depth);
    }

    /// The part that goes on; a new one where the context-prefix is over.
    fn here(&mut self, function: FunctionId, context: bool) -> Option<&mut PathPart> {
        if self.out.last().is_some_and(|part| part.context != context) {
            self.open(function, context, false);
        }
        self.out.last_mut()
    }

    fn visit(&mut self, function: FunctionId, block: Block, after_calls: u32, context: bool) {
        if let Some(part) = self.here(function, context) {
            part.visits.push(Visit { block, after_calls, until: None });
        }
    }

    fn index(&self, function: FunctionId, call: CallId) -> Option<(Block, u32)> {
        place_of(self.facts(function)?, call)
    }

    /// The block is left at the call.
    fn until(&mut self, function: FunctionId, call: CallId) {
        let Some((_, before)) = self.index(function, call) else { return };
        if let Some(visit) = self.out.last_mut().and_then(|part| part.visits.last_mut()) {
            visit.until = Some(before);
        }
    }

    /// The block goes on behind the call.
    fn behind(&mut self, function: FunctionId, call: CallId) {
        let Some((block, before)) = self.index(function, call) else { return };
        let context = self.out.last().is_some_and(|part| part.context);
        self.visit(function, block, before.saturating_add(1), context);
    }

    fn along(&mut self, function: FunctionId, role: Role, context: bool) {
        let target = |edge: cotree_core::ids::Edge| {
            let facts = self.facts(function)?;
            facts.edges.get(edge).map(|edge| edge.dst).filter(|&dst| dst != facts.exit())
        };
        match role {
            Role::Enter => {
                if let Some(part) = self.here(function, context) {
                    part.enters = true;
                }
                self.visit(function, Block(0), 0, context);
            }
            Role::Real(edge) | Role::BeginOnEdge(edge) => {
                if let Some(block) = target(edge) {
                    self.visit(function, block, 0, context);
                }
            }
            Role::FromDispatch(block) | Role::BeginAfterEdge(block) | Role::BeginAtBlock(block) => {
                self.visit(function, block, 0, context);
            }
            Role::BeginAfterCall(call) => {
                if let Some((block, before)) = self.index(function, call) {
                    self.visit(function, block, before.saturating_add(1), context);
                }
            }
            Role::EndAtCall(call) => self.until(function, call),
            Role::EndAtBlock(_) => {
                // The next path begins with its body.
                if let Some(part) = self.out.last_mut() {
                    part.visits.pop();
                }
            }
            Role::Return(_)
            | Role::EndOnEdge(_)
            | Role::Inside(_)
            | Role::ToDispatch(_)
            | Role::Cross(..)
            | Role::Descend(..) => {}
        }
    }
}

impl PathPart {
    /// The lines that it runs through.
    #[must_use]
    pub fn stops(&self, function: &Function) -> Vec<Stop> {
        let mut stops: Vec<Stop> = Vec::new();
        for visit in &self.visits {
            let Some(facts) = function.blocks.get(visit.block) else { continue };
            let spans = facts.runs.iter().filter(|run| visit.has(run.after_calls)).filter_map(|run| run.span);
            for span in spans.filter_map(|span| facts.lines.get(span as usize)) {
                let stop = Stop::from(span);
                if stops.last() != Some(&stop) {
                    stops.push(stop);
                }
            }
        }
        stops
    }

    /// The instructions that it executes.
    #[must_use]
    pub fn instructions(&self, function: &Function) -> u64 {
        let of = |visit: &Visit| {
            let runs = function.blocks.get(visit.block).map_or(&[][..], |facts| &facts.runs);
            let runs = runs.iter().filter(|run| visit.has(run.after_calls));
            runs.map(|run| u64::from(run.instructions.total)).sum::<u64>()
        };
        self.visits.iter().map(of).sum()
    }
}

impl Visit {
    /// Does it execute what stands behind so many calls?
    const fn has(&self, after_calls: u32) -> bool {
        after_calls >= self.after_calls
            && match self.until {
                Some(until) => after_calls <= until,
                None => true,
            }
    }
}
