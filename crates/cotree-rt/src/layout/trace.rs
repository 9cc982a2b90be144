//! Traces: what each thread did, as a stream of bytes in the order in which it happened.
//!
//! Generated code writes to a *window* of the thread's slab. When the window is full, the runtime moves its bytes into
//! a [`TraceChunk`] of a segment, and the thread begins with an empty window. So a stream is the bytes of its chunks in
//! the order of their positions, and after them what is in the window. This holds at any moment: a chunk counts once it
//! has a sequence number, and where chunk and window overlap they agree.
//!
//! What the bytes mean is between the plan of the unit and its readers, but for the [`TraceRecord`]s that the runtime
//! adds.

/// Words of a slab that belong to the trace, from [`super::UnitDescriptor::trace_word`] on. The two words before them
/// are of generated code: the byte that it adds bits to, which the runtime sets to 0 when it appends a record itself or
/// moves the window out, and the address that was told last, which it sets to 0 when it appends a record.
pub struct TraceWord;
impl TraceWord {
    /// Where the next byte goes: its distance from the window's end, so negative while there is room. 0 in a slab that
    /// no stream has begun in.
    pub const CURSOR: u64 = 0;
    /// The position in the stream of the window's first byte.
    pub const POSITION: u64 = 1;
    /// The stream's number in the process, from 1; 0: none has begun.
    pub const STREAM: u64 = 2;
    /// One of [`TraceState`].
    pub const STATE: u64 = 3;
    /// The runtime's: the address of the segment that the thread appends to.
    pub const SEGMENT: u64 = 4;
    /// The window's first byte, as [`Self::CURSOR`].
    pub const START: u64 = 5;
    /// How many bytes at the beginning of the window tell the stack: they are no part of the stream. While there are
    /// fewer, the window means nothing.
    pub const SNAPSHOT: u64 = 6;
    /// If a signal handler runs: 1 + the distance of a [`TraceInterrupted`] from the window's beginning, in bytes; what
    /// is in the window from [`Self::START`] on belongs to the handler's stream. Else 0.
    pub const INTERRUPTED: u64 = 7;
    /// The first word of the window.
    pub const WINDOW: u64 = 8;
    /// How many there are, with the slack behind the window.
    pub const COUNT: u64 = Self::WINDOW + (TRACE_WINDOW + TRACE_SLACK) / 8;
}

/// Bytes of a window that nobody was interrupted in.
pub const TRACE_WINDOW: u64 = 1 << 16;

/// Bytes behind it, which a record may reach into: it is written before anyone looks whether the window is full. Signal
/// handlers may come in between.
pub const TRACE_SLACK: u64 = 1 << 12;

/// Values of [`TraceWord::STATE`].
pub struct TraceState;
impl TraceState {
    /// The window belongs to the stream.
    pub const ON: u64 = 0;
    /// Nothing is recorded now; the window means nothing.
    pub const OFF: u64 = 1;
    /// There was no room for a chunk: the stream ends at [`TraceWord::POSITION`], and the window means nothing.
    pub const CUT: u64 = 2;
    /// What follows can't be told: the stream ends at [`TraceWord::POSITION`], and the window means nothing.
    pub const LOST: u64 = 3;
}

/// What a signal handler interrupted, in the window in front of what it writes itself: words of the slab as they were.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct TraceInterrupted {
    /// [`TraceWord::CURSOR`].
    pub cursor: u64,
    /// [`TraceWord::POSITION`].
    pub position: u64,
    /// [`TraceWord::STREAM`].
    pub stream: u64,
    /// [`TraceWord::START`].
    pub start: u64,
    /// [`TraceWord::SNAPSHOT`].
    pub snapshot: u64,
    /// [`TraceWord::INTERRUPTED`].
    pub interrupted: u64,
    /// The address of the handler's frame.
    pub frame: u64,
}

/// Behind the cursor of who is interrupted so many bytes may have been written already.
pub const TRACE_GAP: u64 = 16;

/// Before the bytes of a chunk.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct TraceChunk {
    /// The chunk's number in the process, from 1; written last. 0: the chunk is not complete. In a ring [`Self::BUSY`]:
    /// it is being written.
    pub sequence: u64,
    /// The stream.
    pub stream: u64,
    /// Where in the stream its bytes begin.
    pub position: u64,
    /// How many bytes it holds.
    pub length: u32,
    /// How many bytes follow here: fewer if they are compressed ([`super::SegmentKind::TRACE`]).
    pub stored: u32,
    /// How many of its bytes, the first ones, tell the stack ([`TraceRecord::STARTED`]) and are no part of the stream.
    pub snapshot: u32,
    /// 1: the thread was interrupted behind these bytes and did not go on: what comes next is a record of the runtime,
    /// whatever the code would have written.
    pub interrupted: u32,
    /// The stream that was interrupted, for the stream of a signal handler. Else 0.
    pub inside: u64,
    /// Where in that stream.
    pub inside_at: u64,
}
const _: () = assert!(core::mem::size_of::<TraceChunk>() == 56);

impl TraceChunk {
    /// See [`Self::sequence`].
    pub const BUSY: u64 = u64::MAX;
    /// Bytes of a place in a ring: a chunk with a whole window.
    pub const PLACE: u64 = core::mem::size_of::<Self>() as u64 + TRACE_WINDOW + TRACE_SLACK;

    /// Words of an entry of a segment that a thread appends chunks to: with its bytes, in whole words.
    #[must_use]
    pub const fn words(stored: u64) -> u64 {
        (core::mem::size_of::<Self>() as u64 + stored).div_ceil(8)
    }
}

/// The first bytes of what the runtime itself writes into a stream; fields follow, of which frames are `u64`: as
/// [`super::EarlyEntry::address`], with its tags.
pub struct TraceRecord;
impl TraceRecord {
    /// A frame ends without a return.
    pub const UNWOUND: u8 = 2;
    /// The thread or the process ends here, but for what destructors do, for a reason (`u8`). A frame may come back to
    /// life behind it.
    pub const ENDED: u8 = 3;
    /// The stack at this moment: where the innermost function is (`u64`, see [`TracePlace`]), how many frames follow
    /// (`u32`), and the frames, innermost first.
    pub const STARTED: u8 = 5;
    /// The thread stops recording.
    pub const SWITCHED_OFF: u8 = 6;
    /// The thread records again.
    pub const SWITCHED_ON: u8 = 7;
    /// A frame comes to life without a call: where `setjmp` returns once more, in a forked child, or when an ending is
    /// taken back. Of several in a row the innermost is first.
    pub const REVIVED: u8 = 9;
}

/// Where a function is that has just written a token: the number of the function, and the place of the probe. Such a
/// function is not in a call. The innermost frame of the stack is then the machine function that holds it: of its
/// chain, only the links around the function are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePlace {
    /// The function.
    pub function: u32,
    /// What kind of place it is, below 8: by the order of the probe language's places.
    pub kind: u8,
    /// The block, edge or call, below [`Self::MOST`].
    pub index: u32,
}

impl TracePlace {
    /// Instead of a place: all functions of the stack are in calls.
    pub const NONE: u64 = u64::MAX;
    /// Blocks, edges and calls have smaller numbers.
    pub const MOST: u32 = 1 << 29;

    /// As in the stream.
    #[must_use]
    pub const fn pack(self) -> u64 {
        (self.function as u64) << 32 | (self.kind as u64) << 29 | self.index as u64
    }

    /// From the stream.
    #[must_use]
    pub const fn unpack(packed: u64) -> Option<Self> {
        if packed == Self::NONE {
            return None;
        }
        let low = packed as u32;
        Some(Self { function: (packed >> 32) as u32, kind: (low >> 29) as u8, index: low & (Self::MOST - 1) })
    }
}

/// In the number of frames of [`TraceRecord::STARTED`]: the stack has more frames outside of these, or may have.
pub const TRACE_STACK_CUT: u32 = 1 << 31;
