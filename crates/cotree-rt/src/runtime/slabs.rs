//! The counter arrays: slab 0 is `__cotree_counters` itself; every thread of a threaded unit has one of its own, the
//! first thread too, so that what stands in slab 0 was counted by threads that nobody told us of.
//!
//! Slabs come in chunks, each a range of the file mapped on its own, for mappings never move: functions on the stacks
//! hold the addresses. When the file can't grow, a chunk is an orphan in plain memory, added to slab 0 at the end.

use super::lock::Lock;
use super::segments::Segments;
use super::sys::{self, Errno};
use super::{profile, unit};
use crate::layout::Flags;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};

struct Chunk {
    base: AtomicPtr<u8>,
    slabs: AtomicUsize,
    orphan: AtomicBool,
}

const CHUNKS: usize = 128;
static TABLE: [Chunk; CHUNKS] = [const {
    Chunk { base: AtomicPtr::new(ptr::null_mut()), slabs: AtomicUsize::new(0), orphan: AtomicBool::new(false) }
}; CHUNKS];
static CHUNK_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Slabs of the last chunk that have an owner.
static USED_OF_LAST: AtomicUsize = AtomicUsize::new(0);
// SAFETY: a null pointer is valid.
static OF_THREAD: Segments<AtomicPtr<u64>> = unsafe { Segments::new() };
static LOCK: Lock = Lock::new();

const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

fn chunks() -> &'static [Chunk] {
    &TABLE[..CHUNK_COUNT.load(Relaxed).min(CHUNKS)]
}

fn counters() -> *mut u64 {
    unit::descriptor().counters
}

/// Slabs in the file when it is created.
pub fn initial_count() -> u64 {
    if unit::threaded() { 2 } else { 1 }
}

/// Slabs in the file now.
pub fn count() -> u64 {
    1 + chunks().iter().filter(|c| !c.orphan.load(Relaxed)).map(|c| c.slabs.load(Relaxed) as u64).sum::<u64>()
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
    move_counts(counters(), own.cast());
    // SAFETY: the counters' pages are for this; nothing else lies in them.
    let result = unsafe { sys::map(counters().cast(), stride, READ_WRITE, flags | libc::MAP_FIXED, fd, offset) };
    // SAFETY: mapped above, and its content is in the file.
    unsafe { sys::unmap(zero, stride) };
    result?;
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
        move_counts(counters(), own.cast());
        adopt_own(own);
    }
    Ok(())
}

/// Where this thread's slab must be: anywhere, or where functions on its stack expect it.
fn own_place() -> (*mut u8, c_int) {
    let now = unit::slab();
    if now == counters() { (ptr::null_mut(), 0) } else { (now.cast(), libc::MAP_FIXED) }
}

fn adopt_own(own: *mut u8) {
    TABLE[0].base.store(own, Relaxed);
    TABLE[0].slabs.store(1, Relaxed);
    TABLE[0].orphan.store(false, Relaxed);
    CHUNK_COUNT.store(1, Relaxed);
    USED_OF_LAST.store(1, Relaxed);
    // SAFETY: this thread; callers up the stack that hold slab 0 may go on to use it.
    unsafe { unit::set_slab(unit::thread_pointer(), own.cast()) };
}

/// Adds what is in one slab to another and clears it. Untouched pages stay so.
fn move_counts(from: *mut u64, to: *mut u64) {
    for index in 0..unit::descriptor().counter_count as usize {
        // SAFETY: both are slabs.
        unsafe {
            let value = from.add(index).read_volatile();
            if value != 0 {
                to.add(index).write_volatile(to.add(index).read_volatile().wrapping_add(value));
                from.add(index).write_volatile(0);
            }
        }
    }
}

/// In a forked child: lets go of the parent's file. Slab 0 and this thread's slab become empty memory where they are,
/// the slabs of threads that are not here go away.
pub fn detach(this_thread: Option<usize>) {
    LOCK.break_open();
    let stride = unit::stride();
    let own = unit::slab().cast::<u8>();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    for chunk in chunks() {
        let base = chunk.base.load(Relaxed);
        for slab in 0..chunk.slabs.load(Relaxed) {
            // SAFETY: slabs of this unit; only this thread is here, and it uses only its own.
            unsafe {
                let at = base.add(slab * stride);
                if at != own {
                    sys::unmap(at, stride);
                }
            }
        }
    }
    CHUNK_COUNT.store(0, Relaxed);
    for (index, slab) in OF_THREAD.iter() {
        if Some(index) != this_thread {
            slab.store(ptr::null_mut(), Relaxed);
        }
    }
    // SAFETY: whole pages that belong to the slabs; MAP_FIXED keeps the addresses valid throughout.
    unsafe {
        let _ = sys::map(counters().cast(), stride, READ_WRITE, flags, -1, 0);
        if own != counters().cast() {
            let _ = sys::map(own, stride, READ_WRITE, flags, -1, 0);
        }
    }
}

/// Puts plain memory in the place of every slab.
pub fn lead_nowhere() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let bases = chunks().iter().map(|chunk| (chunk.base.load(Relaxed), chunk.slabs.load(Relaxed)));
    for (base, slabs) in bases.chain([(counters().cast(), 1)]) {
        // SAFETY: whole pages that belong to the slabs; the addresses stay valid throughout.
        let _ = unsafe { sys::map(base, slabs * unit::stride(), READ_WRITE, flags, -1, 0) };
    }
}

/// This thread's slab is that of the thread with the index.
pub fn claim(thread: usize) {
    let _held = LOCK.take();
    if let Some(slot) = OF_THREAD.make(thread) {
        slot.store(unit::slab(), Relaxed);
    }
}

/// The slab of the thread with the index: the one it has, a fresh one, or slab 0 if there is no memory.
pub fn of_thread(thread: usize) -> *mut u64 {
    if !unit::threaded() || !profile::active() {
        return counters();
    }
    let _held = LOCK.take();
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
    let unused = |chunk: &Chunk| USED_OF_LAST.load(Relaxed) < chunk.slabs.load(Relaxed);
    if !chunks().last().is_some_and(unused) {
        grow()?;
    }
    let chunk = chunks().last().ok_or(Errno(libc::ENOMEM))?;
    let place = USED_OF_LAST.fetch_add(1, Relaxed);
    // SAFETY: within the chunk.
    Ok(unsafe { chunk.base.load(Relaxed).add(place * unit::stride()) }.cast())
}

/// Another chunk, a quarter of what there is: few mappings, little waste.
fn grow() -> sys::Result<()> {
    let total: usize = chunks().iter().map(|c| c.slabs.load(Relaxed)).sum();
    let slabs = (total / 4).max(1);
    let chunk = TABLE.get(CHUNK_COUNT.load(Relaxed)).ok_or(Errno(libc::ENOMEM))?;
    let len = slabs * unit::stride();
    let in_file = if profile::mapped() { grow_file(len) } else { Err(Errno(libc::ENODEV)) };
    let orphan = in_file.is_err() && profile::mapped();
    let base = in_file.or_else(|_| sys::map_anonymous(len))?;
    chunk.base.store(base, Relaxed);
    chunk.slabs.store(slabs, Relaxed);
    chunk.orphan.store(orphan, Relaxed);
    USED_OF_LAST.store(0, Relaxed);
    CHUNK_COUNT.fetch_add(1, Relaxed);
    profile::set_slab_count(count());
    Ok(())
}

fn grow_file(len: usize) -> sys::Result<*mut u8> {
    let fd = profile::reopen().ok_or(Errno(libc::ENOENT))?;
    let offset = profile::slabs_offset() + count() * unit::stride() as u64;
    let result = sys::allocate(fd, offset, len as u64)
        // SAFETY: a new range.
        .and_then(|()| unsafe { sys::map(ptr::null_mut(), len, READ_WRITE, libc::MAP_SHARED, fd, offset) });
    sys::close(fd);
    result
}

/// Moves what is in slabs that are not in the file to slab 0, which is.
pub fn fold_orphans() {
    for_each_orphan(|slab| move_counts(slab, counters()));
}

/// Adds what is in slabs that are not in the file to a copy of slab 0.
pub fn add_orphans(to: *mut u64) {
    for_each_orphan(|slab| {
        for index in 0..unit::descriptor().counter_count as usize {
            // SAFETY: both are slabs.
            unsafe { *to.add(index) = (*to.add(index)).wrapping_add(slab.add(index).read_volatile()) };
        }
    });
}

fn for_each_orphan(mut act: impl FnMut(*mut u64)) {
    for chunk in chunks().iter().filter(|chunk| chunk.orphan.load(Relaxed)) {
        for slab in 0..chunk.slabs.load(Relaxed) {
            // SAFETY: within the chunk.
            act(unsafe { chunk.base.load(Relaxed).add(slab * unit::stride()) }.cast());
        }
    }
}

/// Whether threads counted that have no slab of their own.
pub fn slab_zero_in_use() -> bool {
    unit::threaded()
        && (0..unit::descriptor().counter_count as usize)
            // SAFETY: slab 0 has that many counters.
            .any(|index| unsafe { counters().add(index).read_volatile() } != 0)
}

/// Every slab in file order.
pub fn for_each(act: &mut dyn FnMut(&[u8])) {
    let stride = unit::stride();
    // SAFETY: slab 0 is padded to its stride.
    act(unsafe { core::slice::from_raw_parts(counters().cast(), stride) });
    for chunk in chunks().iter().filter(|chunk| !chunk.orphan.load(Relaxed)) {
        for slab in 0..chunk.slabs.load(Relaxed) {
            // SAFETY: within the chunk.
            act(unsafe { core::slice::from_raw_parts(chunk.base.load(Relaxed).add(slab * stride), stride) });
        }
    }
}

/// All counters zero.
pub fn clear() {
    let zero = |base: *mut u64| {
        for index in 0..unit::descriptor().counter_count as usize {
            // SAFETY: a slab.
            unsafe { base.add(index).write_volatile(0) };
        }
    };
    zero(counters());
    for chunk in chunks() {
        for slab in 0..chunk.slabs.load(Relaxed) {
            // SAFETY: within the chunk.
            zero(unsafe { chunk.base.load(Relaxed).add(slab * unit::stride()) }.cast());
        }
    }
}

/// Before the unit is unloaded: its threads' slabs go, and whatever of it still runs counts into its own image.
#[cfg(feature = "shared-library")]
pub fn let_go() {
    if unit::threaded() {
        // SAFETY: this thread.
        unsafe { unit::set_slab(unit::thread_pointer(), counters()) };
    }
    for chunk in chunks() {
        // SAFETY: no other thread runs code of a unit that is being unloaded.
        unsafe { sys::unmap(chunk.base.load(Relaxed), chunk.slabs.load(Relaxed) * unit::stride()) };
    }
    CHUNK_COUNT.store(0, Relaxed);
}
