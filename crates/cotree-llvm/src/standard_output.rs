//! Whether standard output was open when the process began.
//!
//! Before `main`, Rust's library opens `/dev/null` in the place of a standard stream that is closed: what is written to
//! it is lost, and nothing fails. So the loader has to ask before that.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn ask() {
    // SAFETY: `F_GETFD` reads and writes no memory, and any number of a descriptor may be asked about.
    let flags: c_int = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// The loader calls each function that `.init_array` has the address of, and hands it arguments in registers, which a
/// function without parameters does not read.
#[used]
#[unsafe(link_section = ".init_array")]
static ASK: extern "C" fn() = ask;

/// Was standard output closed (`>&-`) when the process began?
#[must_use]
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
