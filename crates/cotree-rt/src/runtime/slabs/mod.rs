//! The counter arrays: slab 0 is `__cotree_counters` itself; every thread of a threaded unit has one of its own, the
//! first thread too, so that what stands in slab 0 was counted by threads that nobody told us of.
//!
//! Slabs come in chunks, each a range of the file mapped on its own, for mappings never move: functions on the stacks
//! hold the addresses. When the file can't grow, a chunk is an orphan in plain memory, added to slab 0 at the end. The
//! segments ([`crate::runtime::record::paths`]) get their room in the same way, between the slabs.

mod growth;
mod holes;
pub mod segments;

pub use growth::{Place, make_first_room};
pub use holes::{allocate, forget_caches, give_up_page, take_back_pages};

use crate::layout::{Flags, PAGE};
use crate::runtime::file::{names, profile};
use crate::runtime::os::growing_array::GrowingArray;
use crate::runtime::os::lock::{Held, Lock};
use crate::runtime::os::pagemap::{self, Memory};
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use crate::zeros;
use core::ffi::c_int;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};
use core::{ptr, slice};
use growth::grow;
use holes::{BEING_MAPPED, OpenFile, for_each_part, pieces, use_as_touched, words_in};

struct Chunk {
    base: AtomicPtr<u8>,
    /// Its size in places of slabs.
    slabs: AtomicUsize,
    /// Bytes from its start that have room on the disk, but for holes of slabs.
    allocated: AtomicUsize,
    /// Bytes from its start that have an owner.
    used: AtomicUsize,
    /// For segments.
    for_segments: AtomicBool,
    orphan: AtomicBool,
    /// Where it is in the file, unless it is an orphan.
    offset: AtomicU64,
}

impl Chunk {
    fn len(&self) -> usize {
        self.slabs.load(Relaxed) * unit::stride()
    }

    /// The next so many bytes that have no owner, with their place in the file (0 if it is an orphan).
    fn take(&self, bytes: usize) -> Option<(*mut u8, u64)> {
        let used = self.used.load(Relaxed);
        if self.len() - used < bytes || self.allocate(used + bytes).is_err() {
            return None;
        }
        self.used.store(used + bytes, Relaxed);
        let offset = self.offset.load(Relaxed);
        // SAFETY: within the chunk.
        let base = unsafe { self.base.load(Relaxed).add(used) };
        Some((base, if self.is_orphan() { 0 } else { offset + used as u64 }))
    }

    /// Sees to it that so many bytes of it have room on the disk.
    fn allocate(&self, bytes: usize) -> sys::Result<()> {
        let allocated = self.allocated.load(Relaxed);
        if bytes <= allocated {
            return Ok(());
        }
        let wanted = bytes.max(allocated + allocated / 4).next_multiple_of(PAGE as usize).min(self.len());
        let fd = names::reopen()?;
        let result = sys::allocate(fd, self.offset.load(Relaxed) + allocated as u64, (wanted - allocated) as u64);
        sys::close(fd);
        result.inspect(|()| self.allocated.store(wanted, Relaxed))
    }

    fn is_orphan(&self) -> bool {
        self.orphan.load(Relaxed)
    }

    fn is_for_segments(&self) -> bool {
        self.for_segments.load(Relaxed)
    }

    /// Its slabs.
    fn each(&self) -> impl Iterator<Item = *mut u64> {
        let base = self.base.load(Relaxed);
        let slabs = if self.is_for_segments() { 0 } else { self.slabs.load(Relaxed) };
        // SAFETY: within the chunk.
        (0..slabs).map(move |slab| unsafe { base.add(slab * unit::stride()) }.cast())
    }
}

// In file order. SAFETY: zeros are valid atomics.
static TABLE: GrowingArray<Chunk> = unsafe { GrowingArray::new() };
static CHUNK_COUNT: AtomicUsize = AtomicUsize::new(0);
// SAFETY: a null pointer is valid.
static OF_THREAD: GrowingArray<AtomicPtr<u64>> = unsafe { GrowingArray::new() };
static LOCK: Lock = Lock::new();

/// The thread that has completed the profile, though others may go on; 0: none has.
static COMPLETED: AtomicI32 = AtomicI32::new(0);

/// The segment register can't be set here: every thread counts in slab 0.
static NO_SEGMENT: AtomicBool = AtomicBool::new(false);

const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

fn chunks() -> impl DoubleEndedIterator<Item = &'static Chunk> {
    (0..CHUNK_COUNT.load(Relaxed)).filter_map(|index| TABLE.get(index))
}

/// Adds a chunk at the end. The lock is held, or there is one thread.
fn push(
    base: *mut u8,
    slabs: usize,
    allocated: usize,
    for_segments: bool,
    orphan: bool,
) -> sys::Result<&'static Chunk> {
    let chunk = TABLE.make(CHUNK_COUNT.load(Relaxed)).ok_or(Errno(libc::ENOMEM))?;
    chunk.offset.store(end_of_file(), Relaxed);
    chunk.base.store(base, Relaxed);
    chunk.slabs.store(slabs, Relaxed);
    chunk.allocated.store(allocated, Relaxed);
    chunk.used.store(0, Relaxed);
    chunk.for_segments.store(for_segments, Relaxed);
    chunk.orphan.store(orphan, Relaxed);
    CHUNK_COUNT.fetch_add(1, Relaxed);
    Ok(chunk)
}

/// File offset behind the last slab.
fn end_of_file() -> u64 {
    profile::slabs_offset() + count() * unit::stride() as u64
}

/// Where a slab is in the file; 0: it is not.
fn offset_of(slab: *const u64) -> u64 {
    if slab == counters() {
        return profile::slabs_offset();
    }
    let place = |chunk: &Chunk| {
        let distance = (slab as usize).wrapping_sub(chunk.base.load(Relaxed) as usize);
        (!chunk.is_orphan() && distance < chunk.len()).then(|| chunk.offset.load(Relaxed) + distance as u64)
    };
    chunks().find_map(place).unwrap_or(0)
}

fn counters() -> *mut u64 {
    unit::descriptor().counters
}

/// Slabs in the file when it is created, besides those that segments take.
pub fn initial_count() -> u64 {
    if unit::threaded() { 2 } else { 1 }
}

/// Slabs in the file now, the places that segments take among them.
pub fn count() -> u64 {
    1 + chunks().filter(|c| !c.is_orphan()).map(|c| c.slabs.load(Relaxed) as u64).sum::<u64>()
}

/// Maps the first slabs of a new file: slab 0 over the counters, and this thread's.
pub fn map_initial(fd: c_int) -> sys::Result<()> {
    let stride = unit::stride();
    let offset = profile::slabs_offset();
    let flags = libc::MAP_SHARED;
    // SAFETY: a new range.
    let zero = unsafe { sys::map(ptr::null_mut(), stride, READ_WRITE, flags, fd, offset) }?;
    let mut own = zero;
    if unit::threaded() {
        let (at, fixed) = own_place();
        // SAFETY: a new range, or the slab that this thread has, detached from its former file.
        own = match unsafe { sys::map(at, stride, READ_WRITE, flags | fixed, fd, offset + stride as u64) } {
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
    let result = unsafe { sys::map(counters().cast(), stride, READ_WRITE, flags | libc::MAP_FIXED, fd, offset) };
    // SAFETY: mapped above, and its content is in the file.
    unsafe { sys::unmap(zero, stride) };
    use_as_touched(result?, stride);
    if unit::threaded() {
        adopt_own(own);
    }
    Ok(())
}

/// The same without a file.
pub fn keep_in_memory() -> sys::Result<()> {
    if unit::threaded() {
        let (at, fixed) = own_place();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        // SAFETY: a new range, or this thread's own slab.
        let own = unsafe { sys::map(at, unit::stride(), READ_WRITE, flags, -1, 0) }?;
        move_early_counts(own.cast());
        adopt_own(own);
    }
    Ok(())
}

/// Where this thread counts.
fn own() -> *mut u64 {
    if !unit::by_segment() {
        return unit::slab_word();
    }
    let slab = unit::segment();
    let stride = unit::stride();
    let known = |chunk: &Chunk| {
        let distance = (slab as usize).wrapping_sub(chunk.base.load(Relaxed) as usize);
        !chunk.is_for_segments() && distance < chunk.len() && distance.is_multiple_of(stride)
    };
    if slab == counters() || chunks().any(known) {
        return slab;
    }
    profile::flag(Flags::THREAD_UNREGISTERED);
    unit::slab_word()
}

/// Flags a thread whose increments do not go where they should: nobody told us of it, or it uses the segment register
/// itself.
pub fn verify_own() {
    if unit::by_segment() && !NO_SEGMENT.load(Relaxed) && unit::segment() != unit::slab_word() {
        profile::flag(Flags::THREAD_UNREGISTERED);
    }
}

/// Where this thread's slab must be: anywhere, or where functions on its stack expect it.
fn own_place() -> (*mut u8, c_int) {
    let now = own();
    if now == counters() { (ptr::null_mut(), 0) } else { (now.cast(), libc::MAP_FIXED) }
}

fn adopt_own(own: *mut u8) {
    if let Ok(chunk) = push(own, 1, unit::stride(), false, false) {
        chunk.used.store(unit::stride(), Relaxed);
    }
    // SAFETY: this thread; callers up the stack that hold slab 0 may go on to use it.
    unsafe { unit::set_slab(unit::thread_pointer(), own.cast()) };
    if unit::by_segment() {
        NO_SEGMENT.store(unit::set_segment(own.cast()).is_err(), Relaxed);
    }
}

/// Moves what was counted before slab 0 was in a file: in most programs nothing, and its memory was never touched.
fn move_early_counts(to: *mut u64) {
    let slab = counters();
    pagemap::for_each_touched(slab.cast(), unit::stride(), Memory::Private, |part| {
        move_counts(slab, to, words_in(&part))
    });
}

/// Adds what is in these words of one slab to another and clears it. Untouched pages of both stay so.
fn move_counts(from: *mut u64, to: *mut u64, words: Range<usize>) {
    each_counted(from, words, |index| {
        // SAFETY: both are slabs.
        unsafe {
            let value = from.add(index).read_volatile();
            to.add(index).write_volatile(to.add(index).read_volatile().wrapping_add(value));
            from.add(index).write_volatile(0);
        }
    });
}

/// Calls for every slab with the parts in which anything may have been counted.
fn for_each_slab(mut act: impl FnMut(*mut u64, Range<usize>)) {
    let file = OpenFile::new();
    for_each_part(counters(), file.at(profile::slabs_offset()), |part| act(counters(), part));
    for chunk in chunks() {
        for (index, slab) in chunk.each().enumerate() {
            let offset = chunk.offset.load(Relaxed) + (index * unit::stride()) as u64;
            let memory = if chunk.is_orphan() { Memory::Private } else { file.at(offset) };
            for_each_part(slab, memory, |part| act(slab, part));
        }
    }
}

/// Calls for every counter of these words of a slab that is not zero.
fn each_counted(slab: *const u64, words: Range<usize>, mut act: impl FnMut(usize)) {
    let mut act_on = |index: usize| {
        // SAFETY: within the slab.
        if unsafe { slab.add(index).read_volatile() } != 0 {
            act(index);
        }
    };
    let mut rest = words.start..words.end.min(counter_count());
    while let Some(block) = first_counted_block(slab, &rest) {
        rest.start = block.end;
        block.for_each(&mut act_on);
    }
    if words.contains(&unit::spare()) {
        act_on(unit::spare());
    }
}

/// The first block of these counters of a slab in which anything was counted.
fn first_counted_block(slab: *const u64, words: &Range<usize>) -> Option<Range<usize>> {
    // SAFETY: within the slab.
    let bytes = unsafe { slice::from_raw_parts(slab.add(words.start).cast(), words.len() * size_of::<u64>()) };
    let word = |byte: usize| words.start + byte / size_of::<u64>();
    zeros::first_block(bytes).map(|block| word(block.start)..word(block.end))
}

fn counter_count() -> usize {
    unit::descriptor().counter_count as usize
}

/// In a forked child: lets go of the parent's file. Slab 0 and this thread's slab become empty memory where they are,
/// the slabs of threads that are not here go away, and so do segments. Unless a signal handler has forked: it may
/// have interrupted an increment in one.
pub fn detach(this_thread: usize, interrupted: bool) {
    LOCK.break_open();
    go_on_growing();
    let stride = unit::stride();
    let own = own().cast::<u8>();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    for chunk in chunks() {
        // SAFETY: slabs and tables of this unit; only this thread is here, and it uses only its own slab.
        unsafe {
            if chunk.is_for_segments() && interrupted {
                let flags = flags | libc::MAP_NORESERVE;
                let _ = sys::map(chunk.base.load(Relaxed), chunk.len(), READ_WRITE, flags, -1, 0);
            } else if chunk.is_for_segments() {
                sys::unmap(chunk.base.load(Relaxed), chunk.len());
            }
            for slab in chunk.each().filter(|slab| slab.cast() != own) {
                sys::unmap(slab.cast(), stride);
            }
        }
    }
    CHUNK_COUNT.store(0, Relaxed);
    for (index, slab) in OF_THREAD.iter() {
        if index != this_thread {
            slab.store(ptr::null_mut(), Relaxed);
        }
    }
    // SAFETY: whole pages that belong to the slabs; MAP_FIXED keeps the addresses valid throughout.
    unsafe {
        let _ = sys::map(counters().cast(), stride, READ_WRITE, flags, -1, 0);
        if own != counters().cast() {
            let _ = sys::map(own, stride, READ_WRITE, flags, -1, 0);
        }
        unit::set_slab(unit::thread_pointer(), own.cast());
    }
}

/// Puts plain memory in the place of every slab and table.
pub fn lead_nowhere() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let places = chunks().map(|chunk| (chunk.base.load(Relaxed), chunk.len()));
    for (base, len) in places.chain([(counters().cast(), unit::stride())]) {
        // SAFETY: whole pages that belong to the slabs; the addresses stay valid throughout.
        let _ = unsafe { sys::map(base, len, READ_WRITE, flags, -1, 0) };
    }
}

/// This thread's slab is that of the thread with the index.
pub fn claim(thread: usize) {
    let _held = LOCK.take();
    if let Some(slot) = OF_THREAD.make(thread) {
        slot.store(own(), Relaxed);
    }
}

/// Gives the thread with the index its slab: this thread, or one that runs no code of this unit yet.
pub fn give(thread: usize, thread_pointer: u64) {
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
    if !unit::threaded() || !profile::active() {
        return counters();
    }
    let _held = lock_to_grow();
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
    profile::flag(Flags::SLAB_SHARED);
    counters()
}

fn take_unused() -> sys::Result<*mut u64> {
    let stride = unit::stride();
    if let Some((slab, _)) = chunks().filter(|c| !c.is_for_segments()).find_map(|c| c.take(stride)) {
        return Ok(slab.cast());
    }
    let (slab, _) = grow(stride, false)?.take(stride).ok_or(Errno(libc::ENOMEM))?;
    Ok(slab.cast())
}

/// The lock of slabs and tables.
pub fn lock() -> Held<'static> {
    LOCK.take()
}

/// The same for whoever may want more room in the file: while another thread has it completed, that waits until it is told whether the
/// program goes on.
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

/// The file is about to be completed while other threads run: they make it no larger, or it would look damaged.
pub fn stop_growing() {
    let _held = LOCK.take_soon();
    COMPLETED.store(sys::thread_id(), Relaxed);
}

/// Whoever has waited goes on.
pub fn go_on_growing() {
    COMPLETED.store(0, Relaxed);
}

/// Moves what is in slabs that are not in the file to slab 0, which is.
pub fn fold_orphans() {
    for_each_orphan(|slab| {
        for_each_part(slab, Memory::Private, |part| move_counts(slab, counters(), words_in(&part)));
    });
}

/// Is there any slab that is not in the file?
pub fn are_orphaned() -> bool {
    chunks().any(|chunk| chunk.is_orphan() && !chunk.is_for_segments())
}

/// Adds what is in slabs that are not in the file to a copy of slab 0.
pub fn add_orphans(to: *mut u64) {
    for_each_orphan(|slab| {
        for_each_part(slab, Memory::Private, |part| {
            for index in words_in(&part).start..words_in(&part).end.min(counter_count()) {
                // SAFETY: both are slabs.
                unsafe { *to.add(index) = (*to.add(index)).wrapping_add(slab.add(index).read_volatile()) };
            }
        });
    });
}

fn for_each_orphan(act: impl FnMut(*mut u64)) {
    chunks().filter(|chunk| chunk.is_orphan()).flat_map(Chunk::each).for_each(act);
}

/// Whether threads counted that have no slab of their own.
pub fn slab_zero_in_use() -> bool {
    if !unit::threaded() {
        return false;
    }
    // SAFETY: words of slab 0.
    let counted = |word: usize| unsafe { counters().add(word).read_volatile() } != 0;
    let announced = || counted(unit::spare()) || unit::announcing().iter().any(|&word| counted(word as usize));
    // Where there is no segment register for us, the first thread counts there too, but for these.
    if NO_SEGMENT.load(Relaxed) {
        return announced();
    }
    if counted(unit::spare()) {
        return true;
    }
    let file = OpenFile::new();
    let mut used = false;
    for_each_part(counters(), file.at(profile::slabs_offset()), |part| {
        let words = words_in(&part).start..words_in(&part).end.min(counter_count());
        used = used || !words.is_empty() && first_counted_block(counters(), &words).is_some();
    });
    used
}

/// Every slab, and what takes the places of slabs, in file order, in pieces, each with how many bytes follow that nobody had yet:
/// they are zero, and not looked at they take no memory.
pub fn for_each(act: &mut dyn FnMut(&[u8], usize)) {
    let file = OpenFile::new();
    pieces(counters(), file.at(profile::slabs_offset()), act);
    for chunk in chunks().filter(|chunk| !chunk.is_orphan()) {
        let (base, used) = (chunk.base.load(Relaxed), chunk.used.load(Relaxed));
        if chunk.is_for_segments() {
            // SAFETY: the chunk's own memory.
            act(unsafe { slice::from_raw_parts(base, used) }, chunk.len() - used);
            continue;
        }
        for (index, slab) in chunk.each().enumerate() {
            let at = index * unit::stride();
            if at < used {
                pieces(slab, file.at(chunk.offset.load(Relaxed) + at as u64), act);
            } else {
                act(&[], unit::stride());
            }
        }
    }
}

/// All counters zero.
pub fn clear() {
    for_each_slab(|slab, part| {
        // SAFETY: within the slab.
        each_counted(slab, words_in(&part), |index| unsafe { slab.add(index).write_volatile(0) });
    });
}

/// Before the unit is unloaded: its threads' slabs go, and whatever of it still runs counts into its own image.
#[cfg(feature = "shared-library")]
pub fn let_go() {
    if unit::threaded() {
        // SAFETY: this thread.
        unsafe { unit::set_slab(unit::thread_pointer(), counters()) };
    }
    if unit::counts_paths() {
        // Slab 0 must not lead to a table that goes away.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: whole pages that belong to slab 0; they go away with the image.
        let _ = unsafe { sys::map(counters().cast(), unit::stride(), READ_WRITE, flags, -1, 0) };
    }
    for chunk in chunks() {
        // SAFETY: no other thread runs code of a unit that is being unloaded.
        unsafe { sys::unmap(chunk.base.load(Relaxed), chunk.len()) };
    }
    CHUNK_COUNT.store(0, Relaxed);
}
