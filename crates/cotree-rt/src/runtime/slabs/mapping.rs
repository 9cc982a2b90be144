//! Maps the first slabs when a profile begins, and replaces them when it ends, in a forked
//! child, and before the unit is unloaded. Slab 0 and the slab of a running thread keep their addresses throughout.

use super::chunks::{self, NewChunk, chunks, push};
use super::counts::move_counts;
use super::growth;
use super::sparse::{BEING_MAPPED, use_as_touched, words_in};
use super::threads::{self, own};
use crate::arch::threads::thread_pointer;
use crate::runtime::file::current;
use crate::runtime::os::pagemap::{self, Memory};
use crate::runtime::os::sys;
use crate::runtime::unit;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

/// Maps the first slabs of a new file: slab 0 over the counters, and this thread's.
pub fn map_initial(fd: c_int) -> sys::Result<()> {
    let stride = unit::stride();
    let offset = current::slabs_offset();
    let flags = libc::MAP_SHARED;
    // SAFETY: a new range.
    let zero = unsafe { sys::map(ptr::null_mut(), stride, sys::READ_WRITE, flags, fd, offset) }?;
    let mut own = zero;
    if unit::threaded() {
        let (at, fixed) = own_place();
        // SAFETY: a new range, or the slab that this thread has, detached from its former file.
        own = match unsafe { sys::map(at, stride, sys::READ_WRITE, flags | fixed, fd, offset + stride as u64) } {
            Ok(own) => own,
            Err(error) => {
                // SAFETY: mapped just now.
                unsafe { sys::unmap(zero, stride) };
                return Err(error);
            }
        };
    }
    use_as_touched(own, stride);
    BEING_MAPPED.store(own.cast(), Relaxed);
    move_early_counts(own.cast());
    BEING_MAPPED.store(ptr::null_mut(), Relaxed);
    // SAFETY: the counters' pages are for this; nothing else lies in them.
    let result =
        unsafe { sys::map(unit::counters().cast(), stride, sys::READ_WRITE, flags | libc::MAP_FIXED, fd, offset) };
    // SAFETY: mapped above, and its content is in the file.
    unsafe { sys::unmap(zero, stride) };
    use_as_touched(result?, stride);
    if unit::threaded() {
        adopt_own(own);
    }
    Ok(())
}

/// Keeps counters in memory, without a file.
pub fn keep_in_memory() -> sys::Result<()> {
    if unit::threaded() {
        let (at, fixed) = own_place();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        // SAFETY: a new range, or this thread's own slab.
        let own = unsafe { sys::map(at, unit::stride(), sys::READ_WRITE, flags, -1, 0) }?;
        move_early_counts(own.cast());
        adopt_own(own);
    }
    Ok(())
}

/// Where this thread's slab must be: anywhere, or where functions on its stack expect it.
fn own_place() -> (*mut u8, c_int) {
    let now = own();
    if now == unit::counters() { (ptr::null_mut(), 0) } else { (now.cast(), libc::MAP_FIXED) }
}

/// This thread counts in the slab from now on.
fn adopt_own(own: *mut u8) {
    let allocated = unit::stride();
    if let Ok(chunk) = push(NewChunk { base: own, slabs: 1, allocated, for_segments: false, in_memory: false }) {
        // All of it is this thread's.
        let _ = chunk.take(allocated);
    }
    threads::count_in(own.cast());
}

/// Moves what was counted before slab 0 was in a file: in most programs nothing, and its memory was never touched.
fn move_early_counts(to: *mut u64) {
    let slab = unit::counters();
    pagemap::for_each_touched(slab.cast(), unit::stride(), Memory::Private, |part| {
        move_counts(slab, to, words_in(&part))
    });
}

/// In a forked child: lets go of the parent's file. Slab 0 and this thread's slab become empty memory where they are,
/// the slabs of threads that are not here go away, and so do segments. Unless a signal handler has forked: it may
/// have interrupted an increment in one.
pub fn detach(this_thread: usize, interrupted: bool) {
    growth::after_fork();
    let stride = unit::stride();
    let own = own().cast::<u8>();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    for chunk in chunks() {
        // SAFETY: slabs and tables of this unit; only this thread is here, and it uses only its own slab.
        unsafe {
            if chunk.is_for_segments() && interrupted {
                let flags = flags | libc::MAP_NORESERVE;
                let _ = sys::map(chunk.base(), chunk.len(), sys::READ_WRITE, flags, -1, 0);
            } else if chunk.is_for_segments() {
                sys::unmap(chunk.base(), chunk.len());
            }
            for slab in chunk.each().filter(|slab| slab.cast() != own) {
                sys::unmap(slab.cast(), stride);
            }
        }
    }
    chunks::forget();
    threads::forget_others(this_thread);
    // SAFETY: whole pages that belong to the slabs; MAP_FIXED keeps the addresses valid throughout.
    unsafe {
        let _ = sys::map(unit::counters().cast(), stride, sys::READ_WRITE, flags, -1, 0);
        if own != unit::counters().cast() {
            let _ = sys::map(own, stride, sys::READ_WRITE, flags, -1, 0);
        }
        unit::set_slab(thread_pointer(), own.cast());
    }
}

/// Puts plain memory in the place of every slab and table.
pub fn replace_by_memory() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let places = chunks().map(|chunk| (chunk.base(), chunk.len()));
    for (base, len) in places.chain([(unit::counters().cast(), unit::stride())]) {
        // SAFETY: whole pages that belong to the slabs; the addresses stay valid throughout.
        let _ = unsafe { sys::map(base, len, sys::READ_WRITE, flags, -1, 0) };
    }
}

/// Before the unit is unloaded: its threads' slabs go, and whatever of it still runs counts into its own image.
#[cfg(feature = "shared-library")]
pub fn let_go() {
    if unit::threaded() {
        // SAFETY: this thread.
        unsafe { unit::set_slab(thread_pointer(), unit::counters()) };
    }
    if unit::counts_paths() {
        // Slab 0 must not lead to a table that goes away.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: whole pages that belong to slab 0; they go away with the image.
        let _ = unsafe { sys::map(unit::counters().cast(), unit::stride(), sys::READ_WRITE, flags, -1, 0) };
    }
    for chunk in chunks() {
        // SAFETY: no other thread runs code of a unit that is being unloaded.
        unsafe { sys::unmap(chunk.base(), chunk.len()) };
    }
    chunks::forget();
}
