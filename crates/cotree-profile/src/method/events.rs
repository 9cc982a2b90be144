//! Recovery where events are counted: of the whole unit at once, since all functions share the counters.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use cotree_core::ids::FunctionId;
use cotree_core::method::RecoverError;
use cotree_core::method::events::{EarlyEvents, EventProfile, UnitEventPlan, recover as recover_unit};
use cotree_rt::layout::Flags;

/// Recovers a unit, or says of each function that counts why it could not be. `bases` are the first counters of
/// functions, which are all the same.
pub(super) fn recover(
    binary: &BinaryFile,
    counts: &UnitCounts,
    unit: &UnitEventPlan,
    bases: &[u64],
    exits: &UnitExits,
) -> Result<EventProfile, Vec<(FunctionId, RecoverError)>> {
    let functions = binary.map().program.functions().count();
    let first = bases.first().map_or(0, |&base| usize::try_from(base).expect("within the counter array"));
    let counters = counts.counters.get(first..first + unit.counters()).unwrap_or_default();
    let all = || FunctionId::all().take(functions);
    let early = EarlyEvents {
        exits: all().map(|function| exits.by_function.get(&function)).collect(),
        totals: all().map(|function| exits.totals.get(&function)).collect(),
    };
    let mut recovered = recover_unit(unit, &binary.map().program, counters, &early);
    if let Ok(EventProfile { calls: Some(calls), .. }) = &mut recovered {
        calls.exact &= !counts.flags.has(Flags::HANDLERS_MIXED);
    }
    recovered.map_err(|error| {
        let counting = FunctionId::all().zip(&unit.functions).filter(|(_, plan)| plan.is_counted());
        counting.map(|(function, _)| (function, error.clone().into())).collect()
    })
}
