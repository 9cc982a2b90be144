//! Counters of events: what is counted, and what the counters lack while calls are under way. Probes are not kept.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::events::EventKind;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::method::events::{EventKey, EventPlan, UnitEventPlan};

/// How a function counts.
mod form {
    pub(super) const NOT: u64 = 0;
    pub(super) const COUNTS: u64 = 1;
    pub(super) const COUNTS_IN_LOOPS: u64 = 2;
}

pub(super) fn write(unit: &UnitEventPlan, w: &mut Writer) {
    w.put(Stream::Events, u64::from(unit.queried));
    w.put(Stream::Events, unit.kinds.len() as u64);
    for kind in &unit.kinds {
        w.put(Stream::Events, kind.number());
    }
    for EventPlan { key, .. } in &unit.functions {
        let form = match (key.at_sites.is_empty(), key.counts_in_loops) {
            (true, _) => form::NOT,
            (false, false) => form::COUNTS,
            (false, true) => form::COUNTS_IN_LOOPS,
        };
        w.put(Stream::Events, form);
        for &lacking in key.at_sites.iter().flatten() {
            w.put_signed(Stream::EventsLacking, lacking);
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitEventPlan, MapError> {
    let queried = match r.get(Stream::Events)? {
        0 => false,
        1 => true,
        _ => return Err(MapError::Invalid("a flag is neither 0 nor 1")),
    };
    let count = r.get_count(Stream::Events, Stream::Events)?;
    let mut kinds = Vec::with_capacity(count);
    for _ in 0..count {
        let kind = EventKind::of_number(r.get(Stream::Events)?).ok_or(MapError::Invalid("no such kind of events"))?;
        if kinds.last().is_some_and(|&last| last >= kind) {
            return Err(MapError::Invalid("kinds of events are not in order"));
        }
        kinds.push(kind);
    }
    let functions = program
        .functions()
        .map(|(_, function)| {
            let key = read_key(r, kinds.len(), function)?;
            Ok(EventPlan { counters: 2 * kinds.len(), key, ..EventPlan::default() })
        })
        .collect::<Result<_, MapError>>()?;
    Ok(UnitEventPlan { kinds, queried, functions })
}

fn read_key(r: &mut Reader<'_>, kinds: usize, function: &Function) -> Result<EventKey, MapError> {
    let counts_in_loops = match r.get(Stream::Events)? {
        form::NOT => return Ok(EventKey::default()),
        form::COUNTS => false,
        form::COUNTS_IN_LOOPS => true,
        _ => return Err(MapError::Invalid("no such form of plan")),
    };
    let sites = function.sites().len();
    let mut at_sites = Vec::with_capacity(kinds);
    for _ in 0..kinds {
        let lacking = (0..sites).map(|_| r.get_signed(Stream::EventsLacking)).collect::<Result<Vec<_>, _>>()?;
        at_sites.push(lacking);
    }
    Ok(EventKey { at_sites, counts_in_loops })
}

/// A function that is listed as untouched counts nothing.
pub(super) fn check(unit: &UnitEventPlan, functions: &[&Function]) -> Result<(), MapError> {
    if unit.functions.len() != functions.len() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    for (number, (plan, function)) in unit.functions.iter().zip(functions).enumerate() {
        if plan.is_counted() && (function.untouched.is_some() || function.blocks.is_empty()) {
            return Err(MapError::InvalidFunction { function: number, what: "it counts events, but has no probes" });
        }
    }
    Ok(())
}
