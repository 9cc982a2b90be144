//! Event counts from counters and early exits. The key and the counts come from files, so neither is trusted.

use super::call_sums::{self, CallSums};
use super::error::EventError;
use super::{EventKey, EventMethod, EventPlan, UnitEventPlan};
use crate::facts::ProgramMap;
use crate::facts::events::EventKind;
use crate::profile::{EarlyExits, Flaw};

/// How many events of each kind a link unit had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventProfile {
    /// What is counted.
    pub kinds: Vec<EventKind>,
    /// Per kind, how often it happened.
    pub totals: Vec<u64>,
    /// How many there were in each function and during each call, if that is told.
    pub calls: Option<CallSums>,
    /// Per function, why the events that it had are not vouched for; `None` where nothing is counted. The totals are
    /// exact if all are empty.
    pub flaws: Vec<Option<Vec<Flaw>>>,
}

/// How the activations of all functions ended early. Lists have an entry per function, or less where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct EarlyEvents<'a> {
    /// How many at each site.
    pub exits: Vec<Option<&'a EarlyExits>>,
    /// Per kind and site, the sum of what the counter was each time, negative where an activation came to life.
    pub totals: Vec<Option<&'a Vec<Vec<i64>>>>,
}

/// Recovers the counts of a unit.
///
/// # Errors
/// See [`EventError`].
pub fn recover(
    unit: &UnitEventPlan,
    program: &ProgramMap,
    counts: &[u64],
    early: &EarlyEvents<'_>,
) -> Result<EventProfile, EventError> {
    let kinds = unit.kinds.len();
    let expected = unit.counters();
    if counts.len() != expected {
        return Err(EventError::CounterMismatch { expected, found: counts.len() });
    }
    let of_kind = |counter: &[u64]| match unit.method {
        EventMethod::Total => i128::from(counter[0]) - i128::from(counter[1]),
        // Taken away from the one counter, and what handlers did from the other.
        EventMethod::Calls => i128::from(counter[0].wrapping_sub(counter[1]).cast_signed()),
    };
    let mut sums: Vec<i128> = counts[..2 * kinds].chunks_exact(2).map(of_kind).collect();
    for (plan, early) in unit.functions.iter().zip(&early.exits) {
        let Some(early) = early else { continue };
        for (sum, repair) in sums.iter_mut().zip(repairs(&plan.key, early)) {
            *sum = sum.saturating_add(repair);
        }
    }
    let calls = (unit.method == EventMethod::Calls)
        .then(|| call_sums::recover(unit, program, counts, &early.exits, &early.totals));
    let possible = sums.iter().all(|&sum| u64::try_from(sum).is_ok());
    let of_calls = |number: usize| calls.as_ref().and_then(|calls| calls.functions.get(number)?.as_ref());
    let flaws = |(number, plan): (usize, &EventPlan)| {
        let possible = possible && of_calls(number).is_none_or(|sums| sums.possible);
        plan.is_counted().then(|| if possible { Vec::new() } else { vec![Flaw::Inconsistent] })
    };
    let flaws = unit.functions.iter().enumerate().map(flaws).collect();
    Ok(EventProfile {
        kinds: unit.kinds.clone(),
        totals: sums.into_iter().map(|sum| u64::try_from(sum.max(0)).unwrap_or(u64::MAX)).collect(),
        calls,
        flaws,
    })
}

/// Per kind, what the counter lacks for good by activations that ended early.
fn repairs(key: &EventKey, early: &EarlyExits) -> impl Iterator<Item = i128> {
    let repair = |at_sites: &Vec<i64>| {
        let sites = at_sites.iter().zip(&early.at_site);
        sites.map(|(&lacking, &ends)| i128::from(lacking) * i128::from(ends)).fold(0, i128::saturating_add)
    };
    key.at_sites.iter().map(repair)
}
