//! How files are opened where others may write to the folder: nothing is followed, nothing is waited for, and nothing
//! that is there already is written to.

use super::sys::{self, Result};
use crate::arch::paths;
use core::ffi::{CStr, c_int};

/// Creates a file to read and write. What has the name already, a link included, is an error and stays as it is.
pub fn create_new(path: &CStr) -> Result<c_int> {
    sys::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, 0o644)
}

/// Opens a file that is there, but no link, and without waiting for whoever has the other end of a pipe.
pub fn open_plainly(path: &CStr, access: c_int) -> Result<c_int> {
    sys::open(path, access | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY, 0)
}

/// Whether an open file is a regular one.
pub fn is_regular(fd: c_int) -> bool {
    sys::stat_of(fd).is_some_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFREG)
}

/// Whether there is anything of that name, be it a link that leads nowhere.
pub fn is_there(path: &CStr) -> bool {
    sys::filled(|stat| paths::stat_link(path, stat)).is_some()
}

/// Fills the buffer with the beginning of a regular file; gives how many bytes there are. `None`: it is no such file,
/// or can't be read.
pub fn read_head(path: &CStr, head: &mut [u8]) -> Option<usize> {
    let fd = open_plainly(path, libc::O_RDONLY).ok()?;
    let read = if is_regular(fd) { sys::read(fd, head).ok() } else { None };
    sys::close(fd);
    read
}
