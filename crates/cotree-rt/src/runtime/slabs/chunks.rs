//! Chunks, in which slabs and segments are allocated: each is a separately mapped range of the file. Mappings never
//! move, because functions on the stacks hold addresses. If the file can't grow, a chunk is in plain memory alone.

use crate::layout::PAGE;
use crate::runtime::file::{current, names};
use crate::runtime::os::growing_array::GrowingArray;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A chunk.
pub(super) struct Chunk {
    base: AtomicPtr<u8>,
    /// The size of the chunk in places of slabs.
    slabs: AtomicUsize,
    /// Bytes from its start that have room on the disk, but for the sparse parts of slabs.
    allocated: AtomicUsize,
    used: AtomicUsize,
    /// For segments.
    for_segments: AtomicBool,
    in_memory: AtomicBool,
    /// Where it is in the file, unless it is in memory alone.
    offset: AtomicU64,
}

impl Chunk {
    pub(super) fn base(&self) -> *mut u8 {
        self.base.load(Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.slabs.load(Relaxed) * unit::stride()
    }

    /// How many places of slabs it has.
    pub(super) fn places(&self) -> usize {
        self.slabs.load(Relaxed)
    }

    /// Bytes from its start that have an owner.
    pub(super) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Where it is in the file, unless it is in memory alone.
    pub(super) fn offset(&self) -> u64 {
        self.offset.load(Relaxed)
    }

    /// The next so many bytes that have no owner, with their place in the file (0 if it is in memory alone).
    pub(super) fn take(&self, bytes: usize) -> Option<(*mut u8, u64)> {
        let used = self.used();
        if self.len() - used < bytes || self.allocate(used + bytes).is_err() {
            return None;
        }
        self.used.store(used + bytes, Relaxed);
        // SAFETY: within the chunk.
        let base = unsafe { self.base().add(used) };
        Some((base, if self.is_in_memory() { 0 } else { self.offset() + used as u64 }))
    }

    /// Sees to it that so many bytes of it have room on the disk.
    fn allocate(&self, bytes: usize) -> sys::Result<()> {
        let allocated = self.allocated.load(Relaxed);
        if bytes <= allocated {
            return Ok(());
        }
        let wanted = bytes.max(allocated + allocated / 4).next_multiple_of(PAGE as usize).min(self.len());
        let fd = names::reopen()?;
        let result = sys::allocate(fd, self.offset() + allocated as u64, (wanted - allocated) as u64);
        sys::close(fd);
        result.inspect(|()| self.allocated.store(wanted, Relaxed))
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.in_memory.load(Relaxed)
    }

    pub(super) fn is_for_segments(&self) -> bool {
        self.for_segments.load(Relaxed)
    }

    /// The slabs of the chunk.
    pub(super) fn each(&self) -> impl Iterator<Item = *mut u64> {
        let base = self.base();
        let slabs = if self.is_for_segments() { 0 } else { self.places() };
        // SAFETY: within the chunk.
        (0..slabs).map(move |slab| unsafe { base.add(slab * unit::stride()) }.cast())
    }
}

// In file order. SAFETY: zeros are valid atomics.
static TABLE: GrowingArray<Chunk> = unsafe { GrowingArray::new() };

static CHUNK_COUNT: AtomicUsize = AtomicUsize::new(0);

/// All chunks.
pub(super) fn chunks() -> impl DoubleEndedIterator<Item = &'static Chunk> {
    (0..CHUNK_COUNT.load(Relaxed)).filter_map(|index| TABLE.get(index))
}

/// What a chunk begins with.
pub(super) struct NewChunk {
    pub(super) base: *mut u8,
    pub(super) slabs: usize,
    pub(super) allocated: usize,
    pub(super) for_segments: bool,
    pub(super) in_memory: bool,
}

/// Adds a chunk at the end. The lock is held, or there is one thread.
pub(super) fn push(new: NewChunk) -> sys::Result<&'static Chunk> {
    let NewChunk { base, slabs, allocated, for_segments, in_memory } = new;
    let chunk = TABLE.make(CHUNK_COUNT.load(Relaxed)).ok_or(Errno(libc::ENOMEM))?;
    chunk.offset.store(end_of_file(), Relaxed);
    chunk.base.store(base, Relaxed);
    chunk.slabs.store(slabs, Relaxed);
    chunk.allocated.store(allocated, Relaxed);
    chunk.used.store(0, Relaxed);
    chunk.for_segments.store(for_segments, Relaxed);
    chunk.in_memory.store(in_memory, Relaxed);
    CHUNK_COUNT.fetch_add(1, Relaxed);
    Ok(chunk)
}

/// Forgets all chunks; what they were is mapped no more, or something else is there.
pub(super) fn forget() {
    CHUNK_COUNT.store(0, Relaxed);
}

/// File offset behind the last slab.
pub(super) fn end_of_file() -> u64 {
    current::slabs_offset() + count() * unit::stride() as u64
}

/// Where a slab is in the file; 0: it is not.
#[cfg(not(feature = "counters-alone"))]
pub(super) fn offset_of(slab: *const u64) -> u64 {
    if slab == unit::counters() {
        return current::slabs_offset();
    }
    let place = |chunk: &Chunk| {
        let distance = (slab as usize).wrapping_sub(chunk.base() as usize);
        (!chunk.is_in_memory() && distance < chunk.len()).then(|| chunk.offset() + distance as u64)
    };
    chunks().find_map(place).unwrap_or(0)
}

/// Slabs in the file when it is created, besides those that segments take.
pub fn initial_count() -> u64 {
    if unit::threaded() { 2 } else { 1 }
}

/// Slabs in the file now, the places that segments take among them.
pub fn count() -> u64 {
    1 + chunks().filter(|c| !c.is_in_memory()).map(|c| c.places() as u64).sum::<u64>()
}
