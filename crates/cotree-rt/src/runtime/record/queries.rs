//! The public interface of event counts (`cotree.h`): how many events there have been, and limits at which the program
//! is called.
//!
//! The unit's counters of a thread are in its slab, and generated code sees to it that nothing is lacking of them when
//! code is called that may ask. A thread may get the slab of one that is gone: what was in its counters then stands in
//! [`QueryWord::BASE`]. A debugger has a limit of its own ([`Debugger`]). All words are zero in a fresh slab, in that
//! of a forked child, too, whose counts begin anew.

use super::Recorder;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::arch::stubs::safe_points;
use crate::layout::QueryWord;
use crate::runtime::file::current;
use crate::runtime::{slabs, unit};
use core::ffi::c_int;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The recorder: it looks after the words of threads.
pub struct Queries;

impl Recorder for Queries {
    type Destination = ();

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    /// Comes after the recorder that gives the thread its slab.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        if unit::threaded() && unit::is_queried() {
            let slab = unit::slab_of(thread_pointer);
            (0..unit::descriptor().event_kinds.count_ones() as usize)
                .for_each(|index| EventWords { slab, index }.begin());
        }
    }

    fn clear() {
        if unit::is_queried() {
            slabs::each(|slab| {
                let kinds =
                    (0..unit::descriptor().event_kinds.count_ones() as usize).map(|index| EventWords { slab, index });
                kinds.for_each(EventWords::forget_base);
            });
        }
    }
}

/// A kind of events in the slab of a thread.
#[derive(Clone, Copy)]
pub struct EventWords {
    slab: *mut u64,
    /// The place of the kind among those that are counted.
    index: usize,
}

impl EventWords {
    /// The kind of this number in the calling thread's slab, if it is counted, and exactly: where not even memory for a
    /// profile can be had, threads have no slabs of their own, and nobody looks after activations that end early.
    pub fn own(number: c_int) -> Option<Self> {
        if unit::is_queried() { Self::of(unit::own_slab(), number) } else { None }
    }

    /// The kind of this number in a slab, if the unit counts it.
    fn of(slab: *mut u64, number: c_int) -> Option<Self> {
        let kinds = unit::descriptor().event_kinds;
        let counted = current::active() && (0..64).contains(&number) && kinds >> number & 1 == 1;
        let index = (kinds & !(u64::MAX << (number & 63))).count_ones() as usize;
        counted.then_some(Self { slab, index })
    }

    /// The slab, and the place of the kind among those that are counted.
    pub fn place(self) -> (*mut u64, u64) {
        (self.slab, self.index as u64)
    }

    /// All that are counted.
    fn all() -> impl Iterator<Item = Self> {
        let descriptor = unit::descriptor();
        let kinds = if descriptor.query_words == 0 { 0 } else { descriptor.event_kinds.count_ones() as usize };
        (0..kinds).map(|index| Self { slab: unit::own_slab(), index })
    }

    fn read(self, word: u64) -> u64 {
        // SAFETY: a word of the slab.
        unsafe { self.slab.add(word as usize).read_volatile() }
    }

    /// What the counters say: what was added, less what was taken away.
    fn counted(self) -> u64 {
        let first = unit::descriptor().event_words + 2 * self.index as u64;
        self.read(first).wrapping_sub(self.read(first + 1))
    }

    fn word(self, word: u64) -> u64 {
        unit::descriptor().query_words + QueryWord::COUNT * self.index as u64 + word
    }

    fn get(self, word: u64) -> u64 {
        self.read(self.word(word))
    }

    fn set(self, word: u64, value: u64) {
        // SAFETY: a word of the slab, which belongs to a thread that is this one or does not run yet.
        unsafe { self.slab.add(self.word(word) as usize).write_volatile(value) };
    }

    /// A thread begins.
    fn begin(self) {
        if Debugger::watches(self) {
            Debugger::forget();
        }
        self.set(QueryWord::LIMIT, 0);
        self.set(QueryWord::CALLBACK, 0);
        self.set(QueryWord::BASE, self.counted());
    }

    /// Counters are zero.
    fn forget_base(self) {
        if self.get(QueryWord::BASE) != 0 {
            self.set(QueryWord::BASE, 0);
        }
    }

    /// The thread's events.
    fn count(self) -> u64 {
        self.counted().wrapping_sub(self.get(QueryWord::BASE))
    }

    /// Sets the limit of the program: it is reached at that many events of the thread.
    fn limit_of_program(self, events: u64, callback: usize) {
        if Debugger::watches(self) {
            DEBUGGER.program_at.store(events, Relaxed);
            DEBUGGER.program_callback.store(callback, Relaxed);
            self.limit_both();
        } else {
            self.limit(events, callback);
        }
    }

    /// Sets the limit of the debugger: it is reached at that many events of the thread. [`NEVER`] removes it.
    fn limit_of_debugger(self, events: u64) {
        if let Some(before) = Debugger::watched() {
            let (at, callback) = Debugger::of_program();
            Debugger::forget();
            before.limit(at, callback);
        }
        if events >= NEVER {
            return;
        }
        let callback = self.get(QueryWord::CALLBACK) as usize;
        let limit = self.get(QueryWord::LIMIT);
        let at = (1u64 << 63).wrapping_sub(limit).wrapping_sub(self.get(QueryWord::BASE));
        let (at, callback) = if limit == 0 { (0, 0) } else { (at, callback) };
        DEBUGGER.program_at.store(at, Relaxed);
        DEBUGGER.program_callback.store(callback, Relaxed);
        DEBUGGER.at.store(events, Relaxed);
        DEBUGGER.index.store(self.index, Relaxed);
        DEBUGGER.slab.store(self.slab, Relaxed);
        self.limit_both();
    }

    /// The limit of the program and that of the debugger are one, whichever comes first.
    fn limit_both(self) {
        let ((at, callback), stop) = (Debugger::of_program(), DEBUGGER.at.load(Relaxed));
        self.limit(if callback != 0 { at.min(stop) } else { stop }, stop_address());
    }

    /// Sets the limit: it is reached at that many events of the thread.
    fn limit(self, events: u64, callback: usize) {
        // A handler that comes in between finds none.
        self.set(QueryWord::LIMIT, 0);
        self.set(QueryWord::CALLBACK, callback as u64);
        let at = self.get(QueryWord::BASE).wrapping_add(events);
        // More than there ever will be.
        if callback != 0 && events < NEVER {
            self.set(QueryWord::LIMIT, (1u64 << 63).wrapping_sub(at));
        }
    }

    /// Removes the limit if it has been reached, and gives the callback.
    fn take_reached(self) -> Option<usize> {
        let limit = self.get(QueryWord::LIMIT);
        if limit == 0 || self.counted().wrapping_add(limit).cast_signed() >= 0 {
            return None;
        }
        let callback = self.get(QueryWord::CALLBACK);
        self.set(QueryWord::LIMIT, 0);
        if Debugger::watches(self) { Some(self.take_reached_of_both()) } else { Some(callback as usize) }
    }

    /// Removes the limit that is reached first, the debugger's or the program's, and gives its callback.
    fn take_reached_of_both(self) -> usize {
        let (at, callback) = Debugger::of_program();
        if DEBUGGER.at.load(Relaxed) <= self.count() {
            Debugger::forget();
            self.limit(at, callback);
            return stop_address();
        }
        DEBUGGER.program_callback.store(0, Relaxed);
        self.limit_both();
        callback
    }
}

/// How many events of a kind all threads have had in this unit, those that are gone, too. What other threads lack,
/// which run at the same time, is not known.
pub fn total(kind: c_int) -> u64 {
    let mut total = 0u64;
    slabs::each(|slab| total = EventWords::of(slab, kind).map_or(total, |words| total.wrapping_add(words.counted())));
    total
}

/// More events than there ever will be.
const NEVER: u64 = 1 << 62;

/// A debugger's limit: in one thread, of one kind. While there is one, the limit of the program is kept here, too.
struct Debugger {
    /// The thread's slab; null: there is none.
    slab: AtomicPtr<u64>,
    /// The kind.
    index: AtomicUsize,
    /// At how many events it is reached.
    at: AtomicU64,
    /// At how many events the program's limit is reached.
    program_at: AtomicU64,
    /// The program's callback; 0: it has set no limit.
    program_callback: AtomicUsize,
}

static DEBUGGER: Debugger = Debugger {
    slab: AtomicPtr::new(core::ptr::null_mut()),
    index: AtomicUsize::new(0),
    at: AtomicU64::new(0),
    program_at: AtomicU64::new(0),
    program_callback: AtomicUsize::new(0),
};

impl Debugger {
    /// The kind in the thread that it is about.
    fn watched() -> Option<EventWords> {
        let slab = DEBUGGER.slab.load(Relaxed);
        (!slab.is_null()).then(|| EventWords { slab, index: DEBUGGER.index.load(Relaxed) })
    }

    fn watches(kind: EventWords) -> bool {
        Self::watched().is_some_and(|watched| watched.slab == kind.slab && watched.index == kind.index)
    }

    /// The program's limit: at how many events, and whom it calls.
    fn of_program() -> (u64, usize) {
        (DEBUGGER.program_at.load(Relaxed), DEBUGGER.program_callback.load(Relaxed))
    }

    fn forget() {
        DEBUGGER.slab.store(core::ptr::null_mut(), Relaxed);
    }
}

unsafe extern "C" {
    /// The callback of the debugger's limit.
    fn cotree_event_stop();
}

fn stop_address() -> usize {
    cotree_event_stop as *const () as usize
}

entry!("cotree_event_count", count, 1);
entry!("cotree_event_limit", limit, 3);

unsafe extern "C" fn count(kind: c_int, _caller: &Caller) -> u64 {
    EventWords::own(kind).map_or(0, EventWords::count)
}

unsafe extern "C" fn limit(kind: c_int, events: u64, callback: usize, _caller: &Caller) -> c_int {
    let Some(kind) = EventWords::own(kind) else { return 1 };
    if unit::descriptor().event_limits == 0 {
        return 2;
    }
    if callback == stop_address() {
        kind.limit_of_debugger(events);
    } else {
        kind.limit_of_program(events, callback);
    }
    0
}

/// The callback of the first limit that has been reached; 0 if there is none.
extern "C" fn reached_callback() -> usize {
    EventWords::all().find_map(EventWords::take_reached).unwrap_or(0)
}

// Generated code calls it at a safe point if a limit has been reached. It is gone when the callback begins, which may
// leave by a jump or an exception: then it is the call at the safe point that does not come back.
//
// At `cotree_event_stop` a debugger stops: it is the callback of its limit. The program's own limit may be
// reached at the same place.
safe_points!(reached_callback);
