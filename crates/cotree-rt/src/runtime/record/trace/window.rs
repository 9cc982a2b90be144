//! The window of a slab, in which a thread's stream grows.
//!
//! Generated code stores a few bytes behind the cursor and then moves it. A window is emptied with signals blocked.

use super::{chunks, stack};
use crate::arch::registers::Caller;
use crate::layout::{
    Flags, TRACE_GAP, TRACE_SLACK, TRACE_WINDOW, TraceInterrupted, TraceRecord, TraceState, TraceWord,
};
use crate::runtime::file::profile;
use crate::runtime::os::{own_stack, sys};
use crate::runtime::unit;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The number of the newest stream.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// Something was written where no stream had begun.
static UNSTREAMED: AtomicBool = AtomicBool::new(false);

/// A profile begins: its streams are numbered from 1. Was anything written before that? Resolvers of ifuncs run while
/// the program is being relocated.
pub fn begin() -> bool {
    STREAMS.store(0, Relaxed);
    UNSTREAMED.swap(false, Relaxed)
}

/// A handler that has less room behind the window's beginning is not traced.
const LEAST_ROOM: u64 = 64;

/// The cursor of an empty window.
const EMPTY: u64 = (TRACE_WINDOW as i64).wrapping_neg() as u64;

/// What a signal handler interrupted, with what only the runtime has to know of it.
#[repr(C)]
struct Suspended {
    header: TraceInterrupted,
    /// The address that code had told last.
    address: u64,
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

    fn word(self, word: u64) -> &'static AtomicU64 {
        // SAFETY: one of the slab's words for the trace; slabs stay mapped.
        unsafe { &*self.0.add(word as usize).cast() }
    }

    fn cursor(self) -> &'static AtomicU64 {
        self.word(TraceWord::CURSOR)
    }

    /// The address that code told last.
    fn address(self) -> &'static AtomicU64 {
        // SAFETY: the word before those of the trace is one of the slab's own; slabs stay mapped.
        unsafe { &*self.0.sub(1).cast() }
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

    /// The bytes of the window.
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
        let state = if unit::descriptor().trace_off == 0 { TraceState::ON } else { TraceState::OFF };
        self.word(TraceWord::STATE).store(state, Relaxed);
        self.word(TraceWord::INTERRUPTED).store(0, Relaxed);
        self.set(EMPTY, STREAMS.fetch_add(1, Relaxed) + 1, 0, 0);
    }

    /// The stream that a handler interrupted, and where; zeros if none runs.
    pub fn inside(self) -> (u64, u64) {
        let Some(Suspended { header, .. }) = self.interrupted() else { return (0, 0) };
        let written = header.cursor.wrapping_sub(header.start).wrapping_sub(header.snapshot);
        (header.stream, header.position + written)
    }

    fn interrupted(self) -> Option<&'static Suspended> {
        let at = self.word(TraceWord::INTERRUPTED).load(Relaxed).checked_sub(1)?;
        // SAFETY: written by `begin_handler` in the window, at a multiple of 8; it stays there while the handler runs.
        Some(unsafe { &*self.byte(EMPTY.wrapping_add(at)).cast() })
    }

    /// Does a signal handler run?
    pub fn is_in_handler(self) -> bool {
        self.interrupted().is_some()
    }

    /// A signal handler begins, whose frame this is: what it writes is a stream of its own. The code that it
    /// interrupted may have loaded the cursor, and have written behind it; so all stays as it is up to there.
    pub fn begin_handler(self, frame: u64) {
        const HEADER: u64 = size_of::<Suspended>() as u64;
        let signals = sys::set_signal_mask(u64::MAX);
        let cursor = self.cursor().load(Relaxed);
        let at = cursor.wrapping_sub(EMPTY).wrapping_add(TRACE_GAP).next_multiple_of(8);
        if self.stream() != 0 && self.state() == TraceState::ON {
            if at + HEADER + LEAST_ROOM > TRACE_WINDOW + TRACE_SLACK {
                // Handlers that interrupt each other, a hundred deep.
                self.lose();
            } else {
                let load = |word| self.word(word).load(Relaxed);
                let header = TraceInterrupted {
                    cursor,
                    position: load(TraceWord::POSITION),
                    stream: load(TraceWord::STREAM),
                    start: load(TraceWord::START),
                    snapshot: load(TraceWord::SNAPSHOT),
                    interrupted: load(TraceWord::INTERRUPTED),
                    frame,
                };
                let address = self.address().load(Relaxed);
                // SAFETY: room in the window behind the cursor, aligned as the window is.
                unsafe { self.byte(EMPTY.wrapping_add(at)).cast::<Suspended>().write(Suspended { header, address }) };
                self.word(TraceWord::INTERRUPTED).store(at + 1, Relaxed);
                self.set(EMPTY.wrapping_add(at + HEADER), STREAMS.fetch_add(1, Relaxed) + 1, 0, 0);
            }
        }
        sys::set_signal_mask(signals);
    }

    /// The handler with that frame is over: it has returned, or was left for good.
    pub fn end_handler(self, frame: u64) {
        let signals = sys::set_signal_mask(u64::MAX);
        if let Some(Suspended { header, address }) = self.interrupted().filter(|outer| outer.header.frame == frame) {
            self.empty(None);
            self.word(TraceWord::INTERRUPTED).store(header.interrupted, Relaxed);
            self.set(header.start, header.stream, header.position, header.snapshot);
            self.cursor().store(header.cursor, Relaxed);
            self.address().store(*address, Relaxed);
        }
        sys::set_signal_mask(signals);
    }

    /// The window belongs to that stream, and is empty.
    fn set(self, start: u64, stream: u64, position: u64, snapshot: u64) {
        self.word(TraceWord::POSITION).store(position, Relaxed);
        self.begin_snapshot(snapshot);
        self.word(TraceWord::STREAM).store(stream, Relaxed);
        self.word(TraceWord::START).store(start, Relaxed);
        self.address().store(0, Relaxed);
        self.cursor().store(start, Relaxed);
    }

    /// The thread was interrupted outside of calls, and does not go on: records of the runtime follow.
    pub fn interrupt(self) {
        own_stack::run(|| self.move_out(true));
    }

    /// The thread records again; false if it does so already, or can't.
    pub fn switch_on(self) -> bool {
        let off = self.stream() != 0 && self.state() == TraceState::OFF;
        if off {
            self.cursor().store(self.start(), Relaxed);
            self.word(TraceWord::STATE).store(TraceState::ON, Relaxed);
            if self.position() == 0 {
                self.append(&[TraceRecord::SWITCHED_OFF]);
            }
        }
        off
    }

    /// The thread records no more. What code still writes goes nowhere.
    pub fn switch_off(self) {
        if self.stream() != 0 && self.state() == TraceState::ON {
            self.append(&[TraceRecord::SWITCHED_OFF]);
            self.empty(None);
            self.word(TraceWord::STATE).store(TraceState::OFF, Relaxed);
            profile::flag(Flags::TRACE_PAUSED);
        }
    }

    /// What follows can't be told.
    pub fn lose(self) {
        if self.stream() != 0 && self.state() == TraceState::ON {
            self.empty(None);
            self.word(TraceWord::STATE).store(TraceState::LOST, Relaxed);
            profile::flag(Flags::TRACE_LOST);
        }
    }

    /// Empties it if it is full. Generated code that found it so says where it is.
    pub fn is_full(self, at: Option<(u64, &Caller)>) {
        if self.cursor().load(Relaxed).cast_signed() >= 0 {
            self.empty(at);
        }
    }

    /// Moves its bytes into a chunk. Killed in between, both have them. In a ring the fresh window begins with the
    /// stack, if it is known where the thread is.
    pub fn empty(self, at: Option<(u64, &Caller)>) {
        own_stack::run(|| {
            self.move_out(false);
            if let Some((place, caller)) = at
                && self.state() == TraceState::ON
                && self.interrupted().is_none()
                && chunks::are_in_ring()
            {
                stack::append(self, place, caller);
            }
        });
    }

    /// Moves the window out with signals blocked, and without the stack. `interrupted`: what comes next is no code's.
    fn move_out(self, interrupted: bool) {
        let len = self.len();
        if self.stream() == 0 {
            if len > 0 {
                UNSTREAMED.store(true, Relaxed);
            }
            self.word(TraceWord::START).store(EMPTY, Relaxed);
        }
        let keep = self.stream() != 0 && self.state() == TraceState::ON && profile::active();
        if keep && (len > 0 || interrupted) && chunks::add(self, interrupted).is_err() {
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
    }

    /// Appends a record of a few bytes. The next address that code tells is told as it is.
    #[inline(never)]
    pub fn append(self, record: &[u8]) {
        if self.stream() == 0 || self.state() != TraceState::ON {
            return;
        }
        self.address().store(0, Relaxed);
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
