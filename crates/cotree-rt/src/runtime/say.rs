//! The one line that the runtime may print.

use super::sys::{self, Errno};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

static SAID: AtomicBool = AtomicBool::new(false);

/// `cotree: WHAT PATH: CAUSE; REMEDY` on standard error, the first time in this process only.
pub fn trouble(what: &str, path: &[u8], error: Errno, remedy: &str) {
    if SAID.swap(true, Relaxed) {
        return;
    }
    let mut digits = [0_u8; 20];
    let (number, word) = match describe(error) {
        Some(text) => (&[][..], text),
        None => (decimal(error.0 as u64, &mut digits), "error "),
    };
    let pieces: &[&[u8]] =
        &[b"cotree: ", what.as_bytes(), b" ", path, b": ", word.as_bytes(), number, b"; ", remedy.as_bytes(), b"\n"];
    sys::write_pieces(2, pieces);
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
