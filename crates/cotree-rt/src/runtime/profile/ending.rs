//! The end of the process by a signal, as the floor of processes has it.

use crate::runtime::os::late::Late;
use core::ffi::c_int;

/// Ends the profile, and has the signal end the process once the handler that this is called from has returned.
pub type EndBy = unsafe fn(c_int, *mut libc::siginfo_t, *mut libc::ucontext_t);

// SAFETY: a function pointer.
pub static END_BY: Late<EndBy> = unsafe { Late::new() };

/// Ends process and profile, from a handler for the signal. Handlers are installed after the function is registered.
///
/// # Safety
/// Both must be what the kernel gave to the handler.
pub unsafe fn end_by(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    if let Some(end_by) = END_BY.get() {
        // SAFETY: the caller vouches.
        unsafe { end_by(signal, info, context) };
    }
}
