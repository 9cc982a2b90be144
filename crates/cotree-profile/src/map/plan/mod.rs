//! The plan of a unit: what recovery must know about its probes.
//!
//! The method comes first, then sections per method; a file here writes, reads and checks each of them. In the map's
//! code, only this file knows all families of methods.

mod calls;
mod counters;
mod entries;
mod events;
mod fixed;
mod ipath;
mod metric;
pub(super) mod path;
mod registers;
mod targets;
mod trace;

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::method::counters::UnitCounterPlan;
use cotree_core::method::{Family, Method, MethodPlan};
use cotree_core::plan::CounterPlan;
use cotree_core::unit::UnitPlan;

pub(super) use registers::RegisterPrediction;

pub(super) fn write(plan: &UnitPlan, program: &ProgramMap, w: &mut Writer) {
    w.put(Stream::Plan, plan.method.method().number());
    w.put(Stream::Plan, u64::from(plan.check.is_some()));
    match &plan.method {
        MethodPlan::None => {
            let nothing: Vec<CounterPlan> = program.functions().map(|_| CounterPlan::default()).collect();
            counters::write(&nothing, program, w);
        }
        MethodPlan::Counters(unit) => {
            counters::write(&unit.functions, program, w);
            entries::write(&unit.entries, program, w);
            fixed::write(&unit.functions, w);
        }
        MethodPlan::Paths(unit) => {
            let counters: Vec<CounterPlan> = unit.functions.iter().map(path::counters).collect();
            counters::write(&counters, program, w);
            path::write(unit, w);
        }
        MethodPlan::Calls(unit) => calls::write(unit, w),
        MethodPlan::Ipath(unit) => ipath::write(unit, w),
        MethodPlan::Traces(unit) => trace::write(unit, w),
        MethodPlan::Events(unit) => events::write(unit, w),
    }
    if let Some(check) = &plan.check {
        counters::write(check, program, w);
    }
    targets::write(plan.targets.as_ref(), w);
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitPlan, MapError> {
    let method = Method::from_number(r.get(Stream::Plan)?).ok_or(MapError::Invalid("no such method"))?;
    let checked = match r.get(Stream::Plan)? {
        0 => false,
        1 => true,
        _ => return Err(MapError::Invalid("a flag is neither 0 nor 1")),
    };
    let method = match method.family() {
        Family::None => {
            if counters::read(r, program)?.iter().any(|plan| *plan != CounterPlan::default()) {
                return Err(MapError::Invalid("the plans are not of its method"));
            }
            MethodPlan::None
        }
        Family::Counters(method) => {
            let mut functions = counters::read(r, program)?;
            let entries = entries::read(r, program)?;
            fixed::read(r, &mut functions)?;
            MethodPlan::Counters(UnitCounterPlan { method, functions, entries })
        }
        Family::Paths(method) => {
            let functions = counters::read(r, program)?;
            MethodPlan::Paths(path::read(method, functions, r)?)
        }
        Family::Calls => MethodPlan::Calls(calls::read(r, program)?),
        Family::Ipath(method) => MethodPlan::Ipath(ipath::read(method, r, program)?),
        Family::Traces => MethodPlan::Traces(trace::read(r, program)?),
        Family::Events(method) => MethodPlan::Events(events::read(method, r, program)?),
    };
    let check = if checked { Some(counters::read(r, program)?) } else { None };
    let targets = targets::read(&method, r, program)?;
    Ok(UnitPlan { method, check, targets })
}

/// Checks what only the method's own sections can have wrong. Probes are checked for all methods alike.
pub(super) fn check(plan: &MethodPlan, functions: &[&Function]) -> Result<(), MapError> {
    match plan {
        MethodPlan::None => Ok(()),
        MethodPlan::Counters(unit) => entries::check(unit, functions),
        MethodPlan::Paths(unit) => path::check(unit, functions),
        MethodPlan::Calls(unit) => calls::check(unit, functions),
        MethodPlan::Ipath(unit) => ipath::check(unit, functions),
        MethodPlan::Traces(unit) => trace::check(unit, functions),
        MethodPlan::Events(unit) => events::check(unit, functions),
    }
}
