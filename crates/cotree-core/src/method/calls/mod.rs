//! How often each call was made: a counter before every call.
//!
//! Plain counters need no law of flow. A call counts when it is about to be made, so one that never returns counts too,
//! and nothing that happens to activations afterwards changes a count. Calls of intrinsics are no calls
//! ([`crate::facts::Calls`]); the mark before a `resume` calls nobody and has no counter.

mod recover;

pub use recover::{CallError, CallProfile, recover};

use crate::facts::Function;
use crate::ids::{CallId, Counter};
use crate::plan::FunctionPlan;
use crate::probe::{Place, PlacedProbe, Probe};
use crate::unit::Planner;

/// The counters of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitCallPlan {
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have no counters.
    pub functions: Vec<CallPlan>,
}

/// The counters of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPlan {
    /// What is applied.
    pub probes: Vec<PlacedProbe>,
    /// What is kept to recover the profile.
    pub key: CallKey,
}

/// What the counters of a function mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallKey {
    /// The call that counter number `i` counts.
    pub counted: Vec<CallId>,
}

impl<'a> From<&'a CallPlan> for FunctionPlan<'a> {
    fn from(plan: &'a CallPlan) -> Self {
        Self { probes: &plan.probes, counters: plan.key.counted.len(), measures: &[], fixed: &[] }
    }
}

/// Plans the counters of one function. An untouched function gets none.
#[must_use]
pub fn plan(function: &Function) -> CallPlan {
    let mut plan = CallPlan::default();
    if function.untouched.is_some() {
        return plan;
    }
    for (call, _) in function.calls.numbered().filter(|(_, facts)| !facts.resume_marker) {
        let counter = Counter::new(plan.key.counted.len());
        plan.probes.push(PlacedProbe { place: Place::Call(call), probe: Probe::Count(counter) });
        plan.key.counted.push(call);
    }
    plan
}

/// Plans the counters of all functions.
pub(crate) fn plan_unit(planner: &Planner<'_>) -> UnitCallPlan {
    UnitCallPlan { functions: (0..planner.len()).map(|number| plan(planner.facts_of(number))).collect() }
}
