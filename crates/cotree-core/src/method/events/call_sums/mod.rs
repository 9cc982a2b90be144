//! Events per call (Ball 1994, §4, the second problem): how many happened while calls from one place were under way,
//! and how many in each function.
//!
//! **Sums.** The thread's counter of events is read before a call and behind it, and the difference is added to the sum
//! of the call. The paper's *Lcnt*, which keeps what was read before, is not needed: the counter is taken away from the
//! sum before the call (`sum −= counter`) and added behind it (`sum += counter`), in 64 bits that wrap around. What the
//! counter lacks in the caller is the same before and behind, so it cancels out. A function that code may call which is
//! not measured has a sum of its own, from where its activations begin to where they return. All others have the sums
//! of the calls that lead to them.
//!
//! **Events of a function itself** are its sum less those of its calls: every moment between two calls of an activation
//! belongs to it. So no block needs a counter.
//!
//! **Calls that do not come back** have taken something away and added nothing. Whoever walks the stack adds the
//! counter as it is then, per call site; an activation that comes to life at a site is one taken away. Repairs are
//! sums, too, and recovery adds them. The counter is exact there, since such calls are places where nothing is lacking
//! ([`super::reach`]). An exception that is caught adds the counter where it lands.
//!
//! **Signal handlers.** The runtime sets the counter back where a handler has ended, and counts its events apart. So
//! they are no events of the calls that were interrupted.
//!
//! **Callees that lack something where they return** ([`super::unit`]) leave that to their callers: recovery adds it
//! for each call that came back. A callee that always has the same number of events, and calls nobody, needs no probes
//! at all, and its calls only to be counted.
//!
//! **Recursion.** A sum is that of all calls from one place, so of calls that are under way at the same time each
//! counts by itself.

mod plan;
mod recover;
mod recursion;

pub(super) use plan::plan_unit;
pub(super) use recover::recover;
pub use recover::{CallSum, CallSums, FunctionSums};

use super::EventPlan;
use crate::ids::Counter;

/// How a call is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallForm {
    /// The call leads to no function that is measured: nothing happens while it is under way.
    #[default]
    Quiet,
    /// Not at all: the activation is over before its callee begins (`musttail`).
    Untold,
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
    pub calls: Vec<CallForm>,
    /// Per kind and call, what the callee leaves to the caller where it returns.
    pub returned: Vec<Vec<i64>>,
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

/// Assigns the counters of all functions, behind those of events. Also gives how many there are in all.
#[must_use]
pub fn counters(functions: &[EventPlan], kinds: usize) -> (Vec<FunctionCounters>, usize) {
    let mut next = 2 * kinds;
    let mut take = |sums: usize| {
        let first = Counter::new(next);
        next += 1 + sums;
        Some(SumCounters(first))
    };
    let of = |plan: &EventPlan| {
        let key = &plan.key.sums;
        let own = if key.measured { take(kinds) } else { None };
        let calls = key.calls.iter().map(|form| match form {
            CallForm::Quiet | CallForm::Untold => None,
            CallForm::Counted => take(0),
            CallForm::Summed => take(kinds),
        });
        FunctionCounters { own, calls: calls.collect() }
    };
    let counters = functions.iter().map(of).collect();
    (counters, next)
}
