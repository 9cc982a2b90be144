//! Recovery for the methods that count blocks and edges with counters.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use cotree_core::ids::FunctionId;
use cotree_core::method::RecoverError;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::counters::{CounterError, CounterMethod, UnitCounterPlan, recover as recover_function};
use cotree_core::method::counters::{Measured, entries};
use cotree_core::plan::CounterPlan;
use cotree_core::profile::{EarlyExits, FunctionProfile};

/// The profiles of all functions, and why some could not be recovered.
type Functions = (Vec<Option<FunctionProfile>>, Vec<(FunctionId, RecoverError)>);

/// Recovers all functions of a unit; `bases` are their first counters.
pub(super) fn recover(
    binary: &BinaryFile,
    counts: &UnitCounts,
    unit: &UnitCounterPlan,
    bases: &[u64],
    exits: &UnitExits,
) -> Functions {
    match ChordMethod::of(unit.method) {
        Some(method) => recover_from_callers(binary, counts, method, unit, bases, exits),
        None => recover_alone(binary, counts, unit.method, &unit.functions, bases, exits),
    }
}

/// Recovers all functions, each by itself.
pub(crate) fn recover_alone<'a>(
    binary: &BinaryFile,
    counts: &UnitCounts,
    method: CounterMethod,
    plans: impl IntoIterator<Item = &'a CounterPlan>,
    bases: &[u64],
    exits: &UnitExits,
) -> Functions {
    let none = EarlyExits::default();
    let mut failures = Vec::new();
    let functions = binary.map().program.functions().map(|(_, f)| f).zip(plans).zip(bases).zip(FunctionId::all());
    let profiles = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.key.measures.len()];
            let early = exits.by_function.get(&index).unwrap_or(&none);
            let cfg = function.cfg().expect("validated with the map");
            match recover_function(method, &cfg, Measured { function, key: &plan.key, counts, early }) {
                Ok(profile) => Some(profile),
                Err(CounterError::NothingMeasured) => None,
                Err(error) => {
                    failures.push((index, error.into()));
                    None
                }
            }
        })
        .collect();
    (profiles, failures)
}

/// Recovers all functions of a method with counters on chords, where the entries of some follow from others.
fn recover_from_callers(
    binary: &BinaryFile,
    counts: &UnitCounts,
    method: ChordMethod,
    unit: &UnitCounterPlan,
    bases: &[u64],
    exits: &UnitExits,
) -> Functions {
    let none = EarlyExits::default();
    let functions =
        binary.map().program.functions().map(|(_, f)| f).zip(&unit.functions).zip(bases).zip(FunctionId::all());
    let measured: Vec<Option<Measured<'_>>> = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.key.measures.len()];
            Some(Measured { function, key: &plan.key, counts, early: exits.by_function.get(&index).unwrap_or(&none) })
        })
        .collect();
    let mut failures = Vec::new();
    let profiles = entries::recover(method, &measured, &unit.entries)
        .into_iter()
        .zip(FunctionId::all())
        .map(|(recovered, index)| match recovered? {
            Ok(profile) => Some(profile),
            Err(error) => {
                failures.push((index, error.into()));
                None
            }
        })
        .collect();
    (profiles, failures)
}
