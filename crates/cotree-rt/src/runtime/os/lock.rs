//! A lock that may be taken anywhere. Signals are blocked while it is held, so a handler never waits for the thread
//! that it interrupted. A forked child may break it, because its holder does not exist in the child.

use crate::runtime::os::{sys, valgrind};
use core::sync::atomic::{AtomicBool, Ordering};

/// The lock.
pub struct Lock(AtomicBool);

/// Held until dropped.
pub struct Held<'a> {
    lock: &'a Lock,
    signals: u64,
}

impl Lock {
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub fn take(&self) -> Held<'_> {
        valgrind::ignore(self.0.as_ptr().cast(), size_of::<Self>());
        let signals = sys::set_signal_mask(u64::MAX);
        while self.0.swap(true, Ordering::Acquire) {
            sys::pause_a_little();
        }
        Held { lock: self, signals }
    }

    /// The lock, unless its holder keeps it for long: it may be a thread that goes on no more.
    pub fn take_soon(&self) -> Option<Held<'_>> {
        const PATIENCE: u32 = 1000;
        valgrind::ignore(self.0.as_ptr().cast(), size_of::<Self>());
        let signals = sys::set_signal_mask(u64::MAX);
        for _ in 0..PATIENCE {
            if !self.0.swap(true, Ordering::Acquire) {
                return Some(Held { lock: self, signals });
            }
            sys::pause_a_little();
        }
        sys::set_signal_mask(signals);
        None
    }

    /// Frees the lock of whoever held it; only in a forked child.
    pub fn break_open(&self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.lock.0.store(false, Ordering::Release);
        sys::set_signal_mask(self.signals);
    }
}
