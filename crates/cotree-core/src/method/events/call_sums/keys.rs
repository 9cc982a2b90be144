//! How calls are measured, and by which counters.

use crate::ids::{CallId, Counter, IdMap, Word};

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
    /// As [`Self::Summed`]; besides, the events while it was under way at all are added up, for the same call may be
    /// made in the meantime.
    Outermost,
}

impl CallForm {
    /// Is the call counted?
    #[must_use]
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::Counted | Self::Summed | Self::Outermost)
    }

    /// Are the events of each turn of the call added up?
    #[must_use]
    pub const fn is_summed(self) -> bool {
        matches!(self, Self::Summed | Self::Outermost)
    }
}

/// How the calls of a function, and its own activations, are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSumKey {
    /// Are its activations measured where they begin and end?
    pub measured: bool,
    /// Are the events added up while it was under way at all, since it may be entered in the meantime?
    pub outermost: bool,
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
    /// What adds up the events of its outermost activations.
    pub outermost: Option<OutermostCounters>,
    /// What adds up the events of the outermost activations of each call.
    pub outermost_calls: Vec<Option<OutermostCounters>>,
}

/// What adds up events while something is under way for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutermostCounters {
    /// The word that says which activation is the outermost one.
    pub word: Word,
    /// The sum of the first kind; those of the others follow.
    pub sums: Counter,
}

impl OutermostCounters {
    /// The sum of a kind.
    #[must_use]
    pub const fn sum(self, kind: usize) -> Counter {
        Counter(self.sums.0 + kind as u32)
    }
}

/// How many words say which activations are the outermost ones.
pub(crate) fn outermost_words<'a>(keys: impl Iterator<Item = &'a CallSumKey>) -> usize {
    let of = |key: &CallSumKey| {
        let calls = key.calls.iter().filter(|&&form| form == CallForm::Outermost).count();
        usize::from(key.outermost) + calls
    };
    keys.map(of).sum()
}

/// Assigns the counters of functions with these keys, behind those of events; those of outermost activations are the
/// last ones. Also gives how many there are in all.
#[must_use]
pub fn counters<'a>(
    keys: impl Iterator<Item = &'a CallSumKey> + Clone,
    kinds: usize,
) -> (Vec<FunctionCounters>, usize) {
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
            CallForm::Summed | CallForm::Outermost => take(kinds),
        });
        FunctionCounters { own, calls: calls.collect(), ..FunctionCounters::default() }
    };
    let mut counters: Vec<FunctionCounters> = keys.clone().map(of).collect();
    let mut words = 0;
    let mut take = || {
        let taken = OutermostCounters { word: Word::new(words), sums: Counter::new(next) };
        words += 1;
        next += kinds;
        taken
    };
    for (key, counters) in keys.zip(&mut counters) {
        counters.outermost = key.outermost.then(&mut take);
        let of_call = |&form: &CallForm| (form == CallForm::Outermost).then(&mut take);
        counters.outermost_calls = key.calls.iter().map(of_call).collect();
    }
    (counters, next)
}
