//! Endings by a signal that the program leaves at its default: SIGINT, SIGTERM, SIGPIPE, SIGSEGV and their like.
//!
//! The kernel would end the process without a word. So a handler of ours stands where the program has none, completes
//! the profile as at `abort`, and then has the signal do what it does by default: the parent sees the same status, and
//! a core dump shows the same place. Nothing else may be seen of it:
//!
//! - What the program asks of its dispositions, and what it gets back when it sets one, is as if the default were in
//!   place (`hooks::signals`). A signal that was ignored when the program began stays ignored.
//! - The default action takes no room on any stack, and the handler takes little: what the kernel pushes. All the work
//!   is done on a stack that is made for it. Where not even that much is left (an overflow of a stack without an
//!   alternate one), the kernel ends the process by SIGSEGV as it would have, and the profile is that of a killed
//!   process.
//! - The first process of a container ignores signals that it leaves at their defaults. Such a process has no handlers
//!   of ours.
//!
//! Dispositions go back to their defaults in `exec` by themselves.

use crate::arch::context::{SA_RESTORER, restorer};
use crate::runtime::file::current;
use crate::runtime::os::reserved_signals::STOP_MASK;
use crate::runtime::os::sys;
use crate::runtime::profile::{ending, no_room};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Signals that end a process by default, without SIGKILL and those of real time.
const SIGNALS: [c_int; 22] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSYS,
];

/// What the program has said along with the default, per signal: flags and mask mean nothing then, but can be asked
/// for.
struct Said {
    flags: AtomicU32,
    mask: AtomicU64,
    restorer: AtomicUsize,
}

static SAID: [Said; 32] =
    [const { Said { flags: AtomicU32::new(0), mask: AtomicU64::new(0), restorer: AtomicUsize::new(0) } }; 32];

/// The kernel's `struct sigaction`: handler, flags, restorer, mask.
type Action = [usize; 4];

fn ours() -> Action {
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | SA_RESTORER;
    let handler = on_signal as unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::ucontext_t) as usize;
    // A thread that ends the process meanwhile has to be able to stop this one.
    [handler, flags as usize, restorer(), !STOP_MASK as usize]
}

/// Whether the handler stands for the default.
pub fn stands_for_default(handler: usize) -> bool {
    handler == ours()[0] || no_room::is_handler(handler)
}

/// The disposition as the program sees it.
pub fn disposition(signal: c_int) -> usize {
    let handler = sys::disposition(signal);
    if stands_for_default(handler) { libc::SIG_DFL } else { handler }
}

/// Flags, mask and restorer that the program, and libc for it, has given with the default.
pub fn said(signal: c_int) -> (c_int, u64, usize) {
    usize::try_from(signal).ok().and_then(|at| SAID.get(at)).map_or((0, 0, 0), |said| {
        (said.flags.load(Relaxed).cast_signed(), said.mask.load(Relaxed), said.restorer.load(Relaxed))
    })
}

/// Stands by for all signals that are at their defaults when the program begins.
pub fn start() {
    if sys::process_id() == 1 {
        return;
    }
    for signal in SIGNALS {
        // SAFETY: a handler that ends the process as the default does; or what was there before.
        unsafe {
            let before = sys::set_disposition(signal, &ours());
            if before[0] != libc::SIG_DFL {
                sys::set_disposition(signal, &before);
            }
        }
    }
}

/// Whether our handler is to be there when this signal is at its default.
pub fn stands_by(signal: c_int) -> bool {
    SIGNALS.contains(&signal) && current::active() && sys::process_id() != 1
}

/// The program, or the kernel as it called a handler, may have gone back to the default: then our handler comes back,
/// too.
pub fn settle(signal: c_int) {
    let Some(said) = usize::try_from(signal).ok().and_then(|at| SAID.get(at)) else { return };
    if !stands_by(signal) {
        return;
    }
    let action = sys::action(signal);
    if action[0] != libc::SIG_DFL {
        return;
    }
    said.flags.store(action[1] as u32, Relaxed);
    said.restorer.store(action[2], Relaxed);
    said.mask.store(action[3] as u64, Relaxed);
    // SAFETY: as above.
    unsafe { sys::set_disposition(signal, &ours()) };
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the kernel's records.
    unsafe { ending::end_by(signal, info, context) };
}
