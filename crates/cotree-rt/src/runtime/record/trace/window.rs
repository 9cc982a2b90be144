//! The window of a slab, in which a thread's stream grows.
//!
//! Generated code stores a few bytes behind the cursor and then moves it. A window is emptied with signals blocked.

use super::{chunks, stack};
use crate::layout::{Flags, TRACE_SLACK, TRACE_WINDOW, TraceState, TraceWord};
use crate::runtime::file::profile;
use crate::runtime::hooks::linkage::Caller;
use crate::runtime::os::sys;
use crate::runtime::unit;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of the newest stream.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// A profile begins: its streams are numbered from 1.
pub fn begin() {
    STREAMS.store(0, Relaxed);
}

/// The cursor of an empty window.
const EMPTY: u64 = (TRACE_WINDOW as i64).wrapping_neg() as u64;

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

    fn word(self, word: u64) -> &'static AtomicU64 {
        // SAFETY: one of the slab's words for the trace; slabs stay mapped.
        unsafe { &*self.0.add(word as usize).cast() }
    }

    fn cursor(self) -> &'static AtomicU64 {
        self.word(TraceWord::CURSOR)
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

    /// So many bytes will tell the stack, from the beginning of the window on.
    pub fn begin_snapshot(self, bytes: u64) {
        self.word(TraceWord::SNAPSHOT).store(bytes, Relaxed);
    }

    fn state(self) -> u64 {
        self.word(TraceWord::STATE).load(Relaxed)
    }

    /// Where the byte at this distance from the window's end is.
    fn byte(self, cursor: u64) -> *mut u8 {
        let window = self.0.cast::<u8>();
        window.wrapping_add((TraceWord::WINDOW * 8 + TRACE_WINDOW) as usize).wrapping_offset(cursor as isize)
    }

    fn start(self) -> u64 {
        self.word(TraceWord::START).load(Relaxed)
    }

    /// How many bytes are in it. A thread that the runtime does not know may have moved the cursor out of it.
    fn len(self) -> usize {
        let most = TRACE_SLACK.wrapping_sub(self.start());
        self.cursor().load(Relaxed).wrapping_sub(self.start()).min(most) as usize
    }

    /// Its bytes.
    pub fn bytes(self) -> &'static [u8] {
        // SAFETY: window and slack are bytes of the slab, which stays mapped; only this thread writes there.
        unsafe { core::slice::from_raw_parts(self.byte(self.start()), self.len()) }
    }

    /// A thread without a stream has written here: it has the slab from its creator, or nobody told us of it.
    pub fn is_used_without_stream(self) -> bool {
        self.stream() == 0 && self.cursor().load(Relaxed) != 0
    }

    /// The window belongs to a new stream, which is empty.
    pub fn begin_stream(self) {
        self.word(TraceWord::POSITION).store(0, Relaxed);
        self.word(TraceWord::STATE).store(TraceState::ON, Relaxed);
        self.begin_snapshot(0);
        self.word(TraceWord::STREAM).store(STREAMS.fetch_add(1, Relaxed) + 1, Relaxed);
        self.word(TraceWord::START).store(EMPTY, Relaxed);
        self.cursor().store(EMPTY, Relaxed);
    }

    /// Empties it if it is full. Generated code that found it so says where it is.
    pub fn is_full(self, at: Option<(u64, &Caller)>) {
        if self.cursor().load(Relaxed).cast_signed() >= 0 {
            self.empty(at);
        }
    }

    /// Moves its bytes into a chunk. Killed in between, both have them. In a ring the fresh window begins with the stack, if
    /// it is known where the thread is.
    pub fn empty(self, at: Option<(u64, &Caller)>) {
        let signals = sys::set_signal_mask(u64::MAX);
        let len = self.len();
        if self.stream() == 0 {
            self.word(TraceWord::START).store(EMPTY, Relaxed);
        }
        let keep = self.stream() != 0 && self.state() == TraceState::ON && profile::active();
        if keep && len > 0 && chunks::add(self).is_err() {
            self.word(TraceWord::STATE).store(TraceState::CUT, Relaxed);
            profile::flag(Flags::TRACE_CUT);
            self.cursor().store(self.start(), Relaxed);
        } else {
            // In this order: a reader who finds the new cursor and the old position takes the window for empty.
            self.cursor().store(self.start(), Relaxed);
            if keep {
                self.word(TraceWord::POSITION).fetch_add((len as u64).saturating_sub(self.snapshot()), Relaxed);
            }
        }
        self.begin_snapshot(0);
        if let Some((place, caller)) = at
            && self.state() == TraceState::ON
            && chunks::are_in_ring()
        {
            stack::append(self, place, caller);
        }
        sys::set_signal_mask(signals);
    }

    /// Appends a record of a few bytes.
    #[inline(never)]
    pub fn append(self, record: &[u8]) {
        if self.stream() == 0 || self.state() != TraceState::ON {
            return;
        }
        let at = self.cursor().fetch_add(record.len() as u64, Relaxed);
        if at.cast_signed() <= (TRACE_SLACK as usize - record.len()) as i64 {
            // SAFETY: within window and slack.
            unsafe { ptr::copy_nonoverlapping(record.as_ptr(), self.byte(at), record.len()) };
        }
        self.is_full(None);
    }

    /// Appends what happens to a frame.
    pub fn append_frame(self, code: u8, frame: u64) {
        let mut record = [code; 9];
        record[1..].copy_from_slice(&frame.to_le_bytes());
        self.append(&record);
    }
}
