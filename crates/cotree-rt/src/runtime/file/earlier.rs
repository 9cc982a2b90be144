//! Profiles that this very process has written before: of a library that was loaded, unloaded and loaded again, or of
//! the program before an `exec`. Without `%p` in the pattern they have the same name, and the later one must not take
//! the place of the earlier.
//!
//! A process number says little by itself, for numbers come again (in a container, that of the program is often the
//! same each time). So a file counts only if it was begun after the process was.

use crate::layout::{MAGIC, RawHeader};
use crate::runtime::os::files;
use crate::runtime::os::sys;
use core::ffi::CStr;
use core::mem::offset_of;

/// As much of the header as is looked at: not the whole page, which is much for the stack of a program at its start.
/// So the fields are taken by their offsets.
const HEAD: usize = offset_of!(RawHeader, started_ns) + 8;

/// Clocks are read one after the other, and the kernel's has steps of ten milliseconds.
const SLACK_NS: u64 = 50_000_000;

/// Whether the file is a profile that this process has begun.
pub fn is_of_this_process(path: &CStr, process: i32) -> bool {
    let mut head = [0_u8; HEAD];
    if files::read_head(path, &mut head) != Some(HEAD) || !head.starts_with(&MAGIC) {
        return false;
    }
    let at = |offset: usize| head[offset..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let writer = at(offset_of!(RawHeader, pid)) as u32;
    // Where the process's own beginning is not known, nothing is overwritten.
    writer == process.cast_unsigned()
        && process_start_ns().is_none_or(|start| at(offset_of!(RawHeader, started_ns)) + SLACK_NS >= start)
}

/// When this process began, in nanoseconds since the epoch.
fn process_start_ns() -> Option<u64> {
    const TICK_NS: u64 = 10_000_000;
    let mut text = [0_u8; 1024];
    let fd = files::open_plainly(c"/proc/self/stat", libc::O_RDONLY).ok()?;
    let length = sys::read(fd, &mut text);
    sys::close(fd);
    let ticks = start_ticks(text.get(..length.ok()?)?)?;
    let age = sys::since_boot().checked_sub(ticks.checked_mul(TICK_NS)?)?;
    sys::now().checked_sub(age)
}

/// The 22nd field of `/proc/PID/stat`. The name before the third may hold anything.
fn start_ticks(stat: &[u8]) -> Option<u64> {
    let behind_name = stat.iter().rposition(|&byte| byte == b')')? + 2;
    let field = stat.get(behind_name..)?.split(|&byte| byte == b' ').nth(19)?;
    field.iter().try_fold(0_u64, |number, &digit| {
        digit.is_ascii_digit().then(|| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))).flatten()
    })
}
