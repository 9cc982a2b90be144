//! The window of a slab, in which a thread's stream grows.
//!
//! Generated code stores a few bytes behind the cursor and then moves it. A window is emptied with signals blocked.

use crate::layout::{TRACE_SLACK, TRACE_WINDOW, TraceInterrupted, TraceWord};
use crate::runtime::unit;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The cursor of an empty window.
pub(super) const EMPTY: u64 = (TRACE_WINDOW as i64).wrapping_neg() as u64;

/// What a signal handler interrupted, with what only the runtime has to know of it.
#[repr(C)]
pub(super) struct Suspended {
    pub(super) header: TraceInterrupted,
    /// The address that code had told last.
    pub(super) address: u64,
}

/// A window, by the first of the trace's words of its slab.
#[derive(Clone, Copy)]
pub struct Window(*mut u64);

impl Window {
    /// That of a slab of this unit, if it is traced.
    #[inline(always)]
    pub fn of(slab: *mut u64) -> Option<Self> {
        let word = unit::descriptor().trace_word as usize;
        // SAFETY: a word of the slab.
        (word != 0).then(|| Self(unsafe { slab.add(word) }))
    }

    /// That of this thread.
    #[inline(always)]
    pub fn own() -> Option<Self> {
        if unit::descriptor().trace_word == 0 { None } else { Self::of(unit::own_slab()) }
    }

    pub(super) fn word(self, word: u64) -> &'static AtomicU64 {
        // SAFETY: one of the slab's words for the trace; slabs stay mapped.
        unsafe { &*self.0.add(word as usize).cast() }
    }

    pub(super) fn cursor(self) -> &'static AtomicU64 {
        self.word(TraceWord::CURSOR)
    }

    /// The address that code told last.
    pub(super) fn address(self) -> &'static AtomicU64 {
        // SAFETY: the word before those of the trace is one of the slab's own; slabs stay mapped.
        unsafe { &*self.0.sub(1).cast() }
    }

    /// Which byte code adds bits to, as the cursor says where the next one goes; 0: none, and it begins a new one. A
    /// byte says how many bits it has come to, so whoever writes or moves bytes may close it.
    pub(super) fn open_byte(self) -> &'static AtomicU64 {
        // SAFETY: the second word before those of the trace is one of the slab's own; slabs stay mapped.
        unsafe { &*self.0.sub(2).cast() }
    }

    /// The stream that the window belongs to.
    pub fn stream(self) -> u64 {
        self.word(TraceWord::STREAM).load(Relaxed)
    }

    /// The address of the segment that the thread appends to.
    pub fn segment(self) -> &'static AtomicU64 {
        self.word(TraceWord::SEGMENT)
    }

    /// The position in the stream of the first byte of the window.
    pub fn position(self) -> u64 {
        self.word(TraceWord::POSITION).load(Relaxed)
    }

    /// How many bytes of the window tell the stack.
    pub fn snapshot(self) -> u64 {
        self.word(TraceWord::SNAPSHOT).load(Relaxed)
    }

    /// Notes that `bytes` bytes from the beginning of the window on tell the stack.
    pub fn begin_snapshot(self, bytes: u64) {
        self.word(TraceWord::SNAPSHOT).store(bytes, Relaxed);
    }

    pub(super) fn state(self) -> u64 {
        self.word(TraceWord::STATE).load(Relaxed)
    }

    /// Where the byte at this distance from the window's end is.
    pub(super) fn byte(self, cursor: u64) -> *mut u8 {
        let window = self.0.cast::<u8>();
        window.wrapping_add((TraceWord::WINDOW * 8 + TRACE_WINDOW) as usize).wrapping_offset(cursor as isize)
    }

    pub(super) fn start(self) -> u64 {
        self.word(TraceWord::START).load(Relaxed)
    }

    /// How many bytes are in it. A thread that the runtime does not know may have moved the cursor out of it.
    pub(super) fn len(self) -> usize {
        let most = TRACE_SLACK.wrapping_sub(self.start());
        self.cursor().load(Relaxed).wrapping_sub(self.start()).min(most) as usize
    }

    /// The bytes of the window.
    pub fn bytes(self) -> &'static [u8] {
        // SAFETY: window and slack are bytes of the slab, which stays mapped; only this thread writes there.
        unsafe { core::slice::from_raw_parts(self.byte(self.start()), self.len()) }
    }

    /// A thread without a stream has written here: it has the slab from its creator, or nobody told us of it.
    pub fn is_used_without_stream(self) -> bool {
        self.stream() == 0 && self.cursor().load(Relaxed) != 0
    }

    /// The stream that a handler interrupted, and where; zeros if none runs.
    pub fn inside(self) -> (u64, u64) {
        let Some(Suspended { header, .. }) = self.interrupted() else { return (0, 0) };
        let written = header.cursor.wrapping_sub(header.start).wrapping_sub(header.snapshot);
        (header.stream, header.position + written)
    }

    pub(super) fn interrupted(self) -> Option<&'static Suspended> {
        let at = self.word(TraceWord::INTERRUPTED).load(Relaxed).checked_sub(1)?;
        // SAFETY: written by `begin_handler` in the window, at a multiple of 8; it stays there while the handler runs.
        Some(unsafe { &*self.byte(EMPTY.wrapping_add(at)).cast() })
    }

    /// Does a signal handler run?
    pub fn is_in_handler(self) -> bool {
        self.interrupted().is_some()
    }

    /// The window belongs to that stream, and is empty.
    pub(super) fn set(self, start: u64, stream: u64, position: u64, snapshot: u64) {
        self.word(TraceWord::POSITION).store(position, Relaxed);
        self.begin_snapshot(snapshot);
        self.word(TraceWord::STREAM).store(stream, Relaxed);
        self.word(TraceWord::START).store(start, Relaxed);
        self.address().store(0, Relaxed);
        self.open_byte().store(0, Relaxed);
        self.cursor().store(start, Relaxed);
    }
}
