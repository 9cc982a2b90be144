//! How calls are measured, and by which counters.

use crate::ids::{CallId, Counter, IdMap};

/// How a call is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallForm {
    /// The call leads to no function that is measured: no event happens while it is under way.
    #[default]
    External,
    /// Not at all: the activation is over before its callee begins (`musttail`).
    Unmeasured,
    /// The call is counted.
    Counted,
    /// The call is counted, and the events while it was under way are added up.
    Summed,
}

/// How the calls of a function, and its own activations, are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSumKey {
    /// Are its activations measured where they begin and end?
    pub measured: bool,
    /// Per call; empty for functions without probes.
    pub calls: IdMap<CallId, CallForm>,
    /// Per kind and call, what the callee leaves to the caller where it returns.
    pub returned: Vec<IdMap<CallId, i64>>,
}

/// The counters of something that is measured: how often it was, then the sum of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumCounters(Counter);

impl SumCounters {
    /// How often.
    #[must_use]
    pub const fn times(self) -> Counter {
        self.0
    }

    /// The sum of a kind.
    #[must_use]
    pub const fn sum(self, kind: usize) -> Counter {
        Counter(self.0.0 + 1 + kind as u32)
    }
}

/// The counters of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionCounters {
    /// The counters of its activations.
    pub own: Option<SumCounters>,
    /// The counters of its calls.
    pub calls: Vec<Option<SumCounters>>,
}

/// Assigns the counters of functions with these keys, behind those of events. Also gives how many there are in all.
#[must_use]
pub fn counters<'a>(keys: impl Iterator<Item = &'a CallSumKey>, kinds: usize) -> (Vec<FunctionCounters>, usize) {
    let mut next = 2 * kinds;
    let mut take = |sums: usize| {
        let first = Counter::new(next);
        next += 1 + sums;
        Some(SumCounters(first))
    };
    let of = |key: &CallSumKey| {
        let own = if key.measured { take(kinds) } else { None };
        let calls = key.calls.iter().map(|form| match form {
            CallForm::External | CallForm::Unmeasured => None,
            CallForm::Counted => take(0),
            CallForm::Summed => take(kinds),
        });
        FunctionCounters { own, calls: calls.collect() }
    };
    let counters = keys.map(of).collect();
    (counters, next)
}
