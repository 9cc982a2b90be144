//! `dlclose`: units that go away finish their profiles, and the unwind rules of their code must be forgotten.

use crate::arch::entries::hook;
use crate::arch::registers::Caller;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::call::call;
use crate::runtime::stack::rules;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

real!(dlclose = "dlclose");
static CLOSING: AtomicU32 = AtomicU32::new(0);

/// Whether a `dlclose` is going on: destructors that run now do so because their object goes.
pub fn closing() -> bool {
    CLOSING.load(Relaxed) != 0
}

hook!("dlclose", close, 1);

unsafe extern "C" fn close(handle: *mut c_void, _caller: &Caller) -> c_int {
    CLOSING.fetch_add(1, Relaxed);
    // SAFETY: dlclose's own signature; the caller's handle.
    let result = unsafe { call!(dlclose() => fn(handle => *mut c_void) -> c_int) };
    CLOSING.fetch_sub(1, Relaxed);
    rules::forget();
    result
}
