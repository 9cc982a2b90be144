//! The sparse part of a slab: path arrays, windows and caches take room in the file page by page, as they are written
//! to.

use super::chunks::{Chunk, chunks, count};
use crate::layout::PAGE;
use crate::runtime::file::{current, names};
use crate::runtime::os::pagemap::{self, Memory};
use crate::runtime::os::sys;
use crate::runtime::unit;
use core::ffi::c_int;
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use core::{ptr, slice};

/// The slab to which [`super::map_initial`] moves what has been counted already.
pub(super) static BEING_MAPPED: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());

/// Calls with the parts of a slab, as bytes, in which anything may have been counted.
pub(super) fn for_each_part(slab: *const u64, memory: Memory, mut act: impl FnMut(Range<usize>)) {
    let sparse = unit::sparse_bytes();
    if sparse.is_empty() {
        return act(0..unit::stride());
    }
    act(0..sparse.start);
    let memory = match memory {
        Memory::OfFile(fd, offset) => Memory::OfFile(fd, offset + sparse.start as u64),
        other => other,
    };
    let base = slab.cast::<u8>().wrapping_add(sparse.start);
    pagemap::for_each_touched(base, sparse.len(), memory, |part| {
        act(sparse.start + part.start..sparse.start + part.end)
    });
    act(sparse.end..unit::stride());
}

/// The file of the slabs and segments in it, open while what nobody has written to is looked for.
pub(super) struct OpenFile(Option<c_int>);

impl OpenFile {
    pub(super) fn new() -> Self {
        let is_large = |chunk: &Chunk| chunk.is_for_segments() && chunk.used() > pagemap::FEW;
        let wanted = current::mapped() && (!unit::sparse_bytes().is_empty() || chunks().any(is_large));
        Self(if wanted { names::reopen().ok() } else { None })
    }

    /// The memory at a place in it.
    pub(super) fn at(&self, offset: u64) -> Memory {
        match self.0 {
            _ if !current::mapped() => Memory::Private,
            Some(fd) => Memory::OfFile(fd, offset),
            None => Memory::OfSomeFile,
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if let Some(fd) = self.0 {
            sys::close(fd);
        }
    }
}

/// The words that lie in these bytes of a slab.
pub(super) fn words_in(bytes: &Range<usize>) -> Range<usize> {
    bytes.start / size_of::<u64>()..bytes.end / size_of::<u64>()
}

/// One slab for [`super::for_each`].
pub(super) fn pieces_of_slab(slab: *const u64, memory: Memory, act: &mut dyn FnMut(&[u8], usize)) {
    pieces(slab.cast(), unit::stride(), act, |act| for_each_part(slab, memory, act));
}

/// How many bytes there are for [`super::for_each`], of which `parts` calls with those that may not be zero, in order.
pub(super) fn pieces(
    base: *const u8,
    len: usize,
    act: &mut dyn FnMut(&[u8], usize),
    parts: impl FnOnce(&mut dyn FnMut(Range<usize>)),
) {
    let mut end = 0;
    parts(&mut |part| {
        if part.start > end {
            act(&[], part.start - end);
        }
        end = part.end;
        // SAFETY: within the memory.
        act(unsafe { slice::from_raw_parts(base.add(part.start), part.len()) }, 0);
    });
    if len > end {
        act(&[], len - end);
    }
}

/// For these new slabs the kernel does without pages that nobody has asked for.
pub(super) fn use_as_touched(slabs: *mut u8, len: usize) {
    if !unit::sparse_bytes().is_empty() {
        sys::expect_random_use(slabs, len);
    }
}

/// Room on the disk for so many slabs, but for their sparse parts.
pub fn allocate(fd: c_int, offset: u64, slabs: usize) -> sys::Result<()> {
    let (stride, sparse) = (unit::stride() as u64, unit::sparse_bytes());
    if sparse.is_empty() {
        return sys::allocate(fd, offset, slabs as u64 * stride);
    }
    for slab in (0..slabs as u64).map(|index| offset + index * stride) {
        if sparse.start > 0 {
            sys::allocate(fd, slab, sparse.start as u64)?;
        }
        sys::allocate(fd, slab + sparse.end as u64, stride - sparse.end as u64)?;
    }
    Ok(())
}

/// Empties the caches of all slabs in the file, as far as they fill pages: they count nothing, and what is not there
/// need not be written or summed up. Where the file system can't, they stay.
pub fn forget_caches() {
    let (sparse, counts) = (
        unit::sparse_bytes(),
        (unit::descriptor().counter_count as usize * size_of::<u64>()).next_multiple_of(PAGE as usize),
    );
    if !current::mapped() || counts < sparse.start || counts >= sparse.end {
        return;
    }
    let forget = |slab: *mut u64| {
        // SAFETY: pages of a slab that hold nothing but caches; empty ones are as good, whoever counts meanwhile.
        unsafe { sys::remove(slab.cast::<u8>().add(counts), sparse.end - counts) };
    };
    forget(unit::counters());
    for chunk in chunks().filter(|chunk| !chunk.is_in_memory() && !chunk.is_for_segments()) {
        let used = chunk.used() / unit::stride();
        chunk.each().take(used).for_each(forget);
    }
}

/// There is no room on the disk for what is being counted at this address: if it is in the sparse part of a
/// slab, the page becomes plain memory, and its counts are lost.
pub fn give_up_page(address: usize) -> bool {
    let sparse = unit::sparse_bytes();
    let is_in = |slab: *mut u64| sparse.contains(&address.wrapping_sub(slab as usize));
    let slabs = [unit::counters(), BEING_MAPPED.load(Relaxed)].into_iter().chain(chunks().flat_map(Chunk::each));
    if sparse.is_empty() || !slabs.filter(|slab| !slab.is_null()).any(is_in) {
        return false;
    }
    let page = (address & !(PAGE as usize - 1)) as *mut u8;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: a page of a slab.
    unsafe { sys::map(page, PAGE as usize, sys::READ_WRITE, flags, -1, 0) }.is_ok()
}

/// Pages given up become again what is in the file: from its first pages, which are always mapped, for it may have no
/// name any more that this process could open.
pub fn take_back_pages() {
    let (sparse, Some(front)) = (unit::sparse_bytes(), current::header()) else { return };
    let len = current::slabs_offset() as usize + count() as usize * unit::stride();
    // SAFETY: the file's first page; a new range.
    let Ok(file) = (unsafe { sys::map_again(front.cast(), len, ptr::null_mut()) }) else { return };
    let map = |slab: *mut u64, offset: u64| {
        let place = slab.cast::<u8>().wrapping_add(sparse.start);
        // SAFETY: from within the range to the sparse part of a slab.
        let _ = unsafe { sys::map_again(file.add(offset as usize + sparse.start), sparse.len(), place) };
    };
    map(unit::counters(), current::slabs_offset());
    for chunk in chunks().filter(|chunk| !chunk.is_in_memory()) {
        for (index, slab) in chunk.each().enumerate() {
            map(slab, chunk.offset() + (index * unit::stride()) as u64);
        }
    }
    // SAFETY: mapped above, used no more.
    unsafe { sys::unmap(file, len) };
}
