//! What a profile is called.

use super::{events, path};
use crate::unit::Unit;
use cotree_core::method::MethodPlan;

/// The title of a profile, with what it measures besides counts.
pub(crate) fn title(unit: &Unit<'_>) -> String {
    let title = unit.profile.method.method().title();
    match &unit.map.plan.method {
        MethodPlan::None
        | MethodPlan::Counters(_)
        | MethodPlan::Calls(_)
        | MethodPlan::Ipath(_)
        | MethodPlan::Traces(_) => title.to_owned(),
        MethodPlan::Paths(plan) => format!("{title}{}", path::measured(plan.metric)),
        MethodPlan::Events(plan) => format!("{title}{}", events::measured(&plan.kinds)),
    }
}
