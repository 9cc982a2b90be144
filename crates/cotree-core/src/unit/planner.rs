//! The input of unit planning: the facts of a unit's functions, and the user's choices.

use crate::facts::hints::Hints;
use crate::facts::{Function, Module, ProgramMap};
use crate::graph::cfg::{Cfg, CfgError};
use crate::ids::CallId;
use crate::method::events::EventOptions;
use crate::method::ipath::IpathOptions;
use crate::method::path::PathOptions;
use crate::method::path::windows::Room;
use crate::method::trace::TraceOptions;
use crate::method::{FunctionPlanError, UnitPlanError};
use crate::place::affine::AffineVariable;
use crate::place::spanning::Extreme;
use crate::profile::FunctionProfile;
use crate::weight::weighting::Weighting;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The facts about a unit before it is planned. Lists have an entry per function, in unit order; a list may be empty if
/// nothing is known.
#[derive(Clone, Debug)]
pub struct UnitFacts<'a> {
    /// The functions.
    pub program: &'a ProgramMap,
    /// What their code says about its branches.
    pub hints: Vec<&'a Hints>,
    /// Their loop variables that move by constant steps.
    pub variables: Vec<&'a [AffineVariable]>,
    /// Is it certain that only calls by name in the unit's own functions call it?
    pub callers_known: Vec<bool>,
    /// Does a call by its name in the unit's own functions reach it for certain?
    pub reached_by_name: Vec<bool>,
    /// Where calls through pointers may lead.
    pub pointers: PointerKinds,
    /// Does its code count its entries in any case, to find out which thread it runs on?
    pub check_thread: Vec<bool>,
    /// The counts of an earlier run.
    pub previous: Vec<Option<&'a FunctionProfile>>,
    /// May a call by name of a function that others can see reach a function of that name elsewhere? So it is in shared
    /// libraries.
    pub preemptible: bool,
    /// Does anything in the link ask for events while the program runs ([`crate::method::events::reach`])?
    pub queried: bool,
    /// The calls of which the program asks what they have led to ([`crate::method::events::call_queries`]).
    pub queried_calls: Vec<BTreeSet<CallId>>,
}

impl<'a> UnitFacts<'a> {
    /// Nothing but the functions.
    #[must_use]
    pub fn new(program: &'a ProgramMap) -> Self {
        Self {
            program,
            hints: Vec::new(),
            variables: Vec::new(),
            callers_known: Vec::new(),
            reached_by_name: Vec::new(),
            pointers: PointerKinds::default(),
            check_thread: Vec::new(),
            previous: Vec::new(),
            preemptible: false,
            queried: false,
            queried_calls: Vec::new(),
        }
    }
}

/// Pointers to functions by kind: a call through a pointer leads to a function whose address pointers of that kind
/// hold, unless the program has cast it. Nothing stands on that: callees are known by their addresses.
#[derive(Clone, Debug, Default)]
pub struct PointerKinds {
    /// Per function: of which kind pointers to it are, if a call through one reaches it for certain.
    pub functions: Vec<Option<u32>>,
    /// Per function: its calls through pointers, and the kind of each pointer, in order.
    pub calls: Vec<Vec<(CallId, u32)>>,
}

/// The user's choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Which spanning tree the edge method takes. [`Extreme::Minimum`] only serves to show what the other one saves, so
    /// no other technique makes its counters cheaper.
    pub spanning_tree: Extreme,
    /// Do loop variables count in place of counters?
    pub affine: bool,
    /// Are counters of tight loops kept in registers?
    pub promote: bool,
    /// Do entries follow from callers?
    pub interprocedural_flow: bool,
    /// How paths are planned.
    pub paths: PathOptions,
    /// How paths across functions are planned.
    pub ipath: IpathOptions,
    /// How traces are planned.
    pub traces: TraceOptions,
    /// What large path tables cost.
    pub room: Room,
    /// How events are counted.
    pub events: EventOptions,
    /// Are targets of indirect calls counted, where the method can
    /// ([`Method::counts_targets`](crate::method::Method::counts_targets))?
    pub targets: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            spanning_tree: Extreme::Maximum,
            affine: true,
            promote: true,
            interprocedural_flow: true,
            paths: PathOptions::default(),
            ipath: IpathOptions::default(),
            traces: TraceOptions::default(),
            room: Room::AsUsed,
            events: EventOptions::default(),
            targets: false,
        }
    }
}

/// Why a unit can't be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A function's edges form no control-flow graph.
    #[error("{function}: {error}")]
    Graph {
        /// The function's module.
        module: String,
        /// The function.
        function: String,
        /// What is wrong with them.
        error: CfgError,
    },
    /// The method can't plan a function.
    #[error("{function}: {error}")]
    Method {
        /// The function's module.
        module: String,
        /// The function.
        function: String,
        /// Why.
        error: FunctionPlanError,
    },
    /// The method can't plan the unit as a whole.
    #[error(transparent)]
    Unit(UnitPlanError),
}

impl PlanError {
    /// The module that can't be planned, if it is one.
    #[must_use]
    pub fn module(&self) -> Option<&str> {
        match self {
            Self::Graph { module, .. } | Self::Method { module, .. } => Some(module),
            Self::Unit(_) => None,
        }
    }
}

/// How to estimate the frequency of edges without an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// [`Weighting::predicted`].
    Predicted,
    /// [`Weighting::expected`].
    Expected,
}

/// A unit while it is planned.
pub struct Planner<'a> {
    functions: Vec<(&'a Module, &'a Function)>,
    facts: &'a UnitFacts<'a>,
    choices: Choices,
}

impl<'a> Planner<'a> {
    /// With these facts and choices.
    #[must_use]
    pub fn new(facts: &'a UnitFacts<'a>, choices: Choices) -> Self {
        Self { functions: facts.program.functions().collect(), facts, choices }
    }

    /// What is known.
    #[must_use]
    pub fn facts(&self) -> &'a UnitFacts<'a> {
        self.facts
    }

    /// What was chosen.
    #[must_use]
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// How many functions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// The facts of one function.
    #[must_use]
    pub fn facts_of(&self, number: usize) -> &'a Function {
        self.functions[number].1
    }

    /// Does the program ask for what a call has led to?
    #[must_use]
    pub fn asks_for_call(&self, function: usize, call: CallId) -> bool {
        self.facts.queried_calls.get(function).is_some_and(|calls| calls.contains(&call))
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// One function with its graph; `None` if it gets no probes.
    ///
    /// # Errors
    /// [`PlanError::Graph`].
    pub fn function(&self, number: usize, guess: Guess) -> Result<Option<FunctionGraph<'a>>, PlanError> {
        let (module, function) = self.functions[number];
        if function.untouched.is_some() {
            return Ok(None);
        }
        let failed = |error| PlanError::Graph { module: module.name.clone(), function: function.symbol.clone(), error };
        let cfg = function.cfg().map_err(failed)?;
        let previous = self.facts.previous.get(number).copied().flatten();
        let no_hints = Hints::default();
        let hints = (guess == Guess::Predicted).then(|| self.facts.hints.get(number).copied().unwrap_or(&no_hints));
        let weighting = Weighting::from_previous(function, &cfg, hints, previous);
        let variables = self.facts.variables.get(number).copied().unwrap_or_default();
        Ok(Some(FunctionGraph { number, module, function, cfg, weighting, variables }))
    }

    /// Plans each function by itself, in parallel. Functions without probes get an empty plan.
    ///
    /// # Errors
    /// The first one.
    pub fn each<T: Default + Send>(&self, plan: impl Fn(&FunctionGraph<'a>) -> T + Sync) -> Result<Vec<T>, PlanError> {
        let plan = |number| Ok(self.function(number, Guess::Predicted)?.map_or_else(T::default, |at| plan(&at)));
        (0..self.len()).into_par_iter().map(plan).collect()
    }
}

/// A function with its graph, and how often its edges run or are thought to.
pub struct FunctionGraph<'a> {
    /// The number of the function in the unit.
    pub number: usize,
    /// The module of the function.
    pub module: &'a Module,
    /// The function.
    pub function: &'a Function,
    /// The control-flow graph of the function.
    pub cfg: Cfg,
    /// How often its edges run.
    pub weighting: Weighting,
    /// The loop variables of the function that move by constant steps.
    pub variables: &'a [AffineVariable],
}

impl FunctionGraph<'_> {
    /// Why the method can't plan it.
    pub(crate) fn failed(&self, error: impl Into<FunctionPlanError>) -> PlanError {
        let (module, function) = (self.module.name.clone(), self.function.symbol.clone());
        PlanError::Method { module, function, error: error.into() }
    }
}
