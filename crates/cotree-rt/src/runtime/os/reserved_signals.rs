//! Signals that libc keeps for itself. No program can block them.

use core::ffi::c_int;

/// The numbers of all of them.
pub const RESERVED: core::ops::RangeInclusive<c_int> = 32..=33;

/// The signal by which threads are stopped when the process ends: libc no longer needs it then. glibc: SIGSETXID; musl:
/// SIGCANCEL, its SIGSETXID being 34.
pub const STOP: c_int = 33;

/// The mask of it alone.
#[cfg(not(feature = "shared-library"))]
pub const STOP_MASK: u64 = 1 << (STOP - 1);
