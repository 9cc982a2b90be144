//! Children that run in this memory, by `vfork` or `clone`, while their parents wait.
//!
//! The flow of a `vfork` child, which has its parent's stack too, is the parent's: when it ends (by `_exit` or `exec`),
//! the parent returns from the `vfork` call a second time. That is a `longjmp` in all but name.

use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::os::sys;
use crate::runtime::process::counting::count;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::process::jumps::{JumpTarget, account_times};
use crate::runtime::process::units;
use crate::runtime::stack::walk::Walk;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::thread;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

/// In a child that runs in its parent's memory (or maps its parent's file): accounts for its end (+1), or takes that
/// back (−1). False in a process with a profile of its own.
pub fn ended(caller: &Caller, times: i64) -> bool {
    if !current::active() || current::process() == sys::process_id() {
        return false;
    }
    if !leave_vfork(caller, times) {
        if shares_memory() {
            // Made by a raw `clone`, or by libc's `posix_spawn` where that comes through our hooks: it has a stack of
            // its own, which dies here.
            let mut walk = Walk::new(caller);
            while let Some(frame) = walk.next() {
                count(&frame, walk.registers(), times);
            }
            let change = |count: u32| if times > 0 { count.checked_sub(1) } else { count.checked_add(1) };
            // None is known if libc made it.
            let _ = CHILDREN.fetch_update(Relaxed, Relaxed, change);
        } else {
            // A raw fork: it counts in a profile that is not its own.
            units::flag(Flags::FOREIGN_PROCESS);
        }
    }
    true
}

/// Children by `clone` that run in this memory while their parents wait, and have not been seen to end.
static CHILDREN: AtomicU32 = AtomicU32::new(0);

/// Such a child is being made.
#[cfg(not(feature = "shared-library"))]
pub fn begins() {
    CHILDREN.fetch_add(1, Relaxed);
}

/// A forked child has made none.
pub fn after_fork() {
    CHILDREN.store(0, Relaxed);
}

/// Whether one ended unseen, by a signal for instance.
pub fn has_lost_one() -> bool {
    CHILDREN.load(Relaxed) > 0
}

/// A page that the kernel clears in children that get a copy of the memory.
static SENTINEL: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// Whether this process runs in the memory that the profile was started in.
fn shares_memory() -> bool {
    let page = SENTINEL.load(Relaxed);
    // SAFETY: null, or mapped by `register`.
    unsafe { page.as_ref() }.is_some_and(|byte| *byte != 0)
}

/// Marks this process as the one whose memory this is.
pub fn set_sentinel() {
    let fresh = || sys::map_anonymous(4096).ok().filter(|page| sys::wipe_on_fork(*page, 4096));
    let known = SENTINEL.load(Relaxed);
    let Some(page) = (if known.is_null() { fresh() } else { Some(known) }) else { return };
    // SAFETY: a page of ours.
    unsafe { page.write_volatile(1) };
    SENTINEL.store(page, Relaxed);
}

#[cfg(not(feature = "shared-library"))]
fn leave_vfork(caller: &Caller, times: i64) -> bool {
    let Some((_, record)) = thread::current() else { return false };
    let (sp, pc) = (record.vfork_sp.load(Relaxed), record.vfork_pc.load(Relaxed));
    if sp != 0 {
        let target = JumpTarget { sp, pc, is_call: true };
        account_times(target, caller, times);
        record.vfork_accounted.store(u32::from(times > 0), Relaxed);
    }
    sp != 0
}

/// A library hears nothing of `vfork`.
#[cfg(feature = "shared-library")]
fn leave_vfork(_caller: &Caller, _times: i64) -> bool {
    false
}
