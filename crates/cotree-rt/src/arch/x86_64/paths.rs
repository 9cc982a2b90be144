//! System calls that take paths, which other machines have only in forms that take a folder besides. All give what the
//! kernel answers.

use super::system_calls::call;
use core::ffi::CStr;

fn address(path: &CStr) -> usize {
    path.as_ptr() as usize
}

/// Renames, replacing.
pub fn rename(from: &CStr, to: &CStr) -> isize {
    // SAFETY: both are C strings.
    unsafe { call(libc::SYS_rename, [address(from), address(to), 0, 0, 0, 0]) }
}

/// Removes a file.
pub fn unlink(path: &CStr) -> isize {
    // SAFETY: a C string.
    unsafe { call(libc::SYS_unlink, [address(path), 0, 0, 0, 0, 0]) }
}

/// Makes a folder that everybody may use.
pub fn make_folder(path: &CStr) -> isize {
    // SAFETY: a C string.
    unsafe { call(libc::SYS_mkdir, [address(path), 0o777, 0, 0, 0, 0]) }
}

/// Asks whether a file is there.
pub fn ask(path: &CStr) -> isize {
    // SAFETY: a C string.
    unsafe { call(libc::SYS_access, [address(path), 0, 0, 0, 0, 0]) }
}

/// Says what the path leads to.
pub fn stat(path: &CStr, stat: &mut libc::stat) -> isize {
    // SAFETY: a C string, and the kernel fills the structure.
    unsafe { call(libc::SYS_stat, [address(path), &raw mut *stat as usize, 0, 0, 0, 0]) }
}

/// Says what has the path, be it a link.
pub fn stat_link(path: &CStr, stat: &mut libc::stat) -> isize {
    // SAFETY: a C string, and the kernel fills the structure.
    unsafe { call(libc::SYS_lstat, [address(path), &raw mut *stat as usize, 0, 0, 0, 0]) }
}

/// Writes the target of a symbolic link into the buffer; gives its length.
pub fn read_link(path: &CStr, buffer: &mut [u8]) -> isize {
    // SAFETY: a C string and a buffer of ours.
    unsafe { call(libc::SYS_readlink, [address(path), buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0]) }
}
