//! Methods that count blocks and edges by counters. Each has a file with a `plan` and the matching `recover`.
//!
//! No `recover` trusts its input: keys, counts and early exits come from files. Invalid input is a
//! [`CounterError`]; valid input that no run can produce is [`crate::profile::Flaw::Inconsistent`].

pub mod block;
pub mod bounds;
pub mod chords;
pub mod edge;
pub mod entries;
mod error;
mod measured;
mod readings;
pub(crate) mod unit;
pub mod vertex;
pub mod vertex_edge;

pub use error::CounterError;
pub use measured::Measured;

use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::plan::{CounterPlan, DerivedEntry};
use crate::profile::FunctionProfile;
use crate::weight::weighting::Weighting;

/// A method of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CounterMethod {
    /// See [`edge`].
    Edge,
    /// See [`block`].
    Block,
    /// See [`vertex`].
    Vertex,
    /// See [`vertex_edge`].
    VertexEdge,
}

impl CounterMethod {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Edge, Self::Block, Self::Vertex, Self::VertexEdge];
}

/// The counters of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitCounterPlan {
    /// The method.
    pub method: CounterMethod,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have no counters.
    pub functions: Vec<CounterPlan>,
    /// The functions whose entries follow from their callers' counts ([`crate::place::supergraph`]), by rising number.
    /// Only the methods of [`chords`] have any.
    pub entries: Vec<DerivedEntry>,
}

/// Plans the counters of one function. An untouched function gets none.
///
/// `cfg` and `weighting` are the function's own.
#[must_use]
pub fn plan(method: CounterMethod, function: &Function, cfg: &Cfg, weighting: &Weighting) -> CounterPlan {
    if function.untouched.is_some() {
        return CounterPlan::default();
    }
    match method {
        CounterMethod::Edge => edge::plan(function, cfg, weighting),
        CounterMethod::Block => block::plan(function, cfg),
        CounterMethod::Vertex => vertex::plan(function, cfg, weighting),
        CounterMethod::VertexEdge => vertex_edge::plan(function, cfg, weighting),
    }
}

/// Recovers the profile of one function from the counts of its counters.
///
/// `cfg` is the function's own graph.
///
/// # Errors
/// See [`CounterError`].
pub fn recover(method: CounterMethod, cfg: &Cfg, measured: Measured<'_>) -> Result<FunctionProfile, CounterError> {
    if measured.function.untouched.is_some() {
        return Err(CounterError::NothingMeasured);
    }
    match method {
        CounterMethod::Edge => edge::recover(cfg, measured),
        CounterMethod::Block => block::recover(cfg, measured),
        CounterMethod::Vertex => vertex::recover(cfg, measured),
        CounterMethod::VertexEdge => vertex_edge::recover(cfg, measured),
    }
}
