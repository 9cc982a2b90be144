//! The events that a thread has reported (`cotree_events` of `cotree.h`): a running total, which generated code reads
//! where paths begin and end.
//!
//! The total never decreases, not even at `cotree_reset` or in a forked child, because only its differences are added
//! up. The executable exports its total to shared libraries, whose code finds it before their own. So every report
//! counts in the paths of all link units on the thread's stack.

crate::arch::events::total!();
