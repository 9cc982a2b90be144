//! Forked children. Those by `vfork` are [`vm_children`].
//!
//! A forked child starts from zero in a file of its own, before any code of the program runs: our handler was
//! registered first, so it runs first. Its inherited frames are revived without a call, so each counts −1.

use crate::arch::entries::entry;
use crate::arch::linkage::weak;
use crate::arch::registers::Caller;
use crate::runtime::file::current;
use crate::runtime::os::call::call;
use crate::runtime::os::sys;
#[cfg(not(feature = "counters-alone"))]
use crate::runtime::process::totals;
use crate::runtime::process::{counting, end, stop, units, vm_children};
use crate::runtime::stack::walk::Walk;
use crate::runtime::thread;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

unsafe extern "C" {
    fn cotree_rt_in_child();
}
weak!(register_atfork = "__register_atfork");
weak!(pthread_atfork = "pthread_atfork");
entry!("cotree_rt_in_child", in_child, 0);

/// Stands by for `fork`.
pub fn register() {
    type Handler = Option<unsafe extern "C" fn()>;
    vm_children::set_sentinel();
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
    #[cfg(not(feature = "counters-alone"))]
    crate::runtime::record::outermost::before_fork();
    if let Some((_, record)) = thread::current() {
        record.fork_signals.store(sys::set_signal_mask(u64::MAX), Relaxed);
        record.forking.store(1, Relaxed);
    }
}

unsafe extern "C" fn after_fork() {
    #[cfg(not(feature = "counters-alone"))]
    crate::runtime::record::outermost::after_fork_in_parent();
    if let Some((_, record)) = thread::current().filter(|(_, record)| record.forking.swap(0, Relaxed) != 0) {
        sys::set_signal_mask(record.fork_signals.load(Relaxed));
    }
}

/// Forks by other means than libc's, in the same manner.
#[cfg(not(feature = "shared-library"))]
pub fn around_fork<T: PartialEq>(caller: &Caller, child: T, fork: impl FnOnce() -> T) -> T {
    let signals = sys::set_signal_mask(u64::MAX);
    #[cfg(not(feature = "counters-alone"))]
    crate::runtime::record::outermost::before_fork();
    let result = fork();
    if result == child {
        begin_in_child(caller);
    }
    #[cfg(not(feature = "counters-alone"))]
    crate::runtime::record::outermost::after_fork_in_parent();
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
    if begin(|| Walk::new(caller).any(|frame| frame.interrupted)) {
        counting::count_all(caller, -1);
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
    if !current::active() || current::process() == sys::process_id() {
        return false;
    }
    vm_children::set_sentinel();
    vm_children::after_fork();
    end::after_fork();
    let own = thread::after_fork();
    #[cfg(not(feature = "counters-alone"))]
    totals::forget();
    units::forked(own.unwrap_or(0), interrupted());
    true
}
