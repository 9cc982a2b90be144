//! Why costs are not known.

/// Why a profile does not tell what a run has cost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// A trace tells nothing.
    #[error("the trace in {0} can't be followed: {1}")]
    Trace(String, String),
}
