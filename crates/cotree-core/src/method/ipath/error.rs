//! Why paths across functions can't be numbered, or their counts not be recovered.

use crate::graph::cfg::CfgError;
use crate::ids::{CallId, FunctionId};

/// See the variants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpathError {
    /// A function's edges form no control-flow graph.
    #[error("{0}: {1}")]
    Graph(FunctionId, CfgError),
    /// The lists of functions do not belong together.
    #[error("there is not one plan per function")]
    ForeignUnit,
    /// The cuts leave a cycle in a function.
    #[error("the plan leaves a cycle in {0} that paths could follow for ever")]
    Cyclic(FunctionId),
    /// Paths cross calls of a cycle.
    #[error("paths could follow recursive calls for ever")]
    Recursive,
    /// A call that the plan speaks of does not exist, or its callee can't be entered there.
    #[error("the plan has paths cross {1} of {0}, which they can't")]
    NoSuchCall(FunctionId, CallId),
    /// Too many paths.
    #[error("there are more paths than {0} even if none crosses a call: allow more with a larger budget")]
    TooManyPaths(u64),
    /// The plan's number of paths is another.
    #[error("the plan says {expected} paths, but there are {found}")]
    PathsMismatch {
        /// Paths of the plan.
        expected: u64,
        /// Paths of the graphs.
        found: u64,
    },
    /// No path has this number.
    #[error("path {0} was counted, but none of the unit's {1} has that number")]
    NoSuchPath(u64, u64),
}
