//! `fork` and `vfork`.
//!
//! A forked child starts from zero in a file of its own, before any code of the program runs: our handler was
//! registered first, so it runs first. Its inherited frames are revived without a call, so each counts −1.
//!
//! A `vfork` child runs in its parent's memory and on its parent's stack, so its flow belongs to the parent: when it
//! ends (by `_exit` or `exec`), the parent returns from the `vfork` call a second time. That is a `longjmp` in all but
//! name.

use crate::arch::entries::entry;
use crate::arch::linkage::weak;
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::file::profile;
use crate::runtime::os::call::call;
use crate::runtime::os::sys;
use crate::runtime::process::{end, stop, thread, units};
use crate::runtime::stack::walk;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

unsafe extern "C" {
    fn cotree_rt_in_child();
}
weak!(register_atfork = "__register_atfork");
weak!(pthread_atfork = "pthread_atfork");
entry!("cotree_rt_in_child", in_child, 0);

/// Stands by for `fork`.
pub fn register() {
    type Handler = Option<unsafe extern "C" fn()>;
    set_sentinel();
    // SAFETY: libc's functions; the handler has C linkage.
    unsafe {
        let (before, after) = (Some(before_fork as _), Some(after_fork as _));
        if let Some(register) = register_atfork() {
            call!(register => fn(before => Handler, after => Handler, Some(cotree_rt_in_child) => Handler,
                core::ptr::null_mut() => *mut c_void) -> c_int);
        } else if let Some(register) = pthread_atfork() {
            call!(register => fn(before => Handler, after => Handler, Some(cotree_rt_in_child) => Handler) -> c_int);
        }
    }
}

/// Signals wait until the child has a profile of its own: what their handlers count is not the parent's. This is the
/// last to run before the fork, and the other two are the first after it.
unsafe extern "C" fn before_fork() {
    if let Some((_, record)) = thread::current() {
        record.fork_signals.store(sys::set_signal_mask(u64::MAX), Relaxed);
        record.forking.store(1, Relaxed);
    }
}

unsafe extern "C" fn after_fork() {
    if let Some((_, record)) = thread::current().filter(|(_, record)| record.forking.swap(0, Relaxed) != 0) {
        sys::set_signal_mask(record.fork_signals.load(Relaxed));
    }
}

/// Forks by other ways than libc's, in the same manner.
#[cfg(not(feature = "shared-library"))]
pub fn around_fork<T: PartialEq>(caller: &Caller, child: T, fork: impl FnOnce() -> T) -> T {
    let signals = sys::set_signal_mask(u64::MAX);
    let result = fork();
    if result == child {
        begin_in_child(caller);
    }
    sys::set_signal_mask(signals);
    result
}

/// The child's handler.
unsafe extern "C" fn in_child(caller: &Caller) {
    begin_in_child(caller);
    // SAFETY: a handler of ours.
    unsafe { after_fork() };
}

/// A second call is none.
fn begin_in_child(caller: &Caller) {
    if begin(|| walk::Walk::new(caller).any(|frame| frame.interrupted)) {
        walk::count_all(caller, -1);
    }
}

/// Begins in a child whose stack is a new one.
#[cfg(not(feature = "shared-library"))]
pub fn begin_on_empty_stack() {
    begin(|| false);
}

/// Whether profiles have been begun for this process. `interrupted`: whether a signal handler has forked.
fn begin(interrupted: impl FnOnce() -> bool) -> bool {
    stop::after_fork();
    if !profile::active() || profile::process() == sys::process_id() {
        return false;
    }
    set_sentinel();
    BORROWERS.store(0, Relaxed);
    end::after_fork();
    let own = thread::after_fork();
    units::forked(own.unwrap_or(0), interrupted());
    true
}

/// In a child that runs in its parent's memory (or maps its parent's file): accounts for its end (+1), or takes that
/// back (−1). False in a process with a profile of its own.
pub fn leave_borrowed(caller: &Caller, times: i64) -> bool {
    if !profile::active() || profile::process() == sys::process_id() {
        return false;
    }
    if !leave_vfork(caller, times) {
        if shares_memory() {
            // Made by a raw `clone`, or by libc's `posix_spawn` where that comes through our hooks: it has a stack of
            // its own, which dies here.
            let mut walk = walk::Walk::new(caller);
            while let Some(frame) = walk.next() {
                frame.count(walk.registers(), times);
            }
            let change = |count: u32| if times > 0 { count.checked_sub(1) } else { count.checked_add(1) };
            // None is known if libc made it.
            let _ = BORROWERS.fetch_update(Relaxed, Relaxed, change);
        } else {
            // A raw fork: it counts in a profile that is not its own.
            units::flag(Flags::FOREIGN_PROCESS);
        }
    }
    true
}

/// Children by `clone` that run in this memory while their parents wait, and have not been seen to end.
static BORROWERS: AtomicU32 = AtomicU32::new(0);

/// Such a child is being made.
#[cfg(not(feature = "shared-library"))]
pub fn borrower_begins() {
    BORROWERS.fetch_add(1, Relaxed);
}

/// Whether one ended unseen, by a signal for instance.
pub fn has_lost_borrower() -> bool {
    BORROWERS.load(Relaxed) > 0
}

/// A page that the kernel clears in children that get a copy of the memory.
static SENTINEL: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// Whether this process runs in the memory that the profile was started in.
fn shares_memory() -> bool {
    let page = SENTINEL.load(Relaxed);
    // SAFETY: null, or mapped by `register`.
    unsafe { page.as_ref() }.is_some_and(|byte| *byte != 0)
}

fn set_sentinel() {
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
        let landing = crate::runtime::hooks::jump::Landing { sp, pc, is_call: true };
        crate::runtime::hooks::jump::account_times(landing, caller, times);
        record.vfork_accounted.store(u32::from(times > 0), Relaxed);
    }
    sp != 0
}

/// A library hears nothing of `vfork`.
#[cfg(feature = "shared-library")]
fn leave_vfork(_caller: &Caller, _times: i64) -> bool {
    false
}

#[cfg(not(feature = "shared-library"))]
mod hooks {
    use super::{Caller, Flags, Relaxed, around_fork, c_int, call, profile, thread, units};
    use crate::arch::entries::{hook, vfork_hook};
    use crate::runtime::hooks::interpose::real;
    use crate::runtime::stack::detour;

    hook!("fork", fork, 0);
    hook!("_Fork", underscore_fork, 0);
    real!(real_fork = "fork");
    real!(real_underscore_fork = "_Fork");

    /// The handlers do the work; they may need to find their way back here.
    unsafe extern "C" fn fork(caller: &Caller) -> c_int {
        // SAFETY: libc's function.
        detour::around(caller, || unsafe { call!(real_fork() => fn() -> c_int) })
    }

    /// The `fork` without handlers.
    unsafe extern "C" fn underscore_fork(caller: &Caller) -> c_int {
        let real = real_underscore_fork();
        // SAFETY: libc's function.
        around_fork(caller, 0, || unsafe { call!(real => fn() -> c_int) })
    }

    unsafe extern "C" fn vfork_begins(caller: &Caller) {
        if let Some((_, record)) = thread::current().filter(|_| profile::active()) {
            record.vfork_pc.store(caller.pc, Relaxed);
            record.vfork_sp.store(caller.sp, Relaxed);
            record.vfork_accounted.store(0, Relaxed);
        }
    }

    /// In the parent, after the child has ended or exec'd.
    unsafe extern "C" fn vfork_ends(result: c_int) -> c_int {
        if let Some((_, record)) = thread::current().filter(|_| profile::active()) {
            if result > 0 && record.vfork_accounted.load(Relaxed) == 0 {
                units::flag(Flags::FOREIGN_PROCESS);
            }
            record.vfork_sp.store(0, Relaxed);
        }
        if result < 0 {
            // SAFETY: this thread's errno.
            unsafe { *libc::__errno_location() = -result };
            return -1;
        }
        result
    }

    vfork_hook!(vfork_begins, vfork_ends);
}
