//! What a profile has counted, by its method.

use super::total::Total;
use super::{calls, counters, events, ipath, path, trace};
use crate::unit::{Unit, UnitFunction};
use cotree_core::method::MethodPlan;

/// What the method has counted in these functions.
pub(crate) fn total<'a>(unit: &Unit<'a>, functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    match &unit.map.plan.method {
        MethodPlan::None | MethodPlan::Counters(_) => counters::total(unit, functions),
        MethodPlan::Paths(_) => path::total(unit, functions),
        MethodPlan::Calls(_) => calls::total(unit, functions),
        MethodPlan::Ipath(_) => ipath::total(unit),
        MethodPlan::Traces(_) => trace::total(functions),
        MethodPlan::Events(_) => events::total(unit),
    }
}
