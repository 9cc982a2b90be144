//! Ends the process by a signal that the program has left at its default ([`super::dispositions`]).

use crate::arch::context::Context;
use crate::arch::stacks;
use crate::layout::State;
use crate::runtime::file::current;
use crate::runtime::os::reserved_signals::STOP_MASK;
use crate::runtime::os::sys;
use crate::runtime::process::end;
use core::ffi::{c_int, c_void};

/// Ends the profile, and has the signal end the process once the handler that this is called from has returned.
///
/// # Safety
/// Both must be what the kernel gave to a handler for the signal.
pub unsafe fn end_by(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    const STACK: usize = 512 << 10;
    // A child that runs in this memory until it calls `exec` has no profile.
    if current::active() && current::process() == sys::process_id() {
        sys::set_signal_mask(!STOP_MASK);
        if let Ok(stack) = sys::map_anonymous(STACK) {
            // SAFETY: a fresh stack; the record is there as long as the handler runs.
            unsafe { stacks::call_on(stack.add(STACK).cast(), end, context.cast()) };
        }
    }
    // SAFETY: the default, and the signal once more, with all that was known of it. It is blocked until the handler
    // returns. A fault would come again by itself, if nobody has mended its cause meanwhile.
    unsafe {
        sys::set_disposition(signal, &[libc::SIG_DFL, 0, 0, 0]);
        sys::queue_signal(sys::thread_id(), signal, info);
    }
}

unsafe extern "C" fn end(context: *mut c_void) {
    // SAFETY: the kernel's record of what was interrupted.
    let interrupted = unsafe { Context::of(context.cast()) };
    end::finish_interrupted(interrupted, State::ABORTED);
}
