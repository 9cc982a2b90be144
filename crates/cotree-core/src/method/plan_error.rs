//! Why functions or units can't be planned, by family of methods.

use super::events::EventError;
use super::ipath::IpathError;
use super::path::PathError;
use super::trace::TraceError;

/// Why a function can't be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionPlanError {
    /// Its paths can't be numbered.
    #[error(transparent)]
    Paths(#[from] PathError),
    /// Its execution can't be traced.
    #[error(transparent)]
    Traces(#[from] TraceError),
    /// Its events are not known.
    #[error(transparent)]
    Events(#[from] EventError),
}

/// Why a unit can't be planned as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitPlanError {
    /// Its paths across functions can't be numbered.
    #[error(transparent)]
    Ipath(#[from] IpathError),
}
