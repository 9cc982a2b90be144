//! Segments hold what a raw profile has besides counters and early exits. The runtime adds them while the program runs,
//! as many as needed.
//!
//! A segment is of a *kind*, which says what its entries are. It lies on whole pages behind slab 0, anywhere among the
//! slabs, and is linked to the segment that was added before it, whatever that one's kind. It never moves, and the
//! fields that readers find it by are written before it is linked. So it can be read at any moment: while the program
//! runs, and after it was killed.

use super::PAGE;
#[cfg(doc)]
use super::{PathBucket, RawHeader, StackEntry, TraceChunk};

/// First bytes of a segment.
pub const SEGMENT_MAGIC: [u8; 8] = *b"COTSEGMT";

/// Values of [`SegmentHeader::kind`]. Readers refuse a file with a kind that they do not know.
pub struct SegmentKind;
impl SegmentKind {
    /// A hash table of [`PathBucket`]s.
    pub const PATHS: u32 = 1;
    /// Words that hold [`TraceChunk`]s, one behind the other: each with its bytes, in whole words. The bytes may be
    /// compressed, in LZ4's block format: then fewer are stored than the chunk holds.
    pub const TRACE: u32 = 2;
    /// Places of [`TraceChunk`]s, each with its bytes: a ring. The chunk of number *n* (from 1) is in place (*n* − 1)
    /// modulo their number.
    pub const TRACE_RING: u32 = 3;
    /// [`StackEntry`]s, one behind the other: the stack of the thread that ended the process, or copied its profile.
    /// There is one segment at most.
    pub const STACK: u32 = 4;
}

/// Before the entries of a segment, on a page boundary.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct SegmentHeader {
    /// [`SEGMENT_MAGIC`].
    pub magic: [u8; 8],
    /// One of [`SegmentKind`].
    pub kind: u32,
    /// Bytes of an entry.
    pub entry_size: u32,
    /// How many entries follow.
    pub capacity: u64,
    /// File offset of the segment that was added before this one; 0: none was.
    pub next: u64,
    /// Entries in use. In a hash table this is about right; where entries are appended one after the other, it is how
    /// many of them are complete.
    pub used: u64,
    /// File offset of the slab of the threads that fill the segment, one after the other; 0: of no thread in
    /// particular.
    pub owner: u64,
    /// File offset of the segment itself; 0: it is in memory.
    pub offset: u64,
    /// In a ring, how many streams have come to it, each with its first bytes. Else zero.
    pub streams: u64,
}
const _: () = assert!(core::mem::size_of::<SegmentHeader>() == 64);

/// Bytes of a segment with its header, in whole pages.
#[must_use]
pub const fn segment_size(entry_size: u32, capacity: u64) -> u64 {
    (core::mem::size_of::<SegmentHeader>() as u64 + entry_size as u64 * capacity).next_multiple_of(PAGE)
}
