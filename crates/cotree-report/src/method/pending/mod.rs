//! What a process was at when it ended or its profile was copied: the frames of its stack from `main` on, and on which
//! path each was.
//!
//! Where a call keeps its path, the path is what was in a register. Elsewhere it follows from the paths that ran, if
//! only one of them led to that call, with the same calls open around it.

pub mod json;
pub mod text;

use super::ipath::IpathUnit;
use super::ipath::parts::{PathPart, Visit, place_of};
use super::path::{PathUnit, Paths};
use crate::unit::Unit;
use cotree_core::facts::stretches::{Stretch, stretches};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::ipath::AtCall;
use cotree_core::method::ipath::decode::Step;
use cotree_core::method::ipath::graph::Role;
use cotree_core::method::path::{AtCalls, Path};
use cotree_profile::held_path::HeldPath;
use cotree_profile::stack::{Activation, At};
use std::collections::BTreeSet;

/// An activation that was alive at the end, or when the profile was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The function; `None` if nobody knows which.
    pub function: Option<FunctionId>,
    /// Where it was.
    pub place: StoppedAt,
    /// On which path.
    pub path: PathTaken,
}

/// Where an activation was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoppedAt {
    /// In this call.
    Call(CallId),
    /// At an instruction, of this file and line.
    Instruction(Option<(String, u32)>),
    /// In some call, of this file and line.
    SomeCall(Option<(String, u32)>),
}

/// On which path an activation was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathTaken {
    /// On this one, which goes no further than to where the activation was.
    Path(Vec<PathPart>),
    /// On that of the next activation, which went on from here.
    OfTheNext,
    /// On one of so many that ran.
    OneOf(usize),
    /// A signal or a debugger found it between two calls, and nothing there said which one.
    NotHeld,
    /// There is no telling.
    Unknown,
}

/// The activations that were alive when a unit ended or was copied, outermost first, if its paths were counted.
#[must_use]
pub fn pending(unit: &Unit<'_>) -> Option<Vec<Pending>> {
    let source: PathSource<'_> = match (PathUnit::new(unit), IpathUnit::new(unit)) {
        (Some(paths), _) => PathSource::Within(paths),
        (None, Some(across)) => PathSource::Across(Across::new(across)),
        (None, None) => return None,
    };
    let mut out: Vec<Pending> = Vec::new();
    // The calls that are open around the next activation.
    let mut open: Vec<(FunctionId, CallId)> = Vec::new();
    for frame in unit.profile.stack.iter().rev() {
        match &frame.at {
            At::Call(activations) => {
                for activation in activations.iter().rev() {
                    let Activation { function, call, .. } = *activation;
                    let path = source.at_call(unit, activation, &open);
                    out.push(Pending { function: Some(function), place: StoppedAt::Call(call), path });
                    open.push((function, call));
                }
            }
            At::Instruction { function, line, caller, held, .. } => {
                if let (Some(outer), Some(held), Some(line)) = (function, held, caller)
                    && *outer != held.function
                {
                    let pending = around(unit, &source, *outer, line, &open);
                    if let StoppedAt::Call(call) = pending.place {
                        open.push((*outer, call));
                    }
                    out.push(pending);
                }
                let place = StoppedAt::Instruction(line.clone());
                let path = source.at_instruction(unit, *held, &open);
                let function = held.map(|held| held.function).or(*function);
                out.push(Pending { function, place, path });
                open.clear();
            }
            At::PassedOver { function, line } => {
                let call = function.zip(line.as_ref()).and_then(|(function, line)| only_call_at(unit, function, line));
                let place = call.map_or_else(|| StoppedAt::SomeCall(line.clone()), StoppedAt::Call);
                out.push(Pending { function: *function, place, path: PathTaken::Unknown });
                open.clear();
            }
        }
    }
    Some(out)
}

/// The activation that another one is inlined into, through a call on this line.
fn around(
    unit: &Unit<'_>,
    source: &PathSource<'_>,
    function: FunctionId,
    line: &(String, u32),
    open: &[(FunctionId, CallId)],
) -> Pending {
    let Some(call) = only_call_at(unit, function, line) else {
        let place = StoppedAt::SomeCall(Some(line.clone()));
        return Pending { function: Some(function), place, path: PathTaken::Unknown };
    };
    let path = source.at_call(unit, &Activation { function, call, register: None }, open);
    Pending { function: Some(function), place: StoppedAt::Call(call), path }
}

/// The call on a line, if the function has no other there.
fn only_call_at(unit: &Unit<'_>, function: FunctionId, line: &(String, u32)) -> Option<CallId> {
    let facts = unit.function(function)?.facts;
    // Folders may be spelt in another manner there.
    let file_name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let name = file_name(&line.0);
    let is_there = |&(call, _): &(CallId, _)| {
        let position = facts.call_position(call);
        position.is_some_and(|at| at.line == line.1 && file_name(unit.file(at.file)) == name)
    };
    let mut there = facts.calls.numbered().filter(is_there);
    there.next().filter(|_| there.next().is_none()).map(|(call, _)| call)
}

enum PathSource<'a> {
    Within(PathUnit<'a>),
    Across(Across<'a>),
}

impl PathSource<'_> {
    fn at_call(&self, unit: &Unit<'_>, at: &Activation, open: &[(FunctionId, CallId)]) -> PathTaken {
        match self {
            Self::Within(paths) => within(unit, paths, at).unwrap_or(PathTaken::Unknown),
            Self::Across(across) => across.at_call(at, open),
        }
    }

    fn at_instruction(&self, unit: &Unit<'_>, held: Option<HeldPath>, open: &[(FunctionId, CallId)]) -> PathTaken {
        let path = held.and_then(|held| {
            let facts = unit.function(held.function)?.facts;
            let stretch = stretches(facts).nth(held.stretch)?;
            match self {
                Self::Within(paths) => beginning(unit, paths, (held.function, stretch.block), held.beginning, None),
                Self::Across(across) => {
                    across.at_stretch(held.function, (held.stretch, stretch), held.beginning?, open)
                }
            }
        });
        path.unwrap_or(PathTaken::NotHeld)
    }
}

/// The beginning of a path within its function. Where paths are counted before the call, since they branch no more
/// behind it, it is that of one that ran.
fn within(unit: &Unit<'_>, paths: &PathUnit<'_>, at: &Activation) -> Option<PathTaken> {
    let facts = unit.function(at.function)?.facts;
    let (block, before) = place_of(facts, at.call)?;
    let of = paths.functions().iter().find(|of| of.function.index == at.function)?;
    let prefix = match of.key.at_calls(block)? {
        AtCalls::Counted => None,
        AtCalls::Known(prefix) => Some(prefix),
        AtCalls::Query(less) => Some(at.register?.wrapping_add(less).cast_unsigned()),
    };
    beginning(unit, paths, (at.function, block), prefix, Some(before))
}

/// The beginning of a path up to a block, by its number, or where the path has been counted by those that ran. If
/// `until` is given, the block got no further than to that call.
fn beginning(
    unit: &Unit<'_>,
    paths: &PathUnit<'_>,
    (function, block): (FunctionId, Block),
    prefix: Option<u64>,
    until: Option<u32>,
) -> Option<PathTaken> {
    unit.function(function)?.facts.blocks.get(block)?;
    let of = paths.functions().iter().find(|of| of.function.index == function)?;
    let numbered: Paths<'_> = of.numbered()?;
    let beginnings: BTreeSet<[Vec<Block>; 2]> = match prefix {
        Some(prefix) => {
            let path = numbered.numbering.path_along(&numbered.cfg, &numbered.numbering.arcs_up_to(block, prefix)?);
            BTreeSet::from([[numbered.context(&path), path.blocks]])
        }
        None => {
            let beginning = |mut path: Path| {
                let end = path.blocks.iter().position(|&on_it| on_it == block)?;
                path.blocks.truncate(end + 1);
                Some([numbered.context(&path), path.blocks])
            };
            numbered.executed().filter_map(|ran| beginning(ran.path)).collect()
        }
    };
    let [context, blocks] = match beginnings.len() {
        0 => return None,
        1 => beginnings.into_iter().next()?,
        several => return Some(PathTaken::OneOf(several)),
    };
    let whole = |block: &Block| Visit { block: *block, after_calls: 0, until: None };
    let part = |blocks: &[Block], context| PathPart {
        function,
        depth: 0,
        chain: Vec::new(),
        came_back: false,
        visits: blocks.iter().map(whole).collect(),
        context,
        enters: false,
    };
    let (context, mut active) = (part(&context, true), part(&blocks, false));
    if let Some(last) = active.visits.last_mut() {
        last.until = until;
    }
    Some(PathTaken::Path([context, active].into_iter().filter(|part| !part.visits.is_empty()).collect()))
}

/// The paths of a unit, by the calls before or in which they ended.
struct Across<'a> {
    of: IpathUnit<'a>,
    /// With the calls that were open around that one, as far as the path knows them.
    ended: Vec<Ended>,
}

struct Ended {
    number: u64,
    at: (FunctionId, CallId),
    open: Vec<(FunctionId, CallId)>,
}

/// The calls that are open at the end of a path, as far as it knows them.
fn open_calls(steps: &[Step]) -> Vec<(FunctionId, CallId)> {
    let mut open = Vec::new();
    for step in steps {
        match *step {
            Step::Call(caller, call, _) | Step::Descend(caller, call, _) => open.push((caller, call)),
            Step::Return(..) => _ = open.pop(),
            Step::Start(..) | Step::Along(..) => {}
        }
    }
    open
}

impl<'a> Across<'a> {
    fn new(of: IpathUnit<'a>) -> Self {
        let numbering = &of.profile.numbering;
        let ended = |number: u64| {
            let steps = numbering.path(number)?;
            let &Step::Along(function, arc) = steps.last()? else { return None };
            let Role::EndAtCall(call) = numbering.of(function)?.graph.role(arc) else { return None };
            Some(Ended { number, at: (function, call), open: open_calls(&steps) })
        };
        let before = of.profile.paths.iter().map(|path| path.0);
        let numbers = before.chain(of.profile.ended.iter().map(|path| path.0));
        Self { ended: numbers.filter_map(ended).collect(), of }
    }

    /// The path up to a stretch of a block, which a register has told.
    fn at_stretch(
        &self,
        function: FunctionId,
        (position, stretch): (usize, Stretch),
        number: u64,
        open: &[(FunctionId, CallId)],
    ) -> Option<PathTaken> {
        let numbering = &self.of.profile.numbering;
        let facts = self.of.facts(function)?;
        let node = *numbering.of(function)?.graph.nodes_of_stretches(facts).get(position)?;
        let mut beginnings = numbering.beginnings(number, function, node);
        if beginnings.len() > 1 {
            beginnings.retain(|steps| open.ends_with(&open_calls(steps)));
        }
        let steps = match &beginnings[..] {
            [] => return None,
            [only] => only,
            several => return Some(PathTaken::OneOf(several.len())),
        };
        let mut parts = self.of.parts(steps);
        let calls = facts.calls.iter().filter(|call| call.block == stretch.block).count();
        if let Some(last) = parts.last_mut().and_then(|part| part.visits.last_mut())
            && (stretch.after_calls as usize) < calls
        {
            last.until = Some(stretch.after_calls);
        }
        Some(PathTaken::Path(parts))
    }

    fn at_call(&self, at: &Activation, open: &[(FunctionId, CallId)]) -> PathTaken {
        let Some(plan) = self.of.plan.functions.get(at.function.index()) else { return PathTaken::Unknown };
        if let Some(AtCall::Cross(_)) = plan.key.at(at.call) {
            return PathTaken::OfTheNext;
        }
        let path = |number: u64| self.of.path(number, 1).map_or(PathTaken::Unknown, |path| PathTaken::Path(path.parts));
        if let Some(number) = at.register {
            return path(number.cast_unsigned());
        }
        let fits = |ended: &&Ended| ended.at == (at.function, at.call) && open.ends_with(&ended.open);
        match &self.ended.iter().filter(fits).collect::<Vec<_>>()[..] {
            [] => PathTaken::Unknown,
            [only] => path(only.number),
            several => PathTaken::OneOf(several.len()),
        }
    }
}
