//! Why functions or units can't be planned, by family of methods.

use super::events::EventError;
use super::ipath::IpathError;
use super::path::PathError;
use super::trace::TraceError;

/// Why a function can't be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionPlanError {
    /// The function's paths can't be numbered.
    #[error(transparent)]
    Paths(#[from] PathError),
    /// The function's execution can't be traced.
    #[error(transparent)]
    Traces(#[from] TraceError),
    /// The function's events are not known.
    #[error(transparent)]
    Events(#[from] EventError),
}

/// Why a unit can't be planned as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitPlanError {
    /// The unit's paths across functions can't be numbered.
    #[error(transparent)]
    Ipath(#[from] IpathError),
}
