//! The ends of a process: `exit`, `_exit`, `abort`.

use super::linkage::Caller;
use super::{profile, walk};
use crate::layout::State;
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn __cxa_atexit(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void, object: *mut c_void) -> c_int;
    fn cotree_rt_at_exit(argument: *mut c_void);
}

super::linkage::entry!("cotree_rt_at_exit", ".hidden", at_exit, "rsi");

/// Registered before everyone else's handlers, so run after all of them.
pub fn register() {
    // SAFETY: a handler with C linkage.
    unsafe { __cxa_atexit(cotree_rt_at_exit, core::ptr::null_mut(), core::ptr::null_mut()) };
}

unsafe extern "C" fn at_exit(_argument: *mut c_void, caller: &Caller) {
    walk::count_all(caller, 1);
    profile::publish(State::FINISHED, 0);
}
