//! Why the file could not be made larger.

use crate::runtime::os::sys::Errno;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

static WHY: AtomicI32 = AtomicI32::new(libc::ENOSPC);

/// The file could not be made larger; whether that loses anything is seen at the end.
pub fn refused(error: Errno) {
    WHY.store(error.0, Relaxed);
}

/// Why that was so the last time.
pub fn why() -> Errno {
    Errno(WHY.load(Relaxed))
}
