//! How the stream of a thread grows in its window, which moves into a chunk when it is full, and how it is told the
//! stack of the thread, so that it can be read from there on.

use super::chunks;
use super::window::{EMPTY, Suspended, Window};
use crate::arch::registers::Caller;
use crate::layout::{
    Flags, TRACE_GAP, TRACE_SLACK, TRACE_STACK_CUT, TRACE_WINDOW, TraceInterrupted, TracePlace, TraceRecord,
    TraceState, TraceWord,
};
use crate::runtime::file::current;
use crate::runtime::os::{own_stack, sys};
use crate::runtime::stack::walk::{Frame, Walk};
use crate::runtime::unit::{self, Image};
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

impl Window {
    /// The window belongs to a new stream, which is empty.
    pub fn begin_stream(self) {
        let state = if unit::descriptor().trace_off == 0 { TraceState::ON } else { TraceState::OFF };
        self.word(TraceWord::STATE).store(state, Relaxed);
        self.word(TraceWord::INTERRUPTED).store(0, Relaxed);
        self.set(EMPTY, STREAMS.fetch_add(1, Relaxed) + 1, 0, 0);
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

    /// The thread was interrupted outside of calls, and does not go on: records of the runtime follow.
    pub fn interrupt(self) {
        own_stack::run(|| self.move_out(true));
    }

    /// The thread records again; false if it does so already, or can't.
    pub fn switch_on(self) -> bool {
        let off = self.stream() != 0 && self.state() == TraceState::OFF;
        if off {
            self.open_byte().store(0, Relaxed);
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
            current::flag(Flags::TRACE_PAUSED);
        }
    }

    /// What follows can't be told.
    pub fn lose(self) {
        if self.stream() != 0 && self.state() == TraceState::ON {
            self.empty(None);
            self.word(TraceWord::STATE).store(TraceState::LOST, Relaxed);
            current::flag(Flags::TRACE_LOST);
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
                tell_stack(self, place, caller);
            }
        });
    }

    /// Moves the window out with signals blocked, and without the stack. `interrupted`: what comes next is no code's.
    fn move_out(self, interrupted: bool) {
        let len = self.len();
        self.open_byte().store(0, Relaxed);
        if self.stream() == 0 {
            if len > 0 {
                UNSTREAMED.store(true, Relaxed);
            }
            self.word(TraceWord::START).store(EMPTY, Relaxed);
        }
        let keep = self.stream() != 0 && self.state() == TraceState::ON && current::active();
        if keep && (len > 0 || interrupted) && chunks::add(self, interrupted).is_err() {
            self.word(TraceWord::STATE).store(TraceState::CUT, Relaxed);
            current::flag(Flags::TRACE_CUT);
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
        self.open_byte().store(0, Relaxed);
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

/// The most frames that are told: they take up a part of the window.
const MOST: u32 = 1000;

/// Begins the window with the stack. The innermost function is at the place, and called from there.
fn tell_stack(window: Window, place: u64, caller: &Caller) {
    tell(window, place, caller, |bytes| window.begin_snapshot(bytes));
}

/// Appends the stack as a part of the stream. All functions are in calls.
pub fn append_stack(window: Window, caller: &Caller) {
    tell(window, TracePlace::NONE, caller, |_| ());
}

fn tell(window: Window, place: u64, caller: &Caller, begin: impl FnOnce(u64)) {
    let image = Image::get();
    let address = |frame: Frame| {
        let (pc, tag) = frame.key();
        image.link_address(pc).map(|address| address | tag)
    };
    let mut walk = Walk::new(caller);
    let count = walk.by_ref().filter_map(address).count() as u32;
    let cut = if count > MOST || !walk.is_complete() { TRACE_STACK_CUT } else { 0 };
    let told = count.min(MOST);
    let mut record = [TraceRecord::STARTED; 13];
    record[1..9].copy_from_slice(&place.to_le_bytes());
    record[9..].copy_from_slice(&(told | cut).to_le_bytes());
    begin(record.len() as u64 + u64::from(told) * 8);
    window.append(&record);
    for address in Walk::new(caller).filter_map(address).take(told as usize) {
        window.append(&address.to_le_bytes());
    }
}

/// Appends that the stream begins anew, without any activation.
pub fn append_none(window: Window) {
    let mut record = [0; 15];
    record[..3].copy_from_slice(&[TraceRecord::SWITCHED_OFF, TraceRecord::SWITCHED_ON, TraceRecord::STARTED]);
    record[3..11].copy_from_slice(&TracePlace::NONE.to_le_bytes());
    window.append(&record);
}
