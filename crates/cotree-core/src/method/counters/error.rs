//! The errors of recovery from counters.

use crate::ids::{Block, FunctionId};
use crate::plan::Measure;

/// Why counts can't be turned into a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
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
    #[error("its entries follow from those of function {}, which could not be recovered", .0.index())]
    CallerUnknown(FunctionId),
}
