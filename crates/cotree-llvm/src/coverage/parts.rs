//! What a note says of a coverage counter.

/// Name of the function, hash of its structure, how many counters it has, and which one it is.
pub(super) const PARTS: usize = 4;

/// How the coverage map names a function: the low half of the MD5 of its name.
pub(super) fn hash_of_name(name: &str) -> u64 {
    let digest = md5::compute(name);
    u64::from_le_bytes(std::array::from_fn(|byte| digest[byte]))
}
