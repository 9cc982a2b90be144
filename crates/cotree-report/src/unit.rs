//! A link unit with its profile: what every view starts from.

use crate::flow::{Flow, FlowBound};
use cotree_core::facts::{Function, Module, Position, Untouched};
use cotree_core::ids::FunctionId;
use cotree_core::method::{Family, Method};
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_profile::binary::BinaryMap;
use cotree_profile::recover::{Bound, UnitProfile};

/// A binary's map beside the profile of its runs.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// The map.
    pub map: &'a BinaryMap,
    /// The profile.
    pub profile: &'a UnitProfile,
    functions: Vec<(&'a Module, &'a Function)>,
}

/// A function of a unit.
#[derive(Clone, Copy, Debug)]
pub struct UnitFunction<'a> {
    /// Which it is.
    pub index: FunctionId,
    /// The module of the function.
    pub module: &'a Module,
    /// The facts of the function.
    pub facts: &'a Function,
    /// The profile of the function, if it has one.
    pub profile: Option<&'a FunctionProfile>,
    flaws: &'a [Flaw],
    bound: FlowBound<'a>,
}

impl<'a> UnitFunction<'a> {
    /// The counts of the function in detail.
    #[must_use]
    pub fn flow(&self) -> Option<Flow<'a>> {
        let mut flow = Flow::new(self.facts, self.profile?)?;
        flow.bound = self.bound;
        Some(flow)
    }

    /// The plain flaws of the function.
    #[must_use]
    pub fn flaws(&self) -> &'a [Flaw] {
        self.flaws
    }
}

impl<'a> Unit<'a> {
    /// Joins a map and a profile.
    #[must_use]
    pub fn new(map: &'a BinaryMap, profile: &'a UnitProfile) -> Self {
        Self { map, profile, functions: map.program.functions().collect() }
    }

    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = UnitFunction<'a>> + use<'a, '_> {
        let profiles = self.profile.functions.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        self.functions.iter().zip(profiles).zip(FunctionId::all()).map(|((&(module, facts), profile), index)| {
            let (flaws, bound) = (self.profile.flaws(index).unwrap_or_default(), self.bound(index));
            UnitFunction { index, module, facts, profile, flaws, bound }
        })
    }

    /// One function.
    #[must_use]
    pub fn function(&self, index: FunctionId) -> Option<UnitFunction<'a>> {
        let &(module, facts) = self.functions.get(index.index())?;
        let profile = self.profile.functions.get(index.index()).and_then(Option::as_ref);
        let (flaws, bound) = (self.profile.flaws(index).unwrap_or_default(), self.bound(index));
        Some(UnitFunction { index, module, facts, profile, flaws, bound })
    }

    /// What the counts of a function are.
    fn bound(&self, index: FunctionId) -> FlowBound<'a> {
        let exact = !self.profile.flaws(index).is_some_and(|flaws| flaws.iter().any(|flaw| flaw.concerns_recovery()));
        match &self.profile.bound {
            Bound::Least(interrupted) if !exact => {
                interrupted.get(index.index()).map_or(FlowBound::Exact, FlowBound::Least)
            }
            Bound::Most if !exact => FlowBound::Most,
            _ => FlowBound::Exact,
        }
    }

    /// The path of a source file.
    #[must_use]
    pub fn file(&self, file: u32) -> &'a str {
        self.map.program.files.get(file as usize).map_or("?", String::as_str)
    }

    /// A position for people: the file's name without its folders, and the line.
    #[must_use]
    pub fn brief(&self, position: Option<Position>) -> String {
        position.map_or_else(String::new, |p| {
            let path = self.file(p.file);
            format!("{}:{}", path.rsplit('/').next().unwrap_or(path), p.line)
        })
    }
}

/// Why a function carries no probes, for people.
#[must_use]
pub fn untouched_reason(untouched: Untouched) -> &'static str {
    match untouched {
        Untouched::Naked => "naked (assembly without a frame)",
        Untouched::Excluded => "excluded by your patterns",
        Untouched::IfuncResolver => "runs while the program is being relocated",
        Untouched::Coroutine => "a coroutine",
        Untouched::NotAsked => "profiling was not asked for",
        Untouched::AuthorForbids => "its author forbids instrumentation",
        Untouched::UnmodelledControlFlow => "has control flow that cannot be modelled",
    }
}

/// Stands beside counts of functions with [`Flaw::LoopsUnderWay`].
pub const LOOP_MISSING: &str = "(what a loop under way had counted is missing)";

/// The options of builds by which every turn of a loop is counted in memory.
pub(crate) fn counting_every_turn(method: Method) -> &'static str {
    match method.family() {
        Family::Counters(_) => "--affine off --promote off",
        _ => "--affine off",
    }
}

/// A flaw, for people.
#[must_use]
pub fn flaw_reason(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Inconsistent => "its counts contradict each other",
        Flaw::LiveFrames => {
            "activations may have been live at the end: derived counts may be off by one for each, and for each call that it makes"
        }
        Flaw::SuspendedStacks => {
            "the program changes stacks by itself (coroutines, fibers): activations on suspended ones were not seen"
        }
        Flaw::UnknownExit => "it may have been left at a place that is no known call",
        Flaw::WalkIncomplete => "a dying stack was not walked to its bottom",
        Flaw::Threads => "threads may have lost counts",
        Flaw::LoopsUnderWay => {
            "a loop may have been under way that is counted when it is left: all it had counted by then is missing (see --affine off, --promote off)"
        }
        Flaw::Damaged => "what was recorded of it was cut or damaged",
        Flaw::OptimisedBefore => {
            "it was optimised before its counters went in: loops that were vectorised or unrolled count a fraction of their turns (compile it with `cotree cc`)"
        }
    }
}
