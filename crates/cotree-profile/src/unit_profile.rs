//! The recovered profile of a link unit.

use crate::binary::{BinaryFile, UnitId};
use crate::method::{self, MethodProfile};
use crate::note::Note;
use crate::runs::Runs;
use crate::stack::Frame;
use cotree_core::ids::{Block, FunctionId, IdMap};
use cotree_core::method::RecoverError;
use cotree_core::method::targets::SiteTargets;
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_rt::layout::Flags;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The recovered profile of a link unit.
#[derive(Clone, Debug)]
pub struct UnitProfile {
    /// The build.
    pub unit: UnitId,
    /// The binary.
    pub binary: PathBuf,
    /// The command line, if that of all runs is the same; else empty.
    pub command: Vec<String>,
    /// The tests that the runs were part of, as far as they had a name.
    pub tests: BTreeSet<String>,
    /// Further results of the method.
    pub method: MethodProfile,
    /// One per function, in the order of [`cotree_core::facts::ProgramMap::functions`]; `None` where nothing was
    /// measured (see [`cotree_core::facts::Function::untouched`]) or recovery failed (see `failures`).
    pub functions: Vec<Option<FunctionProfile>>,
    /// Functions whose counts contradict their plan.
    pub failures: Vec<(FunctionId, RecoverError)>,
    /// The runs.
    pub runs: Runs,
    /// The sum of their weights.
    pub weight: u64,
    /// What happened in any of the runs.
    pub flags: Flags,
    /// Per function, whom each of its indirect calls has called ([`cotree_core::method::targets`]); `None` where that
    /// was not counted.
    pub targets: Option<Vec<Vec<SiteTargets>>>,
    /// What a reader must know about the runs.
    pub notes: Vec<Note>,
    /// The stack of the thread that ended a run, innermost first; empty if it was not written down.
    pub stack: Vec<Frame>,
    /// What the counts of flawed functions are.
    pub bound: Bound,
}

/// What the counts of functions with flaws are ([`crate::bounds`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// What follows from the counters if no activation was live.
    #[default]
    Recovered,
    /// The least that ran. Per function and block, how many of the activations that entered it may not have come past
    /// its beginning; empty where all is known.
    Least(Vec<IdMap<Block, u64>>),
    /// The most that may have run.
    Most,
}

impl UnitProfile {
    /// Is every number exact?
    #[must_use]
    pub fn exact(&self) -> bool {
        self.failures.is_empty() && self.all_flaws().all(<[Flaw]>::is_empty)
    }

    /// Are the events of functions and calls right, as far as they are summed? An activation that ended where its part
    /// of them was not known may have been part of any call.
    #[must_use]
    pub fn sums_exact(&self) -> bool {
        self.method.events().and_then(|events| events.calls.as_ref()).is_none_or(|sums| sums.exact)
    }

    /// What can't be vouched for in a function; `None` if nothing of it was recovered.
    #[must_use]
    pub fn flaws(&self, function: FunctionId) -> Option<&[Flaw]> {
        method::flaws(&self.method, &self.functions, function)
    }

    /// The flaws of all functions of which something was recovered.
    pub fn all_flaws(&self) -> impl Iterator<Item = &[Flaw]> {
        FunctionId::all().zip(&self.functions).filter_map(|(function, _)| self.flaws(function))
    }
}

/// A binary and the profile of its runs.
pub type Recovery = (BinaryFile, UnitProfile);
