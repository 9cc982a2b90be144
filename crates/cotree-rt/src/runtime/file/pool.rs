//! Pools: with `%4m` in its name, a finished profile is added to one of four files for all processes of the build.
//!
//! The sum is written to a new file, which then takes the place of the old one, so a kill leaves a whole file at any moment. It leaves
//! no count out and counts none twice either: before that the profile gets the name of the pool with `.joining` behind it, and
//! the pool's header says whose profile was added last. Whoever comes next finishes what was left.
//!
//! All of that is done under a lock of the folder, which the kernel takes back from the dead. What can't be added stays by itself, under
//! the name of its process: a profile with segments, one for which the lock can't be had for some seconds, or no room; all of them where
//! something else than a pool has its name.

use super::names::{self, PoolNames};
use crate::pool::{self, Profile};
use crate::runtime::os::sys::{self, Errno};
use crate::zeros;
use core::ffi::{CStr, c_int};

/// How long the lock is waited for, in nanoseconds. Who has it needs a millisecond; but it may have been stopped.
const PATIENCE: u64 = 3_000_000_000;

/// Adds the finished profile of this process to its pool, if it has one.
pub fn join() {
    let (Some(own), Some(names)) = (names::finished(), names::pool()) else { return };
    let Some(lock) = Lock::take(names.folder) else { return };
    if finish_other(&names) && sys::rename(own, names.joining).is_ok() && add(&names).is_none() {
        let _ = sys::rename(names.joining, own);
    }
    drop(lock);
}

/// Adds a profile whose process was killed in the middle of that. Whether there is none any more.
fn finish_other(names: &PoolNames<'_>) -> bool {
    !sys::exists(names.joining) || add(names).is_some()
}

/// Adds what has the name of a profile that is to be added. `None`: it is still there, and the pool is as it was.
fn add(names: &PoolNames<'_>) -> Option<()> {
    let joining = File::open(names.joining)?;
    let joining = Profile::new(joining.bytes())?;
    let there = sys::exists(names.pool);
    let file = if there { Some(File::open(names.pool)?) } else { None };
    let before = match &file {
        Some(file) => Some(Profile::new(file.bytes())?),
        None => None,
    };
    if !before.is_some_and(|before| before.includes(joining)) {
        let mut sum = File::empty(joining.sum_size())?;
        if let Some(before) = before {
            pool::add(sum.bytes_mut(), before)?;
        }
        pool::add(sum.bytes_mut(), joining)?;
        pool::seal(sum.bytes_mut());
        let written = write(names.new, sum.bytes()).and_then(|()| sys::rename(names.new, names.pool));
        if written.is_err() {
            sys::unlink(names.new);
            return None;
        }
    }
    sys::unlink(names.joining);
    Some(())
}

/// Writes a new file of these bytes, leaving out zeros.
fn write(path: &CStr, bytes: &[u8]) -> sys::Result<()> {
    let fd = sys::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC, 0o644)?;
    let mut result = sys::resize(fd, bytes.len() as u64);
    let mut at = 0;
    while let (Ok(()), Some(block)) = (result, bytes.get(at..).and_then(zeros::first_block)) {
        let start = at + block.start;
        at += block.end;
        // SAFETY: within the slice.
        result = unsafe { sys::write_at(fd, bytes.as_ptr().wrapping_add(start), at - start, start as u64) };
    }
    sys::close(fd);
    result
}

/// The bytes of a file, or of one that is to be.
struct File {
    at: *mut u8,
    len: usize,
}

impl File {
    /// A file as it is: it is changed by nobody, since whole files take each other's place. A link would not stay one then, so
    /// what it leads to is not taken; nor is anything without a size, such as a pipe, for whose other end nobody waits.
    fn open(path: &CStr) -> Option<Self> {
        let fd = sys::open(path, libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0).ok()?;
        let len = sys::size(fd).unwrap_or(0) as usize;
        // SAFETY: a new range.
        let at = unsafe { sys::map(core::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, fd, 0) };
        sys::close(fd);
        Some(Self { at: at.ok()?, len })
    }

    fn empty(len: usize) -> Option<Self> {
        Some(Self { at: sys::map_anonymous(len).ok()?, len })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped, for as long as this is there.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped by `empty` to be written to, for as long as this is there.
        unsafe { core::slice::from_raw_parts_mut(self.at, self.len) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and borrowed by nobody any more.
        unsafe { sys::unmap(self.at, self.len) };
    }
}

/// The lock of a folder.
struct Lock(c_int);

impl Lock {
    fn take(folder: &CStr) -> Option<Self> {
        let fd = sys::open(folder, libc::O_RDONLY | libc::O_DIRECTORY, 0).ok()?;
        let begun = sys::now();
        while sys::now().wrapping_sub(begun) < PATIENCE {
            match sys::try_lock(fd) {
                Ok(()) => return Some(Self(fd)),
                Err(Errno(libc::EWOULDBLOCK | libc::EINTR)) => sys::pause_a_little(),
                Err(_) => break,
            }
        }
        sys::close(fd);
        None
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        sys::close(self.0);
    }
}
