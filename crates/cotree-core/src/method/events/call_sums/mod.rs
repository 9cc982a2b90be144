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
//! ([`super::reach`]). An exception that is caught adds the counter at its landing pad.
//!
//! **Signal handlers.** The runtime sets the counter back where a handler has ended, and counts its events apart. So
//! they are no events of the calls that were interrupted.
//!
//! **Callees that lack something where they return** ([`super::unit`]) leave that to their callers: recovery adds it
//! for each call that came back. A callee that always has the same number of events, and calls nobody, needs no probes
//! at all, and its calls only to be counted.
//!
//! **Recursion.** Such a sum is that of all calls from one place, so of calls that are under way at the same time each
//! counts by itself. The paper has it so, and what functions did themselves follows from these sums alone. But nobody
//! wants to read that `fib` had more events than the program. So functions and calls that may be under way several
//! times at once have one more sum, of their *outermost* activations: a word of the thread's slab says which activation
//! that is, by the address of its frame, and only that one takes the counter away where it begins, and adds it where it
//! ends ([`Probe::Outermost`](crate::probe::Probe::Outermost)). If it ends early, whoever walks the stack finds the
//! address among those of the dying frames. A frame must be of one such activation then: these functions are not
//! inlined.

pub(super) mod keys;
mod plan;
mod recover;
mod recursion;

pub use keys::{CallForm, CallSumKey, FunctionCounters, OutermostCounters, SumCounters};
pub(super) use plan::plan_unit;
pub(super) use recover::recover;
pub use recover::{CallSum, CallSums, FunctionSums};

use super::reach::CallGraph;
use super::types::EventPlan;
use crate::unit::UnitFacts;

/// Per function, whether it may be entered again while it runs. `called` says which functions unknown code may call.
pub(super) fn recursive(facts: &UnitFacts<'_>, called: impl Fn(usize) -> bool) -> Vec<bool> {
    let graph = CallGraph::new(facts.program, facts.preemptible);
    let components = recursion::Components::new(&graph, called);
    (0..graph.functions.len()).map(|function| components.is_recursive(function)).collect()
}

/// Assigns the counters of all functions, behind those of events. Also gives how many there are in all.
#[must_use]
pub fn counters(functions: &[EventPlan], kinds: usize) -> (Vec<FunctionCounters>, usize) {
    keys::counters(functions.iter().map(|plan| &plan.key.sums), kinds)
}
