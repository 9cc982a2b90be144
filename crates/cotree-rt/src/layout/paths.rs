//! Hash tables of paths, and of path registers of abandoned activations.

/// A slot of the hash table of paths. A key, once there, never changes or moves; it may be there several times. A
/// bucket with count 0 means nothing, whatever its key: a process that was killed may have left it half written.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathBucket {
    /// 0: free. Else 1 + the number of the function in the unit; or, with [`ABANDONED`], a call during which
    /// activations were abandoned: [`AT_LANDING_PAD`](super::AT_LANDING_PAD) as in the table of early exits, in bits
    /// 48..56 which of the values known there `path` is, and below the return address.
    pub function: u64,
    /// 1 + the number of the path, or the path register at the call.
    pub path: u64,
    /// How often; for abandoned activations an `i64`, less those revived.
    pub count: u64,
    /// The sum of [`path_metric`](super::RawHeader::path_metric).
    pub metric: u64,
}
const _: () = assert!(core::mem::size_of::<PathBucket>() == 32);

/// Set in [`PathBucket::function`] when the bucket counts abandoned activations by their path register.
pub const ABANDONED: u64 = 1 << 63;
/// Where [`PathBucket::function`] says which of the values known at the return address the register is.
pub const VALUE_SHIFT: u32 = 48;
/// The bits of the return address in [`PathBucket::function`].
pub const ADDRESS_MASK: u64 = (1 << VALUE_SHIFT) - 1;

/// First bucket to try for a key in a path table of `capacity` (a power of two) buckets.
#[must_use]
pub const fn path_slot(function: u64, path: u64, capacity: u64) -> u64 {
    let mixed = path.wrapping_add(function.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) & (capacity - 1)
}
