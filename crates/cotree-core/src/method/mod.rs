//! The profiling methods: each module holds a `plan` and, beside it, the `recover` that undoes it.
//!
//! | method | module | measures | promises |
//! | --- | --- | --- | --- |
//! | [`Method::Edge`] | [`edge`] | chords of a maximum spanning tree | edges and blocks |
//! | [`Method::Block`] | [`block`] | every block and every edge | edges and blocks, by no law of flow |
//! | [`Method::Vertex`] | [`vertex`] | blocks off a spanning tree of the quotient graph | blocks |
//! | [`Method::VertexEdge`] | [`vertex_edge`] | chords whose cycle has a pipe | blocks |
//! | [`Method::Path`] | [`mod@path`] | acyclic paths, in a table | paths, and from them edges and blocks |
//! | [`Method::PathContext`] | [`path::context`] | paths with the way to their loop | the same |
//!
//! Every `recover` trusts nothing: plans, counts and early exits come from files. What can't be right is a
//! [`RecoverError`]; what can't have happened is [`Flaw::Inconsistent`].

pub mod block;
pub mod edge;
pub mod entries;
pub mod path;
mod readings;
pub mod vertex;
pub mod vertex_edge;

use crate::cfg::Cfg;
use crate::facts::Function;
use crate::ids::Block;
use crate::plan::{FunctionPlan, Measure, Method};
use crate::profile::{EarlyExits, Flaw, FunctionProfile};
use crate::weighting::Weighting;

/// Why counts can't be turned into a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// The function carries no probes.
    #[error("the function was not instrumented")]
    NothingMeasured,
    /// The graph is not the function's.
    #[error("the control-flow graph does not belong to the function")]
    ForeignGraph,
    /// Another number of counts than of counters.
    #[error("the plan has {expected} counters, but there are {found} counts")]
    CounterMismatch {
        /// Counters of the plan.
        expected: usize,
        /// Counts at hand.
        found: usize,
    },
    /// A counter measures a block or an edge that does not exist.
    #[error("counter {0} measures {1:?}, which the function does not have")]
    UnknownMeasure(usize, Measure),
    /// Another number of early exits than of call sites.
    #[error("the function has {expected} call sites, but there are early exits for {found}")]
    SiteMismatch {
        /// Call sites of the function.
        expected: usize,
        /// Sites for which early exits are given.
        found: usize,
    },
    /// A call site stands in a block that does not exist.
    #[error("a call site stands in {0}, which the function does not have")]
    UnknownBlock(Block),
    /// The counters don't determine what the method promises: this plan was not made by the method.
    #[error("the counters do not determine the counts that the method promises")]
    Underdetermined,
    /// The function's entries follow from a caller whose counts could not be recovered.
    #[error("its entries follow from those of function {0}, which could not be recovered")]
    CallerUnknown(u32),
    /// It takes more than counters: see [`path::recover`].
    #[error("paths are not recovered from counters alone")]
    CountsPaths,
    /// What is wrong with the paths.
    #[error(transparent)]
    Path(#[from] path::PathError),
}

/// Plans the probes of one function. Untouched functions and [`Method::None`] get an empty plan, and so do methods that
/// count paths: see [`path::plan_as`].
///
/// `cfg` and `weighting` are the function's own.
#[must_use]
pub fn plan(method: Method, function: &Function, cfg: &Cfg, weighting: &Weighting) -> FunctionPlan {
    if function.untouched.is_some() {
        return FunctionPlan::default();
    }
    match method {
        Method::None => FunctionPlan::default(),
        Method::Edge => edge::plan(function, cfg, weighting),
        Method::Block => block::plan(function, cfg),
        Method::Vertex => vertex::plan(function, cfg, weighting),
        Method::VertexEdge => vertex_edge::plan(function, cfg, weighting),
        Method::Path | Method::PathContext => FunctionPlan::default(),
    }
}

/// Recovers the profile of one function from the counts of its plan's counters.
///
/// `early` are the early exits of the run, one per call site of the function or none at all.
///
/// # Errors
/// See [`RecoverError`].
pub fn recover(
    method: Method,
    function: &Function,
    cfg: &Cfg,
    plan: &FunctionPlan,
    counts: &[u64],
    early: &EarlyExits,
) -> Result<FunctionProfile, RecoverError> {
    if function.untouched.is_some() {
        return Err(RecoverError::NothingMeasured);
    }
    match method {
        Method::None => Err(RecoverError::NothingMeasured),
        Method::Edge => edge::recover(function, cfg, plan, counts, early),
        Method::Block => block::recover(function, cfg, plan, counts, early),
        Method::Vertex => vertex::recover(function, cfg, plan, counts, early),
        Method::VertexEdge => vertex_edge::recover(function, cfg, plan, counts, early),
        Method::Path | Method::PathContext => Err(RecoverError::CountsPaths),
    }
}

/// Turns signed results into a profile: what is negative or too large saturates and is flagged.
fn finish(
    entries: i128,
    blocks: Vec<i128>,
    edges: Option<Vec<i128>>,
    early: &EarlyExits,
    mut consistent: bool,
) -> FunctionProfile {
    let mut count = |value: i128| {
        u64::try_from(value).unwrap_or_else(|_| {
            consistent = false;
            if value < 0 { 0 } else { u64::MAX }
        })
    };
    let entries = count(entries);
    let blocks = blocks.into_iter().map(&mut count).collect();
    let edges = edges.map(|edges| edges.into_iter().map(&mut count).collect());
    FunctionProfile {
        entries,
        blocks,
        edges,
        early: if early.at_site.iter().all(|&n| n == 0) { Vec::new() } else { early.at_site.clone() },
        flaws: if consistent { Vec::new() } else { vec![Flaw::Inconsistent] },
    }
}
