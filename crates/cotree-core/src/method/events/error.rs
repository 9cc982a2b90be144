//! What is wrong with counts of events.

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
}
