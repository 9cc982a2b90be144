//! Grows the file for more slabs and segments, under the lock of the slabs.

use super::chunks::{Chunk, NewChunk, chunks, count, end_of_file, push};
use super::sparse::{allocate, use_as_touched};
use crate::layout::PAGE;
use crate::runtime::file::{current, names, room};
use crate::runtime::os::lock::{Held, Lock};
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

static LOCK: Lock = Lock::new();

/// The thread that has completed the profile, though others may go on; 0: none has.
static COMPLETED: AtomicI32 = AtomicI32::new(0);

/// The lock of slabs and segments.
pub fn lock() -> Held<'static> {
    LOCK.take()
}

/// Takes the lock for whoever may want more room in the file. While another thread has completed the file, this waits
/// until the program goes on.
pub fn lock_to_grow() -> Held<'static> {
    loop {
        let held = LOCK.take();
        let by = COMPLETED.load(Relaxed);
        if by == 0 || by == sys::thread_id() {
            return held;
        }
        drop(held);
        sys::pause_a_little();
    }
}

/// Takes the lock for the thread that ends the process, unless whoever holds the lock keeps it: that may be a thread
/// that has been stopped.
pub fn lock_soon() -> Option<Held<'static>> {
    LOCK.take_soon()
}

/// The file is about to be completed while other threads run: they make it no larger, or it would look damaged.
pub fn stop_growing() {
    let _held = LOCK.take_soon();
    COMPLETED.store(sys::thread_id(), Relaxed);
}

/// In a forked child: whoever held the lock is not there.
pub(super) fn after_fork() {
    LOCK.break_open();
    go_on_growing();
}

/// Whoever has waited goes on.
pub fn go_on_growing() {
    COMPLETED.store(0, Relaxed);
}

/// Another chunk of at least so many bytes, a quarter of what there is: few mappings, little waste.
pub(super) fn grow(bytes: usize, for_segments: bool) -> sys::Result<&'static Chunk> {
    let total: usize = chunks().filter(|c| c.is_for_segments() == for_segments).map(|c| c.places()).sum();
    let slabs = (total / 4).max(bytes.div_ceil(unit::stride()));
    let len = slabs * unit::stride();
    let allocated = if for_segments { bytes.next_multiple_of(PAGE as usize) } else { len };
    let in_file = if current::mapped() { grow_file(slabs, allocated, for_segments) } else { Err(Errno(libc::ENODEV)) };
    if let (Err(error), true) = (&in_file, current::mapped()) {
        room::refused(*error);
    }
    let chunk = in_file.or_else(|_| {
        let base = sys::map_anonymous(len)?;
        let in_memory = current::mapped() || !current::active();
        push(NewChunk { base, slabs, allocated: len, for_segments, in_memory })
    })?;
    current::set_slab_count(count());
    Ok(chunk)
}

fn grow_file(slabs: usize, bytes: usize, for_segments: bool) -> sys::Result<&'static Chunk> {
    let fd = names::reopen()?;
    let result = add_behind(fd, slabs, bytes, for_segments);
    sys::close(fd);
    result
}

/// A chunk at the end of the file, which stays as long as it was where there is no room: anything behind the last slab
/// would be taken for damage.
pub(super) fn add_behind(fd: c_int, slabs: usize, bytes: usize, for_segments: bool) -> sys::Result<&'static Chunk> {
    let end = end_of_file();
    let base = map_behind(fd, slabs, bytes, for_segments);
    let chunk = base.and_then(|base| push(NewChunk { base, slabs, allocated: bytes, for_segments, in_memory: false }));
    if chunk.is_err() {
        sys::shorten(fd, end);
    }
    chunk
}

/// Places of slabs at the end of the file, with room for so many bytes if they are for segments.
fn map_behind(fd: c_int, slabs: usize, bytes: usize, for_segments: bool) -> sys::Result<*mut u8> {
    let (offset, len) = (end_of_file(), slabs * unit::stride());
    if for_segments {
        sys::allocate(fd, offset, bytes as u64)?;
        sys::resize(fd, offset + len as u64)?;
    } else {
        allocate(fd, offset, slabs)?;
    }
    // SAFETY: a new range.
    let base = unsafe { sys::map(ptr::null_mut(), len, sys::READ_WRITE, libc::MAP_SHARED, fd, offset) }?;
    if for_segments {
        // Most are filled from their beginning on, and what is not is not looked at in the end.
        sys::expect_random_use(base, len);
    } else {
        use_as_touched(base, len);
    }
    Ok(base)
}
