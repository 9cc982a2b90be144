//! Events per call (Ball 1994, §4): what the counters of events were where activations ended without a return, and
//! signal handlers, whose events are none of the calls that they interrupt.
//!
//! A call takes the thread's counter away from its sum before it is made, and adds it where it returns. One that does
//! not return is made up for here: the counter as it is now is added to an entry of the table of early exits
//! ([`TOTAL`](crate::layout::TOTAL)).
//!
//! Where a handler begins, the counters are put down in words of the slab ([`HandlerWord`]). Where it ends they are set
//! back, and what was counted meanwhile goes to the other counter of each kind.

use super::handler_stack::HandlerStack;
use super::outermost::Outermost;
use super::slab_words::SlabWords;
use super::{Activation, Recorder, early};
use crate::layout::{Flags, INTERRUPTED, RawHeader, total_of};
use crate::runtime::file::current;
use crate::runtime::file::early_table::count_in;
use crate::runtime::os::sys;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::{slabs, unit};

/// The recorder.
pub struct CallSums;

impl Recorder for CallSums {
    type Destination = Option<Totals>;

    #[inline(always)]
    fn walk_begins() -> Option<Self::Destination> {
        Some(Totals::own())
    }

    #[inline(always)]
    fn frame(totals: Self::Destination, frame: &Activation) {
        if let Some(totals) = totals {
            totals.frame(frame, early::count);
            Outermost::of(totals.words).frame(frame);
        }
    }

    fn begin(front: *mut u8) {
        if unit::descriptor().call_sums != 0 {
            // SAFETY: the header page, which nobody else knows yet.
            unsafe { (*front.cast::<RawHeader>()).flags |= Flags::CALL_SUMS };
        }
    }

    /// Comes after the recorder that gives the thread its slab.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        if unit::threaded()
            && let Some(totals) = Totals::of(|| unit::slab_of(thread_pointer))
        {
            Outermost::of(totals.words).forget_all();
            Outermost::of(totals.words).begin_sums();
        }
    }

    fn handler_begins(frame: u64) {
        if let Some(totals) = Totals::own() {
            let signals = sys::set_signal_mask(u64::MAX);
            totals.suspend(frame);
            sys::set_signal_mask(signals);
        }
    }

    fn handler_ends(frame: u64, _left: bool) {
        if let Some(totals) = Totals::own() {
            let signals = sys::set_signal_mask(u64::MAX);
            totals.resume(frame);
            sys::set_signal_mask(signals);
        }
    }

    fn clear() {
        if Totals::own().is_some() {
            slabs::each(|slab| {
                if let Some(totals) = Totals::of(|| slab) {
                    totals.forget();
                    Outermost::of(totals.words).forget_dead();
                    Outermost::of(totals.words).begin_sums();
                }
            });
        }
    }

    fn frame_in_copy(copy: &mut ProfileCopy, frame: &Activation) {
        if let Some(totals) = Totals::own() {
            Outermost::of(totals.words).frame_in_copy(copy, frame);
            totals.frame(frame, |address, total| {
                if !count_in(copy.early_exits(), address, total) {
                    copy.flag(Flags::EARLY_TABLE_FULL);
                }
            });
        }
    }
}

/// The counters of events of a thread.
#[derive(Clone, Copy)]
pub struct Totals {
    words: SlabWords,
    kinds: u64,
}

impl Totals {
    /// The words of this thread; `None` if no calls are measured.
    #[inline(always)]
    fn own() -> Option<Self> {
        Self::of(unit::own_slab)
    }

    #[inline(always)]
    fn of(slab: impl FnOnce() -> *mut u64) -> Option<Self> {
        let descriptor = unit::descriptor();
        (descriptor.call_sums != 0)
            .then(|| Self { words: SlabWords::new(slab()), kinds: descriptor.event_kinds.count_ones().into() })
    }

    fn frame(self, frame: &Activation, mut count: impl FnMut(u64, i64)) {
        if frame.tag == INTERRUPTED {
            return;
        }
        for kind in 0..self.kinds {
            let total = self.words.read(unit::descriptor().event_words + 2 * kind).cast_signed();
            count(frame.address | frame.tag | total_of(kind), total.wrapping_mul(frame.delta));
        }
    }

    fn handlers(self) -> HandlerStack {
        HandlerStack::new(self.words, self.kinds)
    }

    /// A handler begins with that frame.
    fn suspend(self, frame: u64) {
        let Some((depth, kept)) = self.handlers().begin(frame) else { return };
        for kind in 0..self.kinds {
            self.words.write(kept + kind, self.words.read(unit::descriptor().event_words + 2 * kind));
        }
        if !Outermost::of(self.words).hide(depth) {
            current::flag(Flags::HANDLERS_MIXED);
        }
    }

    /// The handler with that frame is over, and all that have interrupted it.
    fn resume(self, frame: u64) {
        let Some((own, kept)) = self.handlers().end(frame) else { return };
        for kind in 0..self.kinds {
            let up = unit::descriptor().event_words + 2 * kind;
            let before = self.words.read(kept + kind);
            let events = self.words.read(up).wrapping_sub(before);
            self.words.write(up, before);
            self.words.write(up + 1, self.words.read(up + 1).wrapping_sub(events));
        }
        Outermost::of(self.words).show(own);
    }

    /// All counters are zero.
    fn forget(self) {
        self.handlers().each(|kept| (0..self.kinds).for_each(|kind| self.words.write(kept + kind, 0)));
    }
}
