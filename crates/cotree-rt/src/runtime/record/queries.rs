//! The public interface of event counts (`cotree.h`): how many events there have been, and limits at which the program
//! is called.
//!
//! The unit's counters of a thread are in its slab, and generated code sees to it that nothing is lacking of them when
//! code is called that may ask. A thread may get the slab of one that is gone: what was in its counters then stands in
//! [`QueryWord::BASE`]. A debugger has a limit of its own ([`Debugger`]). All words are zero in a fresh slab, in that
//! of a forked child, too, whose counts begin anew.

use super::recorder::{Child, Recorder};
use super::shares;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::arch::stubs::safe_points;
use crate::layout::QueryWord;
use crate::runtime::file::current;
use crate::runtime::joined::{NO_SHARES, USED_UP};
use crate::runtime::os::late::Late;
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
            let _held = shares::lock();
            (0..unit::descriptor().event_kinds.count_ones() as usize)
                .for_each(|index| EventWords { slab, index }.begin());
        }
    }

    /// The child has no limits.
    fn forked(_child: &Child) {
        shares::forget();
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

    /// The number of the kind (`cotree.h`).
    fn number(self) -> c_int {
        let kinds = unit::descriptor().event_kinds;
        (0..64).filter(|&number| kinds >> number & 1 == 1).nth(self.index).unwrap_or(0)
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
        // SAFETY: a word of the slab. It belongs to a thread that is this one or does not run yet, or the lock of
        // shares is held.
        unsafe { self.slab.add(self.word(word) as usize).write_volatile(value) };
    }

    /// The limit that is reached first is the one that generated code looks at. The lock of shares is held.
    fn arm(self) {
        self.set(QueryWord::LIMIT, self.get(QueryWord::OWN).max(self.get(QueryWord::SHARE)));
    }

    /// A thread begins. The lock of shares is held.
    fn begin(self) {
        if Debugger::watches(self) {
            Debugger::forget();
        }
        self.set(QueryWord::OWN, 0);
        self.set(QueryWord::CALLBACK, 0);
        self.set(QueryWord::BASE, self.counted());
        // A share that is used up: the first safe point gets more.
        self.set(QueryWord::SHARE, if shares::are_given(self.number()) { at(self.counted()) } else { 0 });
        self.arm();
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
        let limit = self.get(QueryWord::OWN);
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
        let _held = shares::lock();
        self.set(QueryWord::CALLBACK, callback as u64);
        let is_one = callback != 0 && events < NEVER;
        self.set(QueryWord::OWN, if is_one { at(self.get(QueryWord::BASE).wrapping_add(events)) } else { 0 });
        self.arm();
    }

    /// Whether the limit in a word has been reached.
    fn is_reached(self, word: u64) -> bool {
        let limit = self.get(word);
        limit != 0 && self.counted().wrapping_add(limit).cast_signed() < 0
    }

    /// Removes the limit if it has been reached, and gives the callback.
    fn take_reached(self) -> Option<usize> {
        if !self.is_reached(QueryWord::OWN) {
            let used_up = self.is_reached(QueryWord::SHARE);
            return SHARE_USED_UP
                .get()
                .filter(|_| used_up)
                .map(|ask| ask(self.number()))
                .filter(|&callback| callback != 0);
        }
        let callback = self.get(QueryWord::CALLBACK);
        {
            let _held = shares::lock();
            self.set(QueryWord::OWN, 0);
            self.arm();
        }
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

/// Makes all shares of a kind ones of so many events more, [`USED_UP`], or [`NO_SHARES`]. Gives the events of the unit,
/// of which no share was used when they were read, and adds the number of shares.
pub fn change_shares(kind: c_int, share: u64, number: &mut u64) -> u64 {
    if unit::descriptor().event_limits == 0 {
        return if share == USED_UP { total(kind) } else { 0 };
    }
    let _held = shares::lock();
    let mut events = 0u64;
    slabs::each(|slab| {
        let Some(words) = EventWords::of(slab, kind) else { return };
        *number += 1;
        let word = match share {
            NO_SHARES => 0,
            USED_UP => {
                let counted = words.counted();
                events = events.wrapping_add(counted);
                at(counted)
            }
            more => words.get(QueryWord::SHARE).wrapping_sub(more),
        };
        words.set(QueryWord::SHARE, word);
        words.arm();
    });
    shares::set_given(kind, share != NO_SHARES);
    events
}

/// More events than there ever will be.
pub const NEVER: u64 = 1 << 62;

/// The word of a limit that is reached at this count.
fn at(counted: u64) -> u64 {
    (1u64 << 63).wrapping_sub(counted)
}

/// Gives a thread that has used up its share of a kind more; or the callback, if the limit of the process is reached.
// SAFETY: a function pointer.
pub static SHARE_USED_UP: Late<fn(c_int) -> usize> = unsafe { Late::new() };

/// What `cotree_event_limit` answers for a kind.
pub fn may_be_limited(kind: c_int) -> c_int {
    match EventWords::own(kind) {
        None => 1,
        Some(_) if unit::descriptor().event_limits == 0 => 2,
        Some(_) => 0,
    }
}

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
    let answer = may_be_limited(kind);
    let Some(kind) = EventWords::own(kind).filter(|_| answer == 0) else { return answer };
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
