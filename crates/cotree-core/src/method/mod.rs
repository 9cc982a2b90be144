//! The profiling methods: one module per family of methods. Only this file knows all families.
//!
//! | method | module | measures | promises |
//! | --- | --- | --- | --- |
//! | [`Method::Edge`] | [`counters::edge`] | chords of a maximum spanning tree | edges and blocks |
//! | [`Method::Block`] | [`counters::block`] | every block and every edge | edges and blocks, by no law of flow |
//! | [`Method::Vertex`] | [`counters::vertex`] | blocks off a spanning tree of the quotient graph | blocks |
//! | [`Method::VertexEdge`] | [`counters::vertex_edge`] | chords whose cycle has a pipe | blocks |
//! | [`Method::Path`] | [`mod@path`] | acyclic paths, in a table | paths, and from them edges and blocks |
//! | [`Method::PathContext`] | [`path::context`] | paths with the path to their loop | the same |
//! | [`Method::Ipath`], [`Method::IpathPiecewise`], [`Method::IpathHybrid`] | [`ipath`] | paths that go on in callees | edges and blocks |
//! | [`Method::Calls`] | [`calls`] | every call | calls |
//! | [`Method::Trace`] | [`trace`] | nothing: code writes tokens | the whole execution |
//! | [`Method::Events`] | [`events`] | chords, in one counter | the number of events |
//! | [`Method::EventsCalls`] | [`events::call_sums`] | the same, and that counter before and after calls | the number of events, per function and call |
//!
//! A method's `plan` and the matching `recover` are in one module. A family has its own types for plans,
//! counts and recovered profiles; [`MethodPlan`] is the sum of the plans.

pub mod calls;
pub mod counters;
pub mod events;
pub mod ipath;
mod list;
pub mod path;
mod plan_error;
pub mod targets;
pub mod trace;

pub use list::{Entry, Family, METHODS, Method, Promises};
pub use plan_error::{FunctionPlanError, UnitPlanError};

use crate::ids::FunctionId;
use crate::plan::{DerivedEntry, FunctionPlan};
use crate::slab::Words;
use crate::unit::{PlanError, Planner};
use calls::{CallError, UnitCallPlan};
use counters::{CounterError, UnitCounterPlan};
use events::{EventError, EventWords, UnitEventPlan};
use ipath::{IpathError, IpathTables, UnitIpathPlan};
use path::{PathError, PathTable, UnitPathPlan};
use trace::{TraceWords, UnitTracePlan};

/// The plan of a link unit by its method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodPlan {
    /// Nothing is measured.
    None,
    /// Counters on blocks and edges.
    Counters(UnitCounterPlan),
    /// Tables of paths.
    Paths(UnitPathPlan),
    /// Counters of calls.
    Calls(UnitCallPlan),
    /// Tables of paths across functions.
    Ipath(UnitIpathPlan),
    /// Tokens of segments.
    Traces(UnitTracePlan),
    /// Counters of events.
    Events(UnitEventPlan),
}

impl MethodPlan {
    /// Plans all functions of a unit.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub(crate) fn of_unit(method: Method, planner: &Planner<'_>) -> Result<Self, PlanError> {
        Ok(match method.family() {
            Family::None => Self::None,
            Family::Counters(method) => Self::Counters(counters::unit::plan_unit(method, planner)?),
            Family::Paths(method) => Self::Paths(path::unit::plan_unit(method, planner)?),
            Family::Calls => Self::Calls(calls::plan_unit(planner)),
            Family::Ipath(method) => Self::Ipath(ipath::unit::plan_unit(method, planner)?),
            Family::Traces => Self::Traces(trace::plan_unit(planner)?),
            Family::Events(method) => Self::Events(events::unit::plan_unit(method, planner)?),
        })
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::None => Method::None,
            Self::Counters(plan) => plan.method.into(),
            Self::Paths(plan) => plan.method.into(),
            Self::Calls(_) => Method::Calls,
            Self::Ipath(plan) => plan.method.into(),
            Self::Traces(_) => Method::Trace,
            Self::Events(plan) => plan.method.into(),
        }
    }

    /// The counters, if that is what is planned.
    #[must_use]
    pub fn counters(&self) -> Option<&UnitCounterPlan> {
        match self {
            Self::Counters(plan) => Some(plan),
            _ => None,
        }
    }

    /// The paths, if that is what is planned.
    #[must_use]
    pub fn paths(&self) -> Option<&UnitPathPlan> {
        match self {
            Self::Paths(plan) => Some(plan),
            _ => None,
        }
    }

    /// The traces, if that is what is planned.
    #[must_use]
    pub fn traces(&self) -> Option<&UnitTracePlan> {
        match self {
            Self::Traces(plan) => Some(plan),
            _ => None,
        }
    }

    /// The plan of one function; `None` if there is no such function, or nothing is measured.
    #[must_use]
    pub fn function(&self, function: FunctionId) -> Option<FunctionPlan<'_>> {
        match self {
            Self::None => None,
            Self::Counters(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
            Self::Paths(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
            Self::Calls(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
            Self::Ipath(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
            Self::Traces(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
            Self::Events(plan) => plan.functions.get(function.index()).map(FunctionPlan::from),
        }
    }

    /// The plans of all functions, in order; none if nothing is measured.
    pub fn functions(&self) -> impl Iterator<Item = FunctionPlan<'_>> {
        FunctionId::all().map_while(|function| self.function(function))
    }

    /// The functions whose entries follow from their callers' counts, by rising number.
    #[must_use]
    pub fn entries(&self) -> &[DerivedEntry] {
        self.counters().map_or(&[], |plan| &plan.entries)
    }

    /// Assigns the words of counters: per function, the first.
    pub(crate) fn lay_out_counters(&self, words: &mut Words) -> Vec<u64> {
        if let Self::Events(plan) = self {
            // All functions share the unit's counters.
            let first = words.take(plan.counters() as u64);
            return vec![first; plan.functions.len()];
        }
        self.functions().map(|plan| words.take(plan.counters as u64)).collect()
    }

    /// Assigns the words of tables, and those that the method's code uses internally.
    pub(crate) fn lay_out_tables(&self, words: &mut Words) -> MethodTables {
        match self {
            Self::None | Self::Counters(_) | Self::Calls(_) => MethodTables::None,
            Self::Events(plan) => MethodTables::Events(plan.lay_out(words)),
            Self::Paths(plan) => MethodTables::Paths(path::lay_out(plan, words)),
            Self::Ipath(plan) => MethodTables::Ipath(ipath::lay_out(plan, words)),
            Self::Traces(_) => MethodTables::Trace(trace::lay_out(words)),
        }
    }
}

/// Where the tables of a link unit lie in the slab, by its method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodTables {
    /// The method has none.
    None,
    /// Per function, where its paths are counted.
    Paths(Vec<PathTable>),
    /// Where the paths of all functions are counted.
    Ipath(IpathTables),
    /// Where the thread's stream grows.
    Trace(TraceWords),
    /// What serves queries and handlers.
    Events(EventWords),
}

impl MethodTables {
    /// Per function, where its paths are counted; empty if none are.
    #[must_use]
    pub fn paths(&self) -> &[PathTable] {
        match self {
            Self::None | Self::Ipath(_) | Self::Trace(_) | Self::Events(_) => &[],
            Self::Paths(tables) => tables,
        }
    }

    /// The first of the words that say which activations are the outermost ones, and how many there are.
    #[must_use]
    pub fn outermost(&self) -> Option<(u64, u64)> {
        match self {
            Self::Events(words) => words.outermost,
            _ => None,
        }
    }

    /// The first word that serves queries of events, if there are any.
    #[must_use]
    pub fn queries(&self) -> Option<u64> {
        match self {
            Self::Events(words) => words.queries,
            Self::None | Self::Paths(_) | Self::Ipath(_) | Self::Trace(_) => None,
        }
    }

    /// Where the thread's stream grows, if it is traced.
    #[must_use]
    pub fn trace(&self) -> Option<TraceWords> {
        match self {
            Self::Trace(words) => Some(*words),
            Self::None | Self::Paths(_) | Self::Ipath(_) | Self::Events(_) => None,
        }
    }
}

/// Why the counts of a function can't be turned into its profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The counts belong to a function with counters.
    #[error(transparent)]
    Counters(#[from] CounterError),
    /// The counts belong to a function whose paths are counted.
    #[error(transparent)]
    Paths(#[from] PathError),
    /// The counts belong to a function whose calls are counted.
    #[error(transparent)]
    Calls(#[from] CallError),
    /// The counts belong to a unit whose paths across functions are counted.
    #[error(transparent)]
    Ipath(#[from] IpathError),
    /// The counts belong to a unit whose events are counted.
    #[error(transparent)]
    Events(#[from] EventError),
}
