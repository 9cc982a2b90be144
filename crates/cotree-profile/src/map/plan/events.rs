//! Counters of events: what is counted, and what the counters lack while calls are under way. Probes are not kept.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::events::EventKind;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::IdMap;
use cotree_core::method::events::call_sums::{CallForm, CallSumKey};
use cotree_core::method::events::{EventKey, EventMethod, EventPlan, UnitEventPlan};

/// How a function counts.
mod form {
    pub(super) const NOT: u64 = 0;
    pub(super) const COUNTS: u64 = 1;
    pub(super) const COUNTS_IN_LOOPS: u64 = 2;
}

/// How a call is measured, by number.
const FORMS: [CallForm; 5] =
    [CallForm::External, CallForm::Unmeasured, CallForm::Counted, CallForm::Summed, CallForm::Outermost];

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
        if form != form::NOT && unit.method == EventMethod::Calls {
            write_sums(&key.sums, w);
        }
    }
}

fn write_sums(sums: &CallSumKey, w: &mut Writer) {
    w.put(Stream::EventsCalls, u64::from(sums.measured) | u64::from(sums.outermost) << 1);
    for (call, form) in sums.calls.numbered() {
        w.put(Stream::EventsCalls, FORMS.iter().position(|known| known == form).map_or(0, |number| number as u64));
        if form.is_counted() {
            for of_kind in &sums.returned {
                w.put_signed(Stream::EventsReturned, of_kind.get(call).copied().unwrap_or(0));
            }
        }
    }
}

fn read_sums(r: &mut Reader<'_>, kinds: usize, function: &Function) -> Result<CallSumKey, MapError> {
    let (measured, outermost) = match r.get(Stream::EventsCalls)? {
        flags @ 0..4 => (flags & 1 != 0, flags & 2 != 0),
        _ => return Err(MapError::Invalid("no such form of a function")),
    };
    let nothing = IdMap::filled(0, function.calls.len());
    let mut sums = CallSumKey { measured, outermost, calls: IdMap::default(), returned: vec![nothing; kinds] };
    for (call, _) in function.calls.numbered() {
        let form = usize::try_from(r.get(Stream::EventsCalls)?).ok().and_then(|number| FORMS.get(number)).copied();
        let form = form.ok_or(MapError::Invalid("no such form of a call"))?;
        sums.calls.push(form);
        if form.is_counted() {
            for of_kind in &mut sums.returned {
                of_kind[call] = r.get_signed(Stream::EventsReturned)?;
            }
        }
    }
    Ok(sums)
}

fn read_flag(number: u64) -> Result<bool, MapError> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(MapError::Invalid("a flag is neither 0 nor 1")),
    }
}

pub(super) fn read(method: EventMethod, r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitEventPlan, MapError> {
    let queried = read_flag(r.get(Stream::Events)?)?;
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
            let key = read_key(method, r, kinds.len(), function)?;
            Ok(EventPlan { key, ..EventPlan::default() })
        })
        .collect::<Result<_, MapError>>()?;
    let mut unit = UnitEventPlan { method, kinds, queried, functions };
    let counters = unit.counters();
    unit.functions.iter_mut().for_each(|plan| plan.counters = counters);
    Ok(unit)
}

fn read_key(method: EventMethod, r: &mut Reader<'_>, kinds: usize, function: &Function) -> Result<EventKey, MapError> {
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
    let sums = match method {
        EventMethod::Total => CallSumKey::default(),
        EventMethod::Calls => read_sums(r, kinds, function)?,
    };
    Ok(EventKey { at_sites, counts_in_loops, sums })
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
