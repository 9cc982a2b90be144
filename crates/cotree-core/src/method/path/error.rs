//! The errors of numbering paths and of recovering path profiles.

use crate::ids::{Block, Site};

/// Why paths can't be numbered, or a profile can't be recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The function carries no probes.
    #[error("the function was not instrumented")]
    NothingMeasured,
    /// The graph is not the function's.
    #[error("the control-flow graph does not belong to the function")]
    ForeignGraph,
    /// The cuts leave a cycle.
    #[error("the plan leaves a cycle in the control-flow graph that paths could follow for ever")]
    Cyclic,
    /// There is a loop that is also entered beside its header: it has no context.
    #[error("the loop of {0} can be entered beside its header")]
    Irreducible(Block),
    /// The cuts leave too many paths.
    #[error("the plan leaves more paths than there are numbers")]
    TooManyPaths,
    /// Another number of paths than the plan says.
    #[error("the plan says {expected} paths, but there are {found}")]
    PathsMismatch {
        /// Paths of the plan.
        expected: u64,
        /// Paths of the graph.
        found: u64,
    },
    /// No path has this number.
    #[error("path {0} was counted, but none of the function's {1} has that number")]
    NoSuchPath(u64, u64),
    /// No such call site, or its block is not in the plan.
    #[error("an activation was abandoned at call site {0}, which the plan does not have")]
    NoSuchSite(Site),
    /// The plan's counters are not those of the self-loops.
    #[error("the plan has {expected} counters of self-loops, but there are {found} counts")]
    CounterMismatch {
        /// Counters of the plan.
        expected: usize,
        /// Counts at hand.
        found: usize,
    },
    /// A counter measures something else than a self-loop.
    #[error("counter {0} does not measure a self-loop")]
    UnknownMeasure(usize),
}
