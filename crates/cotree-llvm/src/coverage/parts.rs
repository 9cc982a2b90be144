//! What a note says of a coverage counter.

/// Name of the function, hash of its structure, how many counters it has, and which one it is.
pub(super) const PARTS: usize = 4;
