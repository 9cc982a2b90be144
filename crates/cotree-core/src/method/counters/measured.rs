//! What was measured of one function.

use crate::facts::Function;
use crate::plan::CounterKey;
use crate::profile::EarlyExits;

/// One function with what was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The function.
    pub function: &'a Function,
    /// What its counters mean.
    pub key: &'a CounterKey,
    /// The counts of its counters.
    pub counts: &'a [u64],
    /// The function's early exits, one per call site or none at all.
    pub early: &'a EarlyExits,
}
