//! Test vectors of decisions (MC/DC): each becomes a counter, which counts how often the decision was made so.
//!
//! A *decision* is an expression of several conditions, and a *test vector* says which of them were evaluated, with
//! which outcomes. clang numbers the vectors of a decision as Ball and Larus number paths: a variable on the stack is 0
//! where the decision begins, each outcome of a condition adds a number to it, and where the decision is made,
//! `llvm.instrprof.mcdc.tvbitmap.update` asks for the bit of the vector of that number (LLVM's language reference;
//! `MCDCState.h` and `CoverageMapping.cpp` have the numbering). LLVM would set bits in memory that threads share. Here
//! vectors are counted like blocks, with all that holds for these: threads, kills, and processes that fork.

mod intrinsics;
mod outcomes;
mod place;
mod sums;
mod unrequested;

use super::increments::INCREMENT;
use super::text::text_of;
use crate::error::Error;
use crate::ir::{Call, Value};
use crate::module::Module;
use cotree_profile::coverage::outcomes_line;
use intrinsics::PARAMETERS;
pub(super) use intrinsics::UPDATE;
use outcomes::Outcomes;
use place::Update;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use sums::{Sum, Unclear};
use unrequested::Records;

/// What is counted of the decisions of a module.
#[derive(Default)]
pub(super) struct Counted {
    /// Per name of a function, how many vectors it has: their counters are numbered from that of its other counters on.
    pub(super) vectors: HashMap<String, u32>,
    /// What the map lacks of the decisions' outcomes: lines of the section of decisions.
    pub(super) outcomes: String,
}

/// Asks for counters in the place of all vectors whose form is known; the others stay.
///
/// # Errors
/// A decision has more vectors than are counted.
pub(super) fn count(module: &mut Module) -> Result<Counted, Error> {
    let mut counted = Counted::default();
    let mut lines = BTreeSet::new();
    let unchanged: &Module = module;
    let is = |name: &str| unchanged.functions().any(|function| function.is_declaration() && function.name() == name);
    if !is(PARAMETERS) && !is(UPDATE) {
        return Ok(counted);
    }
    let mut records: Option<Records<'_>> = None;
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        let calls = |name: &str| -> Vec<Call<'_>> {
            let calls = function.instructions().filter_map(|instruction| instruction.as_call());
            calls.filter(|call| call.intrinsic().as_deref() == Some(name)).collect()
        };
        for call in calls(PARAMETERS) {
            let name = call.arguments().next().and_then(text_of);
            let count = call.arguments().nth(2).and_then(Value::constant).and_then(|count| u32::try_from(count).ok());
            if let Some((name, count)) = name.zip(count) {
                counted.vectors.insert(name, count);
                let records = records.get_or_insert_with(|| Records::of(unchanged));
                unrequested::ask(unchanged, function, call, records);
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
            lines.extend(outcomes_of(&sum, &calls));
            for update in calls.into_iter().filter_map(|call| update(call, &counters)) {
                // What is not replaced is refused later, as all that is not known.
                let _unclear = update.replace(unchanged, &sum).is_err();
            }
        }
    }
    module.sweep();
    counted.outcomes = lines.into_iter().collect();
    Ok(counted)
}

/// Lines of the section of decisions on those that some requests with one variable are for. Decisions whose outcome is
/// always that of the last condition have none.
fn outcomes_of<'m>(sum: &Sum<'m>, requests: &[Call<'m>]) -> Vec<String> {
    let mut decisions: BTreeMap<(String, u64, u64), Vec<Call<'m>>> = BTreeMap::new();
    for &request in requests {
        let [name, hash, first, _] = request.arguments().collect::<Vec<_>>()[..] else { continue };
        // Names of Rust's decisions are numbers.
        let Some(name) = text_of(name) else { continue };
        if let Some((hash, first)) = hash.constant().zip(first.constant()) {
            decisions.entry((name, hash, first)).or_default().push(request);
        }
    }
    if decisions.is_empty() {
        return Vec::new();
    }
    let last = outcomes::last(sum);
    let line = |((name, hash, first), requests): ((String, u64, u64), Vec<Call<'m>>)| {
        let first = u32::try_from(first).ok()?;
        let known = last.as_ref().ok().and_then(|last| outcomes::of_decision(sum, &requests, last).ok());
        match known {
            Some(Outcomes::Opposite(numbers)) if numbers.is_empty() => None,
            Some(Outcomes::Opposite(numbers)) => Some(outcomes_line(&name, hash, first, Some(&numbers))),
            Some(Outcomes::Unknown) | None => Some(outcomes_line(&name, hash, first, None)),
        }
    };
    decisions.into_iter().filter_map(line).collect()
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
