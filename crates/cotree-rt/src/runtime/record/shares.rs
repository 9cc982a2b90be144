//! A unit's part in limits of the whole process.
//!
//! What is left to such a limit is shared out among the slabs of all units: each has a count at which its share is used
//! up, and all these together are no more than the limit. So as long as nobody has used up a share, the limit is not
//! reached, and nobody but the thread itself has to look at its counter.
//!
//! Whoever shares out writes to the words of other threads. The lock guards these; generated code only reads one.

use crate::runtime::os::lock::{Held, Lock};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

static LOCK: Lock = Lock::new();
/// The kinds of which there are shares, each a bit by its number.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// Guards the words of limits.
pub fn lock() -> Held<'static> {
    LOCK.take()
}

/// Whether threads have shares of a kind.
pub fn are_given(kind: c_int) -> bool {
    GIVEN.load(Relaxed) >> kind & 1 == 1
}

/// In a forked child: nothing is limited.
pub fn forget() {
    LOCK.break_open();
    GIVEN.store(0, Relaxed);
}

/// Notes whether threads have shares of a kind.
pub fn set_given(kind: c_int, are_given: bool) {
    let bit = 1 << kind;
    let _before = if are_given { GIVEN.fetch_or(bit, Relaxed) } else { GIVEN.fetch_and(!bit, Relaxed) };
}
