//! Event counts from counters and early exits. The key and the counts come from files, so neither is trusted.

use super::{EventKey, UnitEventPlan};
use crate::facts::events::EventKind;
use crate::profile::{EarlyExits, Flaw};

/// How many events of each kind a link unit had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventProfile {
    /// What is counted.
    pub kinds: Vec<EventKind>,
    /// Per kind, how often it happened.
    pub totals: Vec<u64>,
    /// Per function, why the events that it had are not vouched for; `None` where nothing is counted. The totals are exact if all
    /// are empty.
    pub flaws: Vec<Option<Vec<Flaw>>>,
}

/// Why counts can't be turned into a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Another number of counts than of counters.
    #[error("the plan has {expected} counters, but there are {found} counts")]
    CounterMismatch {
        /// Counters of the plan.
        expected: usize,
        /// Counts at hand.
        found: usize,
    },
    /// The facts do not say where in its blocks instructions stand.
    #[error("it is not known how many events the function's blocks have")]
    UnknownEvents,
}

/// Recovers the counts of a unit. `early` says per function how its activations ended early.
///
/// # Errors
/// See [`EventError`].
pub fn recover<'a>(
    unit: &UnitEventPlan,
    counts: &[u64],
    early: impl Iterator<Item = Option<&'a EarlyExits>>,
) -> Result<EventProfile, EventError> {
    let kinds = unit.kinds.len();
    if counts.len() != 2 * kinds {
        return Err(EventError::CounterMismatch { expected: 2 * kinds, found: counts.len() });
    }
    let mut sums: Vec<i128> =
        counts.chunks_exact(2).map(|counter| i128::from(counter[0]) - i128::from(counter[1])).collect();
    for (plan, early) in unit.functions.iter().zip(early) {
        let Some(early) = early else { continue };
        for (sum, repair) in sums.iter_mut().zip(repairs(&plan.key, early)) {
            *sum = sum.saturating_add(repair);
        }
    }
    let possible = sums.iter().all(|&sum| u64::try_from(sum).is_ok());
    let flaws = |counted: bool| counted.then(|| if possible { Vec::new() } else { vec![Flaw::Inconsistent] });
    Ok(EventProfile {
        kinds: unit.kinds.clone(),
        totals: sums.into_iter().map(|sum| u64::try_from(sum.max(0)).unwrap_or(u64::MAX)).collect(),
        flaws: unit.functions.iter().map(|plan| flaws(plan.is_counted())).collect(),
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
