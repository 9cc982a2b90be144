//! More slabs, and room for tables of paths.

use super::holes::use_as_touched;
use super::{Chunk, READ_WRITE, allocate, chunks, count, end_of_file, push};
use crate::layout::PAGE;
use crate::runtime::file::{no_room, profile};
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Zeroed room for a table of paths, with its place in the file (0: not in the file). The caller holds the lock.
pub fn take_room(bytes: usize) -> sys::Result<(*mut u8, u64)> {
    take_room_where(bytes, |_| true)
}

/// The same in the file or nowhere.
pub fn take_room_in_file(bytes: usize) -> sys::Result<(*mut u8, u64)> {
    take_room_where(bytes, |chunk| !chunk.is_orphan())
}

fn take_room_where(bytes: usize, fits: impl Fn(&Chunk) -> bool) -> sys::Result<(*mut u8, u64)> {
    let bytes = bytes.next_multiple_of(PAGE as usize);
    if let Some(room) = chunks().filter(|c| c.is_for_paths() && fits(c)).find_map(|c| c.take(bytes)) {
        return Ok(room);
    }
    let chunk = grow(bytes, true)?;
    fits(chunk).then(|| chunk.take(bytes)).flatten().ok_or(Errno(libc::ENOMEM))
}

/// Another chunk of at least so many bytes, a quarter of what there is: few mappings, little waste.
pub(super) fn grow(bytes: usize, paths: bool) -> sys::Result<&'static Chunk> {
    let total: usize = chunks().filter(|c| c.is_for_paths() == paths).map(|c| c.slabs.load(Relaxed)).sum();
    let slabs = (total / 4).max(bytes.div_ceil(unit::stride()));
    let len = slabs * unit::stride();
    let allocated = if paths { bytes.next_multiple_of(PAGE as usize) } else { len };
    let in_file = if profile::mapped() { grow_file(slabs, allocated, paths) } else { Err(Errno(libc::ENODEV)) };
    if let (Err(error), true) = (&in_file, profile::mapped()) {
        no_room::refused(*error);
    }
    let chunk = in_file.or_else(|_| {
        let orphan = profile::mapped() || !profile::active();
        push(sys::map_anonymous(len)?, slabs, len, paths, orphan)
    })?;
    profile::set_slab_count(count());
    Ok(chunk)
}

/// Room for the first table of paths, in a new file that is still open.
pub fn make_first_room(fd: c_int, bytes: usize) -> sys::Result<()> {
    let bytes = bytes.next_multiple_of(PAGE as usize);
    add_behind(fd, bytes.div_ceil(unit::stride()), bytes, true).map(|_| ())
}

fn grow_file(slabs: usize, bytes: usize, paths: bool) -> sys::Result<&'static Chunk> {
    let fd = profile::reopen()?;
    let result = add_behind(fd, slabs, bytes, paths);
    sys::close(fd);
    result
}

/// A chunk at the end of the file, which stays as long as it was where there is no room: anything behind the last slab would be
/// taken for damage.
fn add_behind(fd: c_int, slabs: usize, bytes: usize, paths: bool) -> sys::Result<&'static Chunk> {
    let end = end_of_file();
    let base = map_behind(fd, slabs, bytes, paths);
    let chunk = base.and_then(|base| push(base, slabs, bytes, paths, false));
    if chunk.is_err() {
        sys::shorten(fd, end);
    }
    chunk
}

/// Places of slabs at the end of the file, with room for so many bytes if they are for tables of paths.
fn map_behind(fd: c_int, slabs: usize, bytes: usize, paths: bool) -> sys::Result<*mut u8> {
    let (offset, len) = (end_of_file(), slabs * unit::stride());
    if paths {
        sys::allocate(fd, offset, bytes as u64)?;
        sys::resize(fd, offset + len as u64)?;
    } else {
        allocate(fd, offset, slabs)?;
    }
    // SAFETY: a new range.
    let base = unsafe { sys::map(ptr::null_mut(), len, READ_WRITE, libc::MAP_SHARED, fd, offset) }?;
    if !paths {
        use_as_touched(base, len);
    }
    Ok(base)
}
