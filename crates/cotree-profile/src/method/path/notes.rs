//! What readers must know about the paths of a profile.

use cotree_core::method::path::UnitPathPlan;
use std::fmt;

/// A note about the paths of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathNote {
    /// Path tables had no room left: paths are missing.
    Missing,
    /// This many functions have loops that are entered in several places: their paths have no context.
    WithoutContext(u64),
}

impl PathNote {
    /// Does it put counts in doubt?
    pub(in crate::method) fn doubtful(self) -> bool {
        match self {
            Self::Missing => true,
            Self::WithoutContext(_) => false,
        }
    }
}

impl fmt::Display for PathNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Missing => f.write_str("there was no room for more paths: some are missing"),
            Self::WithoutContext(1) => {
                f.write_str("one function has a loop that is entered in several places: its paths have no context")
            }
            Self::WithoutContext(n) => {
                write!(f, "{n} functions have loops that are entered in several places: their paths have no context")
            }
        }
    }
}

/// The notes on a unit with this plan; `missing` says that tables had no room left. A profile of another method can say
/// so, too.
pub(in crate::method) fn notes(plan: Option<&UnitPathPlan>, missing: bool) -> impl Iterator<Item = PathNote> {
    let without = plan.map_or(0, UnitPathPlan::without_context);
    let without = (without > 0).then_some(PathNote::WithoutContext(without));
    missing.then_some(PathNote::Missing).into_iter().chain(without)
}
