//! `dlclose`: units that go away finish their profiles, and the unwind rules of their code must be forgotten.

use crate::arch::entries::hook;
use crate::arch::registers::Caller;
use crate::runtime::hooks::interpose::real;
use crate::runtime::joined;
use crate::runtime::os::call::call;
use crate::runtime::stack::rules;
use core::ffi::{c_int, c_void};

real!(dlclose = "dlclose");

hook!("dlclose", close, 1);

unsafe extern "C" fn close(handle: *mut c_void, _caller: &Caller) -> c_int {
    // SAFETY: dlclose's own signature; the caller's handle.
    let result = joined::while_closing(|| unsafe { call!(dlclose() => fn(handle => *mut c_void) -> c_int) });
    rules::forget();
    result
}
