//! Recovery where calls are counted.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use cotree_core::ids::FunctionId;
use cotree_core::method::RecoverError;
use cotree_core::method::calls::{CallProfile, UnitCallPlan, recover as recover_function};

/// The counts of all functions, and why some could not be recovered.
type Functions = (Vec<Option<CallProfile>>, Vec<(FunctionId, RecoverError)>);

/// Recovers all functions of a unit; `bases` are their first counters.
pub(super) fn recover(binary: &BinaryFile, counts: &UnitCounts, unit: &UnitCallPlan, bases: &[u64]) -> Functions {
    let mut failures = Vec::new();
    let functions =
        binary.map().program.functions().map(|(_, f)| f).zip(&unit.functions).zip(bases).zip(FunctionId::all());
    let profiles = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.key.counted.len()];
            recover_function(function, &plan.key, counts).map_err(|error| failures.push((index, error.into()))).ok()
        })
        .collect();
    (profiles, failures)
}
