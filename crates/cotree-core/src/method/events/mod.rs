//! Counting events: one counter of all events, increased on the chords of a spanning tree (Ball 1994).
//!
//! **Potentials.** Every point of a function has a *potential*: what the counter lacks when control is there, less what
//! it lacked when the activation began. It is the paper's *query increment* of the point: counter plus potential is the
//! exact count (§3.3). The potential is 0 at the entry. Along a stretch without a probe it rises by the events of the
//! stretch, so a spanning tree of edges without probes fixes all potentials, and a chord *u*→*v* gets the increment
//! *potential(u) + events − potential(v)*. That is the sum around the chord's fundamental cycle which the depth-first
//! search of Fig. 4 computes, self-loops included. Chords of increment 0 get no probe.
//!
//! **Calls that can reach a query** ([`reach`]) need a potential of 0: the callee knows nothing of its callers. The
//! paper adds the query increment before the call and takes it away behind it (§4). Here such a call is one more place
//! where the potential is known to be 0, like entry and EXIT ([`graph`]): that costs one chord instead of two probes,
//! and the spanning tree puts it where it is cheapest (the paper's footnote 3).
//!
//! **Safe points** ([`safe_points`]), at which the program learns that a limit of events is reached, are such calls as
//! well.
//!
//! **Activations that end early** lack their potential at the call for good. The runtime counts such ends per call
//! site, and recovery adds *ends × potential* ([`recover()`], the paper's footnote 2). Where a query must be exact
//! while the program goes on, all calls that may be abandoned are among those of potential 0.
//!
//! **Beyond the paper.** A function that is only called directly, from known places, may return with any potential: its
//! callers count that as events of the call. This saves a chord, and straight-line functions need no probe at all. (Not
//! across calls that may become [jumps](`jumps`).) Loops that always go
//! around equally often need no increment of their own; others are counted by a variable of the loop where that is
//! cheaper ([`crate::place::affine`]).
//!
//! **Two counters.** Increments may be negative. Those are added to a counter of their own, so that neither ever
//! wraps: the count is the difference.

pub mod call_queries;
pub mod call_sums;
mod error;
mod graph;
mod increments;
mod jumps;
mod kinds;
mod naive;
mod offsets;
pub mod reach;
mod recover;
pub mod safe_points;
mod types;
pub(crate) mod unit;

pub use error::EventError;
pub use kinds::EventKinds;
pub use recover::{EarlyEvents, EventProfile, recover};
pub use types::{
    EventKey, EventMethod, EventOptions, EventPlan, EventWords, QUERY_WORDS, QueryIncrements, UnitEventPlan,
    counters_of, hidden_words,
};
