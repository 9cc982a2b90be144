//! Prints the one line that the runtime may print.

use crate::runtime::os::sys::{self, Errno};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static SAID: AtomicBool = AtomicBool::new(false);

const STANDARD_ERROR: c_int = 2;

static STARTED: AtomicBool = AtomicBool::new(false);
/// Device and inode of standard error at the start; zeros: none.
static ERRORS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Looks where standard error leads, before the program can have something else of its own there.
pub fn start() {
    let (device, inode) = sys::identity(STANDARD_ERROR).unwrap_or_default();
    ERRORS[0].store(device, Relaxed);
    ERRORS[1].store(inode, Relaxed);
    STARTED.store(true, Relaxed);
}

/// Does it still lead there?
fn is_standard_error() -> bool {
    let at_start = (ERRORS[0].load(Relaxed), ERRORS[1].load(Relaxed));
    !STARTED.load(Relaxed) || sys::identity(STANDARD_ERROR) == Some(at_start)
}

/// `cotree: WHAT PATH: CAUSE; REMEDY` on standard error, the first time in this process only, and unless the program
/// has closed it or put something else there: that may be a file of data.
pub fn trouble(what: &str, path: &[u8], error: Errno, remedy: &str) {
    if SAID.swap(true, Relaxed) || !is_standard_error() {
        return;
    }
    let mut digits = [0_u8; 20];
    let (number, word) = match describe(error) {
        Some(text) => (&[][..], text),
        None => (decimal(error.0 as u64, &mut digits), "error "),
    };
    let pieces: &[&[u8]] =
        &[b"cotree: ", what.as_bytes(), b" ", path, b": ", word.as_bytes(), number, b"; ", remedy.as_bytes(), b"\n"];
    sys::write_pieces(STANDARD_ERROR, pieces);
}

/// Says that the program was put together of parts that don't fit, under the same conditions.
pub fn mismatch() {
    sentence(b"cotree: no profile of this program: its parts are of different versions of cotree; build it anew with one of them\n");
}

/// Says that a program which runs with more rights than its caller has no place for its profile, under the same
/// conditions.
pub fn no_place() {
    sentence(b"cotree: no profile: the program runs with rights that its caller has not, so COTREE_FILE is not heeded; build it with --profile-file and an absolute path\n");
}

/// Says that there is a mistake in here, under the same conditions.
#[cfg(all(panic = "abort", not(test)))]
pub fn mistake() {
    sentence(b"cotree: internal error in the profiling runtime, which stops the program: please report it\n");
}

fn sentence(line: &[u8]) {
    if !SAID.swap(true, Relaxed) && is_standard_error() {
        sys::write_pieces(STANDARD_ERROR, &[line]);
    }
}

fn describe(error: Errno) -> Option<&'static str> {
    Some(match error.0 {
        libc::EACCES => "permission denied",
        libc::EPERM => "operation not permitted",
        libc::ENOENT => "no such directory",
        libc::ENOTDIR => "a part of the path is not a directory",
        libc::EISDIR => "is a directory",
        libc::EROFS => "the file system is read-only",
        libc::ENOSPC => "no space left on the device",
        libc::EDQUOT => "disk quota exceeded",
        libc::EFBIG => "larger than the file size limit (ulimit -f)",
        libc::EMFILE | libc::ENFILE => "too many open files",
        libc::ENAMETOOLONG => "the name is too long",
        libc::ENOMEM => "out of memory",
        libc::EEXIST => "the name is taken",
        libc::EIO => "input/output error",
        _ => return None,
    })
}

/// A number in decimal.
pub fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}
