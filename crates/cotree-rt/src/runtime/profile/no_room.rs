//! Handles a full disk. Path arrays take room in the file page by page as they are written to. If there is no room for
//! a page, the kernel sends SIGBUS. The program must not die of it: the page becomes plain memory, and the profile
//! says that counts of paths are missing.

use crate::arch::context::{SA_RESTORER, restorer};
use crate::layout::Flags;
use crate::runtime::file::{current, names, room};
use crate::runtime::os::say;
use crate::runtime::os::sys::{self, Errno};
#[cfg(not(feature = "shared-library"))]
use crate::runtime::profile::ending;
use crate::runtime::{record, slabs, unit};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The disposition before ours: handler, flags, restorer, mask.
static BEFORE: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
/// A page was given up.
static HAPPENED: AtomicBool = AtomicBool::new(false);
/// The sparse parts of slabs are only read: where there is no room for a page of zeros, nothing is lost.
static ONLY_READ: AtomicBool = AtomicBool::new(false);
/// The handler was installed; the program may have another one since.
static PREPARED: AtomicBool = AtomicBool::new(false);

fn address_of_handler() -> usize {
    on_signal as Handler as usize
}

/// Whether the handler is ours.
pub fn is_handler(address: usize) -> bool {
    address == address_of_handler()
}

/// Before the first counter is in the file. A handler that the program installs later takes the place of this one.
pub fn prepare() {
    if !unit::sparse_bytes().is_empty() && !PREPARED.swap(true, Relaxed) {
        install();
    }
}

/// A forked child has lost nothing yet.
pub fn after_fork() {
    HAPPENED.store(false, Relaxed);
}

/// Does what reads and writes sparse parts of slabs at the end, with the handler installed and the signal let through:
/// if the signal were blocked or ignored, it would kill the program.
pub fn with_handler(act: impl FnOnce()) {
    if unit::sparse_bytes().is_empty() {
        return act();
    }
    let mask = sys::set_signal_mask(u64::MAX);
    sys::set_signal_mask(mask & !(1 << (libc::SIGBUS - 1)));
    let before = install();
    act();
    if let Some(before) = before {
        // SAFETY: what the program had.
        unsafe { sys::set_disposition(libc::SIGBUS, &before) };
    }
    sys::set_signal_mask(mask);
}

/// Gives the disposition before, unless it is ours already.
fn install() -> Option<[usize; 4]> {
    if is_handler(sys::disposition(libc::SIGBUS)) {
        return None;
    }
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | SA_RESTORER;
    // SAFETY: a handler that preserves what it interrupts.
    let before = unsafe { sys::set_disposition(libc::SIGBUS, &[address_of_handler(), flags as usize, restorer(), 0]) };
    BEFORE.iter().zip(before).for_each(|(place, word)| place.store(word, Relaxed));
    Some(before)
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code == libc::BUS_ADRERR && slabs::give_up_page(address) {
        HAPPENED.store(true, Relaxed);
        if !ONLY_READ.load(Relaxed) {
            current::flag(Flags::PATHS_MISSING);
        }
        return;
    }
    let before = [0, 1, 2, 3].map(|word: usize| BEFORE[word].load(Relaxed));
    match before[0] {
        libc::SIG_DFL => end_by(signal, info, context),
        libc::SIG_IGN => {
            // SAFETY: what the program had. A fault comes again by itself.
            unsafe { sys::set_disposition(signal, &before) };
            if code <= 0 {
                let _ = sys::signal_thread(sys::thread_id(), signal);
            }
        }
        handler => {
            // SAFETY: the program's own handler; one that takes only the number ignores the others.
            unsafe { core::mem::transmute::<usize, Handler>(handler)(signal, info, context) }
        }
    }
}

/// The signal means what it means without the handler.
#[cfg(not(feature = "shared-library"))]
fn end_by(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's records of this very signal.
    unsafe { ending::end_by(signal, info, context.cast()) };
}

/// Slabs of libraries have no sparse part, and libraries never install the handler.
#[cfg(feature = "shared-library")]
fn end_by(_signal: c_int, _info: *mut libc::siginfo_t, _context: *mut c_void) {}

/// At the end: what could not be kept is not there, and the file says so. After this the sparse parts of slabs are only
/// read, until [`go_on`].
pub fn settle() {
    ONLY_READ.store(true, Relaxed);
    let gave_up = HAPPENED.swap(false, Relaxed);
    if gave_up {
        slabs::take_back_pages();
    }
    let Some(missing) = record::loss(current::flags()) else { return };
    let why = if gave_up { Errno(libc::ENOSPC) } else { room::why() };
    let remedy = "make room, or set COTREE_FILE to a name on another disk, and run again";
    say::trouble(missing, names::final_name(), why, remedy);
}

/// The program goes on, and counts.
pub fn go_on() {
    if HAPPENED.swap(false, Relaxed) {
        slabs::take_back_pages();
    }
    ONLY_READ.store(false, Relaxed);
}
