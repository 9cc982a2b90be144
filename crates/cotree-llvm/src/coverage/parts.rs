//! What a note says of a coverage counter.

/// Name of the function, hash of its structure, how many counters it has, how many test vectors, and which counter it
/// is: those of vectors come behind the others.
pub(super) const PARTS: usize = 5;
