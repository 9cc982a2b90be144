//! Lets walks get past a libc without unwind tables.
//!
//! musl has none, so a walk that starts in a handler called by `exit` or `abort` can't get through it. So we
//! note the program's last step into libc, and the walk continues there. The same serves a forked child.

use crate::arch::registers::Caller;
use crate::runtime::thread;
#[cfg(not(feature = "shared-library"))]
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether any thread remembers anything.
#[cfg(not(feature = "shared-library"))]
static USED: AtomicBool = AtomicBool::new(false);

/// This thread steps into libc and will not come back, unless by a jump.
#[cfg(not(feature = "shared-library"))]
pub fn remember(caller: &Caller) {
    USED.store(true, Ordering::Relaxed);
    if let Some((_, record)) = thread::current() {
        record.last_step.set(caller);
    }
}

/// Steps into libc by a call that returns.
#[cfg(not(feature = "shared-library"))]
pub fn around<T>(caller: &Caller, call: impl FnOnce() -> T) -> T {
    let before = after(0);
    remember(caller);
    let result = call();
    match before {
        Some(before) => remember(&before),
        None => forget_below(caller.sp),
    }
    result
}

/// The stack below the stack pointer is dead: what was remembered there counts no more.
#[cfg(not(feature = "shared-library"))]
pub fn forget_below(sp: u64) {
    if USED.load(Ordering::Relaxed)
        && let Some((_, record)) = thread::current()
        && record.last_step.get().is_some_and(|caller| caller.sp <= sp)
    {
        record.last_step.clear();
    }
}

/// Where a walk of this thread's stack that got lost at the stack pointer can go on.
pub fn after(sp: u64) -> Option<Caller> {
    let (_, record) = thread::current()?;
    record.last_step.get().filter(|caller| caller.sp > sp)
}
