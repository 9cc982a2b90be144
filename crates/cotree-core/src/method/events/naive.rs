//! The naive plan: an addition for every stretch of code between calls. Tests and measurements compare the other plans
//! with it: nothing is ever lacking where a call is under way.

use super::increments::{add, exact_key};
use super::{EventPlan, QueryIncrements};
use crate::facts::Function;
use crate::facts::events::FunctionEvents;
use crate::ids::IdMap;
use crate::probe::Place;

/// Plans a function; `events` are those of each kind.
pub(super) fn plan(function: &Function, events: &[FunctionEvents]) -> EventPlan {
    let mut plan = EventPlan {
        counters: 2 * events.len(),
        key: exact_key(function, events.len()),
        queries: vec![QueryIncrements::default(); events.len()],
        ..EventPlan::default()
    };
    for (kind, events) in events.iter().enumerate() {
        let mut counted = IdMap::filled(None, function.blocks.len());
        for (call, facts) in function.calls.numbered().filter(|(_, facts)| !facts.must_tail && !facts.resume_marker) {
            let before = counted[facts.block].replace(events.through(call)).unwrap_or(0);
            plan.probes.extend(add(kind, Place::Call(call), (events.through(call) - before).cast_signed()));
        }
        for (block, counted) in counted.numbered() {
            let rest = (events.block(block) - counted.unwrap_or(0)).cast_signed();
            let place = if counted.is_none() { Place::Start(block) } else { Place::End(block) };
            plan.probes.extend(add(kind, place, rest));
        }
    }
    plan
}
