//! A full disk: path arrays take room in the file page by page as they are written to, and where there is none for a page
//! the kernel says so by SIGBUS. The program must not die of it: the page becomes plain memory, and the profile says that
//! counts of paths are missing.

use super::sys::{self, Errno};
use super::{profile, say, slabs, stop, unit};
use crate::layout::Flags;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The disposition before ours: handler, flags, restorer, mask.
static BEFORE: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
/// A page was given up.
static HAPPENED: AtomicBool = AtomicBool::new(false);

fn address_of_handler() -> usize {
    on_signal as Handler as usize
}

/// Whether the handler is ours.
pub fn is_handler(address: usize) -> bool {
    address == address_of_handler()
}

/// Before the first counter is in the file. A handler that the program installs later takes the place of this one.
pub fn prepare() {
    if unit::hole().is_empty() || is_handler(sys::disposition(libc::SIGBUS)) {
        return;
    }
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART | stop::SA_RESTORER;
    let restorer = stop::cotree_rt_return_from_signal as unsafe extern "C" fn() as usize;
    // SAFETY: a handler that preserves what it interrupts.
    let before = unsafe { sys::set_disposition(libc::SIGBUS, &[address_of_handler(), flags as usize, restorer, 0]) };
    BEFORE.iter().zip(before).for_each(|(place, word)| place.store(word, Relaxed));
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code == libc::BUS_ADRERR && slabs::give_up_page(address) {
        HAPPENED.store(true, Relaxed);
        profile::flag(Flags::PATHS_MISSING);
        return;
    }
    let before = [0, 1, 2, 3].map(|word: usize| BEFORE[word].load(Relaxed));
    match before[0] {
        libc::SIG_DFL | libc::SIG_IGN => {
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

/// At the end: what could not be kept is not there, and the file says so.
pub fn settle() {
    if HAPPENED.swap(false, Relaxed) {
        profile::flag(Flags::PATHS_MISSING);
        slabs::take_back_pages();
        let remedy = "make room, or set COTREE_FILE to a name on another disk, and run again";
        say::trouble("counts of paths are missing in", profile::final_name(), Errno(libc::ENOSPC), remedy);
    }
}
