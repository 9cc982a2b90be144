//! Test vectors of decisions (MC/DC): each becomes a counter, which counts how often the decision was made so.
//!
//! A *decision* is an expression of several conditions, and a *test vector* says which of them were evaluated, with
//! which outcomes. clang numbers the vectors of a decision as Ball and Larus number paths: a variable on the stack is 0
//! where the decision begins, each outcome of a condition adds a number to it, and where the decision is made,
//! `llvm.instrprof.mcdc.tvbitmap.update` asks for the bit of the vector of that number (LLVM's language reference;
//! `MCDCState.h` and `CoverageMapping.cpp` have the numbering). LLVM would set bits in memory that threads share. Here
//! vectors are counted like blocks, with all that holds for these: threads, kills, and processes that fork.

mod intrinsics;
mod place;
mod sums;

use super::increments::INCREMENT;
use super::text::text_of;
use crate::error::Error;
use crate::ir::{Call, Value};
use crate::module::Module;
use intrinsics::PARAMETERS;
pub(super) use intrinsics::UPDATE;
use place::Update;
use std::collections::HashMap;
use sums::{Sum, Unclear};

/// Asks for counters in the place of all vectors whose form is known; the others stay. Per name of a function, how many
/// vectors it has: their counters are numbered from that of its other counters on.
///
/// # Errors
/// A decision has more vectors than are counted.
pub(super) fn count(module: &mut Module) -> Result<HashMap<String, u32>, Error> {
    let mut vectors = HashMap::new();
    let unchanged: &Module = module;
    let is = |name: &str| unchanged.functions().any(|function| function.is_declaration() && function.name() == name);
    if !is(PARAMETERS) && !is(UPDATE) {
        return Ok(vectors);
    }
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        let calls = |name: &str| -> Vec<Call<'_>> {
            let calls = function.instructions().filter_map(|instruction| instruction.as_call());
            calls.filter(|call| call.intrinsic().as_deref() == Some(name)).collect()
        };
        for call in calls(PARAMETERS) {
            let name = call.arguments().next().and_then(text_of);
            let count = call.arguments().nth(2).and_then(Value::constant).and_then(|count| u32::try_from(count).ok());
            if let Some((name, count)) = name.zip(count) {
                vectors.insert(name, count);
                unchanged.remove(*call);
            }
        }
        let mut counters: HashMap<Value<'_>, Value<'_>> = HashMap::new();
        let mut by_variable: Vec<(Value<'_>, Vec<Call<'_>>)> = Vec::new();
        let updates = calls(UPDATE);
        if updates.is_empty() {
            continue;
        }
        for call in calls(INCREMENT) {
            counters.extend(call.arguments().next().zip(call.arguments().nth(2)));
        }
        for call in updates {
            // Before clang 19 there was another argument.
            let [_, _, _, variable] = call.arguments().collect::<Vec<_>>()[..] else { continue };
            match by_variable.iter_mut().find(|(known, _)| *known == variable) {
                Some((_, all)) => all.push(call),
                None => by_variable.push((variable, vec![call])),
            }
        }
        for (variable, calls) in by_variable {
            let sum = match Sum::new(variable) {
                Ok(sum) => sum,
                Err(Unclear::Form) => continue,
                Err(Unclear::TooMany) => {
                    let (module, function) = (unchanged.name.clone(), function.name());
                    return Err(Error::TooManyVectors { module, function, most: sums::MOST });
                }
            };
            for update in calls.into_iter().filter_map(|call| update(call, &counters)) {
                // What is not replaced is refused later, as all that is not known.
                let _unclear = update.replace(unchanged, &sum).is_err();
            }
        }
    }
    module.sweep();
    Ok(vectors)
}

/// What a call asks for, if its arguments are as they should be.
fn update<'m>(call: Call<'m>, counters: &HashMap<Value<'m>, Value<'m>>) -> Option<Update<'m>> {
    let [name, hash, first, variable] = call.arguments().collect::<Vec<_>>()[..] else { return None };
    let count = *counters.get(&name)?;
    Some(Update {
        call,
        variable,
        function: [name, hash, count],
        counters: u32::try_from(count.constant()?).ok()?,
        first: u32::try_from(first.constant()?).ok()?,
    })
}
