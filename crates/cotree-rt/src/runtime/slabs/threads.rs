//! Assigns slabs to threads.

use super::chunks::{Chunk, chunks};
use super::counts::first_counted_block;
use super::growth::{self, grow};
use super::sparse::{OpenFile, for_each_part, words_in};
use crate::arch::threads::thread_pointer;
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::os::growing_array::GrowingArray;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

// SAFETY: a null pointer is valid.
static OF_THREAD: GrowingArray<AtomicPtr<u64>> = unsafe { GrowingArray::new() };

/// The segment register can't be set here: every thread counts in slab 0.
static NO_SEGMENT: AtomicBool = AtomicBool::new(false);

/// Where this thread counts.
pub(super) fn own() -> *mut u64 {
    if !unit::by_segment() {
        return unit::slab_word();
    }
    let slab = unit::segment();
    let stride = unit::stride();
    let known = |chunk: &Chunk| {
        let distance = (slab as usize).wrapping_sub(chunk.base() as usize);
        !chunk.is_for_segments() && distance < chunk.len() && distance.is_multiple_of(stride)
    };
    if slab == unit::counters() || chunks().any(known) {
        return slab;
    }
    current::flag(Flags::THREAD_UNREGISTERED);
    unit::slab_word()
}

/// Flags a thread whose increments do not go where they should: the runtime did not see it start, or it uses the
/// segment register itself.
pub fn verify_own() {
    if unit::by_segment() && !NO_SEGMENT.load(Relaxed) && unit::segment() != unit::slab_word() {
        current::flag(Flags::THREAD_UNREGISTERED);
    }
}

/// This thread counts in the slab from now on.
pub(super) fn count_in(slab: *mut u64) {
    // SAFETY: this thread; callers up the stack that hold slab 0 may go on to use it.
    unsafe { unit::set_slab(thread_pointer(), slab) };
    if unit::by_segment() {
        NO_SEGMENT.store(unit::set_segment(slab).is_err(), Relaxed);
    }
}

/// Only the thread with the index has a slab from now on.
pub(super) fn forget_others(thread: usize) {
    for (index, slab) in OF_THREAD.iter() {
        if index != thread {
            slab.store(ptr::null_mut(), Relaxed);
        }
    }
}

/// This thread's slab is that of the thread with the index.
pub fn claim(thread: usize) {
    let _held = growth::lock();
    if let Some(slot) = OF_THREAD.make(thread) {
        slot.store(own(), Relaxed);
    }
}

/// Gives the thread with the index its slab: this thread, or one that runs no code of this unit yet.
pub fn assign(thread: usize, thread_pointer: u64) {
    let slab = of_thread(thread);
    // SAFETY: the thread is there, and either this one or without frames of this unit.
    unsafe { unit::set_slab(thread_pointer, slab) };
    // Libraries, which join when other threads run, do without the segment register: this is this thread.
    if unit::by_segment() && unit::set_segment(slab).is_err() {
        share();
    }
}

/// The slab of the thread with the index: the one it has, a fresh one, or slab 0 if there is no memory.
fn of_thread(thread: usize) -> *mut u64 {
    if !unit::threaded() || !current::active() {
        return unit::counters();
    }
    let _held = growth::lock_to_grow();
    let Some(slot) = OF_THREAD.make(thread) else { return share() };
    let mut slab = slot.load(Relaxed);
    if slab.is_null() {
        slab = match take_unused() {
            Ok(slab) => slab,
            Err(_) => return share(),
        };
        slot.store(slab, Relaxed);
    }
    slab
}

fn share() -> *mut u64 {
    current::flag(Flags::SLAB_SHARED);
    unit::counters()
}

fn take_unused() -> sys::Result<*mut u64> {
    let stride = unit::stride();
    if let Some((slab, _)) = chunks().filter(|c| !c.is_for_segments()).find_map(|c| c.take(stride)) {
        return Ok(slab.cast());
    }
    let (slab, _) = grow(stride, false)?.take(stride).ok_or(Errno(libc::ENOMEM))?;
    Ok(slab.cast())
}

/// Whether threads counted that have no slab of their own.
pub fn slab_zero_in_use() -> bool {
    if !unit::threaded() {
        return false;
    }
    // SAFETY: words of slab 0.
    let counted = |word: usize| unsafe { unit::counters().add(word).read_volatile() } != 0;
    let by_thread_word =
        || counted(unit::spare()) || unit::thread_word_counters().iter().any(|&word| counted(word as usize));
    // Where there is no segment register for us, the first thread counts there too, but for these.
    if NO_SEGMENT.load(Relaxed) {
        return by_thread_word();
    }
    if counted(unit::spare()) {
        return true;
    }
    let file = OpenFile::new();
    let mut used = false;
    for_each_part(unit::counters(), file.at(current::slabs_offset()), |part| {
        let words = words_in(&part).start..words_in(&part).end.min(unit::counter_count());
        used = used || !words.is_empty() && first_counted_block(unit::counters(), &words).is_some();
    });
    used
}
