//! Link units: functions that are planned together.
//!
//! The linker's plugin, the instrumentation of single files and `cotree plan` all plan by [`UnitPlan::of`]. What only they can
//! know of a unit comes in as plain facts ([`UnitFacts`]), and so does what the user chose ([`Choices`]). Each method plans in
//! its room below [`crate::method`]; who calls whom ([`call_points`]) and where everything that is counted lies ([`Layout`])
//! is the same for all.

mod calls;
mod layout;
mod plan;
mod planner;

pub use calls::call_points;
pub use layout::Layout;
pub use plan::UnitPlan;
pub use planner::{Choices, FunctionGraph, Guess, PlanError, Planner, UnitFacts};
