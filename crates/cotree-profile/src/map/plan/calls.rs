//! Counters of calls. A function has one for each of its calls or none at all, so a bit per function says it.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::method::calls::{CallPlan, UnitCallPlan, plan};

pub(super) fn write(unit: &UnitCallPlan, w: &mut Writer) {
    for plan in &unit.functions {
        w.put(Stream::CallCounters, u64::from(!plan.key.counted.is_empty()));
    }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitCallPlan, MapError> {
    let read = |(_, function): (_, &Function)| match r.get(Stream::CallCounters)? {
        0 => Ok(CallPlan::default()),
        1 => Ok(plan(function)),
        _ => Err(MapError::Invalid("no such form of plan")),
    };
    Ok(UnitCallPlan { functions: program.functions().map(read).collect::<Result<_, _>>()? })
}

/// Calls that are counted must be listed.
pub(super) fn check(unit: &UnitCallPlan, functions: &[&Function]) -> Result<(), MapError> {
    if unit.functions.len() != functions.len() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    for (number, (counted, function)) in unit.functions.iter().zip(functions).enumerate() {
        if !counted.key.counted.is_empty() && *counted != plan(function) {
            return Err(MapError::InvalidFunction { function: number, what: "some of its calls are not counted" });
        }
    }
    Ok(())
}
