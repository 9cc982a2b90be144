//! Link units: functions that are planned together.
//!
//! The linker's plugin, the instrumentation of single files and `cotree plan` all plan by [`UnitPlan::of`]. They pass
//! what only they can know about a unit as plain facts ([`UnitFacts`]), and the user's options as [`Choices`]. Each
//! method plans in its module below [`crate::method`]. All share the analysis of calls ([`call_points`]) and the
//! [`Layout`] of slabs.

mod calls;
mod layout;
mod nesting;
mod plan;
mod planner;

pub(crate) use calls::Names;
pub use calls::{call_points, callers, certain_calls};
pub use layout::Layout;
pub use nesting::live_once;
pub use plan::UnitPlan;
pub use planner::{Choices, FunctionGraph, Guess, PlanError, Planner, PointerKinds, UnitFacts};
