//! Stands between the kernel and the program's signal handlers where it has to know that they begin:
//!
//! - where a unit is traced: what a handler does is a stream of its own, for it may interrupt code that is about to
//!   write to its thread's;
//! - where calls are measured, or callers leave paths for the functions that they call: what a handler does is none of
//!   the calls that it interrupts;
//! - where the kernel goes back to the default as it calls the handler (`SA_RESETHAND`): then the next signal ends the
//!   process, and ours has to stand there.
//!
//! The functions that install handlers (`hooks::signals`) put an entry of ours in the place of such a handler.
//! Handlers that were there before the program, as those of sanitizers are, get another entry: the program's come and
//! go beside them. Of a handler that others put in front of ours, as `ThreadSanitizer` does, we see all that it calls.

use crate::arch::trampolines;
use crate::runtime::os::sys;
use crate::runtime::process::{dispositions, units};
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The program's handlers, by signal.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Handlers from before the program, by signal.
static EARLIER: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// What stands in front of ours, by signal.
static FRONTS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Smaller numbers are no handlers but dispositions.
const LEAST: usize = 16;

trampolines::handlers!(begin, begin_earlier, begin_once, end);

/// Gives the program's handler.
unsafe extern "C" fn begin(signal: c_int, frame: u64) -> usize {
    let handler = of(signal).load(Relaxed);
    dispositions::settle(signal);
    units::handler_begins(frame);
    handler
}

/// Gives the handler from before the program.
unsafe extern "C" fn begin_earlier(signal: c_int, frame: u64) -> usize {
    let handler = at(&EARLIER, signal).load(Relaxed);
    dispositions::settle(signal);
    units::handler_begins(frame);
    handler
}

/// Begins a handler where only the default has to be stood in for.
unsafe extern "C" fn begin_once(signal: c_int) -> usize {
    let handler = of(signal).load(Relaxed);
    dispositions::settle(signal);
    handler
}

unsafe extern "C" fn end(frame: u64) {
    units::handler_ends(frame, false);
}

fn of(signal: c_int) -> &'static AtomicUsize {
    at(&HANDLERS, signal)
}

fn at(table: &'static [AtomicUsize; 65], signal: c_int) -> &'static AtomicUsize {
    usize::try_from(signal).ok().and_then(|signal| table.get(signal)).unwrap_or(&table[0])
}

fn is_ours(handler: usize) -> bool {
    handler == trampolines::handler()
        || handler == trampolines::handler_once()
        || handler == trampolines::handler_earlier()
}

/// Puts our entry in the place of each handler that is there before the program begins, if it has to be known when
/// handlers begin.
pub fn start() {
    if !units::are_traced() {
        return;
    }
    for signal in 1..=64 {
        let mut action = sys::action(signal);
        let handler = action[0];
        if handler < LEAST || dispositions::stands_for_default(handler) {
            continue;
        }
        at(&EARLIER, signal).store(handler, Relaxed);
        action[0] = trampolines::handler_earlier();
        // SAFETY: an entry that calls what was there, with its flags and its mask.
        unsafe { sys::set_disposition(signal, &action) };
    }
}

/// What to install in the place of a handler that the program installs, with these flags of `sigaction`.
pub fn in_place_of(signal: c_int, handler: usize, flags: c_int) -> usize {
    // Of a static executable, functions of libc that call each other come here twice.
    if handler < LEAST || handler == libc::SIG_ERR || is_ours(handler) {
        return handler;
    }
    let entry = if units::are_traced() {
        trampolines::handler()
    } else if flags & libc::SA_RESETHAND != 0 && dispositions::stands_by(signal) {
        trampolines::handler_once()
    } else {
        return handler;
    };
    of(signal).store(handler, Relaxed);
    entry
}

/// The program's handler for a signal, if ours is in its place.
pub fn known(signal: c_int) -> usize {
    of(signal).load(Relaxed)
}

/// None was installed: what was known before holds.
pub fn put_back(signal: c_int, handler: usize) {
    of(signal).store(handler, Relaxed);
}

/// A handler was installed: what `installed` is, or what somebody put in front of that.
pub fn settle(signal: c_int, installed: usize) {
    if installed == trampolines::handler() {
        let front = sys::disposition(signal);
        at(&FRONTS, signal).store(if is_ours(front) { 0 } else { front }, Relaxed);
    }
}

/// The program's handler for the signal: the `known` one where ours is in its place.
pub fn behind(signal: c_int, known: usize, handler: usize) -> usize {
    if handler == trampolines::handler_earlier() {
        at(&EARLIER, signal).load(Relaxed)
    } else if is_ours(handler) {
        known
    } else {
        handler
    }
}

/// Whether what the kernel calls for the signal is an entry of ours that knows when the handler begins and ends, or
/// calls nothing of the program but by such an entry.
pub fn is_seen(signal: c_int, handler: usize) -> bool {
    let front = at(&FRONTS, signal).load(Relaxed);
    handler == trampolines::handler() || handler == trampolines::handler_earlier() || front != 0 && handler == front
}

/// A frame ends that stood at this code address with this stack pointer: it may be that of a handler.
pub fn ended(pc: u64, sp: u64) {
    if trampolines::is_handling(pc) {
        units::handler_ends(sp, true);
    }
}
