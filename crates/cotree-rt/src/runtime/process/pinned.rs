//! Whether a run asks that what differs from run to run be the same in each: the environment variable `COTREE_PIN`.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

static PINNED: AtomicBool = AtomicBool::new(false);

/// Reads the variable's value, before the program runs: anything but nothing and 0 asks for it.
pub fn start(value: &[u8]) {
    PINNED.store(!value.is_empty() && value != b"0", Relaxed);
}

/// Whether the run asks for it.
pub fn is_pinned() -> bool {
    PINNED.load(Relaxed)
}
