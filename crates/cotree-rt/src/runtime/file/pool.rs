//! Pools: with `%4m` in its name, a finished profile is added to one of four files for all processes of the build.
//!
//! The sum is written to a new file, which then takes the place of the old one, so a kill leaves a whole file at any
//! moment. It leaves no count out and counts none twice either: before that the profile gets the name of the pool with
//! `.joining` behind it, and the pool's header says whose profile was added last. Whoever comes next finishes what was
//! left.
//!
//! All of that is done under a lock of the folder, which the kernel takes back from the dead. What can't be added stays
//! by itself, under the name of its process: a profile with segments, one for which the lock can't be had for some
//! seconds, or no room; all of them where something else than a pool has its name.

use super::names::{self, PoolNames};
use crate::layout::MAGIC;
use crate::pool::{self, Profile};
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::os::{files, say};
use crate::zeros;
use core::ffi::{CStr, c_int};

/// How long the lock is waited for, in nanoseconds. Who has it needs a millisecond; but it may have been stopped.
const PATIENCE: u64 = 3_000_000_000;

/// Larger profiles stay by themselves.
const LARGEST: usize = 1 << 30;

/// Adds the finished profile of this process to its pool, if it has one.
pub fn join() {
    if let Some(own) = names::finished() {
        names::with_pool(|names| join_as(own, names));
    }
}

/// Adds the profile of this name.
fn join_as(own: &CStr, names: &PoolNames<'_>) {
    let Some(lock) = Lock::take(names.folder) else { return };
    let is_added = finish_other(names)
        && sys::rename(own, names.joining).is_ok()
        && add(names).or_else(|| sys::rename(names.joining, own).err().map(|_| ())).is_some();
    drop(lock);
    if !is_added && let Some(name) = foreign(names) {
        let remedy = "remove it; until then, profiles stay by themselves beside the pool, and count with it in reports of the folder";
        say::trouble(
            "the profile is not added to its pool: something else has the name",
            name.to_bytes(),
            Errno(libc::EEXIST),
            remedy,
        );
    }
}

/// A name of the pool that something else has than files of ours.
fn foreign<'a>(names: &PoolNames<'a>) -> Option<&'a CStr> {
    [names.pool, names.joining, names.new].into_iter().find(|name| files::is_there(name) && !is_ours(name))
}

/// Adds a profile whose process was killed in the middle of that. Whether there is none any more.
fn finish_other(names: &PoolNames<'_>) -> bool {
    !files::is_there(names.joining) || add(names).is_some()
}

/// Adds what has the name of a profile that is to be added. `None`: it is still there, and the pool is as it was.
fn add(names: &PoolNames<'_>) -> Option<()> {
    let joining = File::open(names.joining, LARGEST)?;
    let joining = Profile::new(joining.bytes())?;
    // A pool of another size is none of this build.
    let pool = || File::open(names.pool, joining.sum_size());
    let file = if files::is_there(names.pool) { Some(pool()?) } else { None };
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
        written.ok()?;
    }
    sys::unlink(names.joining);
    Some(())
}

/// Writes a new file of these bytes, leaving out zeros.
fn write(path: &CStr, bytes: &[u8]) -> sys::Result<()> {
    let fd = create(path)?;
    let mut result = sys::resize(fd, bytes.len() as u64);
    let mut at = 0;
    while let (Ok(()), Some(block)) = (result, bytes.get(at..).and_then(zeros::first_block)) {
        let start = at + block.start;
        at += block.end;
        // SAFETY: within the slice.
        result = unsafe { sys::write_at(fd, bytes.as_ptr().wrapping_add(start), at - start, start as u64) };
    }
    sys::close(fd);
    result.inspect_err(|_| sys::unlink(path))
}

/// Creates the new file. What a process that was killed has left there goes; anything else stays, and nothing is
/// written to it.
fn create(path: &CStr) -> sys::Result<c_int> {
    match files::create_new(path) {
        Err(Errno(libc::EEXIST)) if is_ours(path) => {
            sys::unlink(path);
            files::create_new(path)
        }
        result => result,
    }
}

/// Whether a file may be one of ours, perhaps not written to its end: it is empty, or begins as a profile or with a
/// hole.
fn is_ours(path: &CStr) -> bool {
    let mut head = [0; MAGIC.len()];
    files::read_head(path, &mut head).is_some_and(|read| head[..read].iter().all(|&byte| byte == 0) || head == MAGIC)
}

/// The bytes of a file, or of one that is to be.
struct File {
    at: *mut u8,
    len: usize,
}

impl File {
    /// A copy of a file as it is: whole files take each other's place, but who may write to the folder may also cut
    /// one, and a mapping of what is no longer there would end the program. A link would not stay one when the pool is
    /// replaced, so what it leads to is not taken; nor is anything that is no regular file.
    fn open(path: &CStr, largest: usize) -> Option<Self> {
        let fd = files::open_plainly(path, libc::O_RDONLY).ok()?;
        let copy = if files::is_regular(fd) { Self::copy(fd, largest) } else { None };
        sys::close(fd);
        copy
    }

    /// `None` for what is too large to be added.
    fn copy(fd: c_int, largest: usize) -> Option<Self> {
        let len = usize::try_from(sys::size(fd).ok()?).ok().filter(|&len| len <= largest)?;
        let copy = Self::empty(len)?;
        let mut at = 0;
        while at < len {
            let data = sys::next_data(fd, at as u64).unwrap_or(at as u64..len as u64);
            let (start, end) = (usize::try_from(data.start).ok()?, usize::try_from(data.end).ok()?.min(len));
            if start >= end {
                break;
            }
            // SAFETY: `empty` has mapped `len` bytes, and `end` is not behind them.
            let read = unsafe { sys::read_at(fd, copy.at.add(start), end - start, start as u64) }.ok()?;
            // Nothing is read where the file has been cut meanwhile: checksums will tell.
            if read == 0 {
                break;
            }
            at = start + read;
        }
        Some(copy)
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
