//! Segments of the profile ([`crate::layout::SegmentHeader`]): typed room that a thread asks for while the
//! program runs.
//!
//! To add one takes the lock of the slabs, with signals blocked. What is in it is filled without a lock, also by signal
//! handlers: where its entries are appended, by counting up [`Segment::used`] behind them.

use super::chunks::Chunk;
use super::chunks::{chunks, offset_of};
use super::growth::{add_behind, grow};
use crate::layout::{PAGE, SEGMENT_MAGIC, SegmentHeader, segment_size};
use crate::runtime::file::current;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::unit;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Acquire};

/// What is in a segment.
#[derive(Clone, Copy)]
pub struct SegmentType {
    /// One of [`crate::layout::SegmentKind`].
    pub number: u32,
    /// Bytes of an entry.
    pub entry_size: u32,
}

impl SegmentType {
    /// Bytes of a segment with so many entries.
    pub const fn size(self, capacity: u64) -> usize {
        segment_size(self.entry_size, capacity) as usize
    }

    /// How many entries a segment of so many bytes has.
    pub const fn capacity(self, size: usize) -> usize {
        size.saturating_sub(size_of::<SegmentHeader>()) / self.entry_size as usize
    }
}

/// A segment in memory. Memory that has been taken away in the meantime is zeros: it has no entries.
#[derive(Clone, Copy)]
pub struct Segment(*mut SegmentHeader);

impl Segment {
    /// The segment whose address the word holds.
    pub fn at(word: &AtomicU64) -> Option<Self> {
        let address = word.load(Acquire) as *mut SegmentHeader;
        (!address.is_null()).then_some(Self(address))
    }

    /// The address of the segment.
    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// Entries in use.
    pub fn used(self) -> &'static AtomicU64 {
        // SAFETY: segments stay mapped, and the field is an aligned u64.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.0).used) }
    }

    /// Streams that have come to a ring.
    pub fn streams(self) -> &'static AtomicU64 {
        // SAFETY: segments stay mapped, and the field is an aligned u64.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.0).streams) }
    }

    /// How many entries it has.
    pub fn capacity(self) -> u64 {
        // SAFETY: segments stay mapped.
        unsafe { (*self.0).capacity }
    }

    fn kind(self) -> SegmentType {
        // SAFETY: segments stay mapped.
        unsafe { SegmentType { number: (*self.0).kind, entry_size: (*self.0).entry_size } }
    }

    /// Where its entries begin.
    pub fn first_entry(self) -> *mut u8 {
        self.0.wrapping_add(1).cast()
    }

    /// The entries of the segment.
    ///
    /// # Safety
    /// The entries must be of that type, which threads and signal handlers may share.
    pub unsafe fn entries<T>(self) -> &'static [T] {
        // SAFETY: so many entries follow the header, as `create` made it.
        unsafe { core::slice::from_raw_parts(self.0.add(1).cast(), self.capacity() as usize) }
    }

    /// Makes a segment of zeroed memory that is at this offset of a file, or 0.
    ///
    /// # Safety
    /// Room for it on a page boundary, which no one else uses, and which stays mapped as long as the segment is used.
    unsafe fn create(base: *mut u8, kind: SegmentType, capacity: u64, owner: u64, offset: u64, next: u64) -> Self {
        let SegmentType { number: kind, entry_size } = kind;
        let magic = SEGMENT_MAGIC;
        let header = base.cast::<SegmentHeader>();
        // SAFETY: the caller's promise.
        unsafe {
            header.write(SegmentHeader { magic, kind, entry_size, capacity, next, used: 0, owner, offset, streams: 0 });
        }
        Self(header)
    }
}

/// Adds a segment for the threads of a slab: to the list of the profile, unless the file can't grow. The caller holds
/// the lock.
pub fn add(kind: SegmentType, capacity: u64, slab: *const u64) -> sys::Result<Segment> {
    let room = take_room(kind.size(capacity), Storage::Anywhere)?;
    Ok(link(room, kind, capacity, offset_of(slab)))
}

/// Adds a segment for no thread in particular, in the file or nowhere. The caller holds the lock.
pub fn add_in_file(kind: SegmentType, capacity: u64) -> sys::Result<Segment> {
    let room = take_room(kind.size(capacity), Storage::InFile)?;
    Ok(link(room, kind, capacity, 0))
}

fn link((base, offset): (*mut u8, u64), kind: SegmentType, capacity: u64, owner: u64) -> Segment {
    let next = if offset == 0 { 0 } else { current::segment_head() };
    // SAFETY: fresh zeroed memory, as large as that, ours alone.
    let segment = unsafe { Segment::create(base, kind, capacity, owner, offset, next) };
    if offset != 0 {
        current::set_segment_head(offset);
    }
    segment
}

/// Makes a segment in the room at an offset of a copy of the profile, and puts it in front of the copy's list.
///
/// # Safety
/// The copy must have zeroed room for it there, on a page boundary, and must stay mapped as long as the segment is
/// used.
pub unsafe fn add_to_copy(copy: *mut u8, offset: u64, kind: SegmentType, capacity: u64, head: &mut u64) -> Segment {
    // SAFETY: the caller's promise.
    let segment = unsafe { Segment::create(copy.add(offset as usize), kind, capacity, 0, offset, *head) };
    *head = offset;
    segment
}

/// The newest segment of a kind in a copy of the profile, by the offset of the newest one of all.
///
/// # Safety
/// The copy must hold the whole list, and stay mapped as long as the segment is used.
pub unsafe fn newest_in_copy(copy: *mut u8, head: u64, kind: SegmentType) -> Option<Segment> {
    let mut at = head;
    while at != 0 {
        // SAFETY: the caller's promise.
        let segment = unsafe { Segment(copy.add(at as usize).cast()) };
        if segment.kind().number == kind.number {
            return Some(segment);
        }
        // SAFETY: as above.
        at = unsafe { (*segment.0).next };
    }
    None
}

/// Calls for every segment of a kind in such a place.
pub fn for_each(kind: SegmentType, storage: Storage, act: &mut dyn FnMut(Segment)) {
    for chunk in chunks().filter(|chunk| chunk.is_for_segments() && storage.holds(chunk)) {
        let (base, used) = (chunk.base(), chunk.used());
        let mut at = 0;
        // They lie one after the other.
        while at + size_of::<SegmentHeader>() <= used {
            // SAFETY: within the chunk's own memory, page-aligned.
            let segment = unsafe { Segment(base.add(at).cast()) };
            // SAFETY: as above.
            if unsafe { (*segment.0).magic } != SEGMENT_MAGIC {
                break;
            }
            if segment.kind().number == kind.number {
                act(segment);
            }
            at += segment.kind().size(segment.capacity());
        }
    }
}

/// Where room may be, or be looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    Anywhere,
    InFile,
    /// In plain memory, since the file can't grow.
    InMemory,
}

impl Storage {
    fn holds(self, chunk: &Chunk) -> bool {
        match self {
            Self::Anywhere => true,
            Self::InFile => !chunk.is_in_memory(),
            Self::InMemory => chunk.is_in_memory(),
        }
    }
}

/// Zeroed room for a segment, with its place in the file (0: not in the file). The caller holds the lock.
fn take_room(bytes: usize, storage: Storage) -> sys::Result<(*mut u8, u64)> {
    let bytes = bytes.next_multiple_of(PAGE as usize);
    if let Some(room) = chunks().filter(|c| c.is_for_segments() && storage.holds(c)).find_map(|c| c.take(bytes)) {
        return Ok(room);
    }
    let chunk = grow(bytes, true)?;
    storage.holds(chunk).then(|| chunk.take(bytes)).flatten().ok_or(Errno(libc::ENOMEM))
}

/// Room for the first segment, in a new file that is still open.
pub fn make_first_room(fd: c_int, bytes: usize) -> sys::Result<()> {
    let bytes = bytes.next_multiple_of(PAGE as usize);
    add_behind(fd, bytes.div_ceil(unit::stride()), bytes, true).map(|_| ())
}
