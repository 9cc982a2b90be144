//! The link units that have joined this one.
//!
//! The executable has the registry of profiled shared libraries: `cotree_process_v3`, the one symbol that its runtime
//! exports for them. The number changes with the interface between the two; a library of another version is on its own.

use crate::arch::registers::FrameRegisters;
use crate::layout::Flags;
use core::ffi::c_int;
use core::sync::atomic::AtomicPtr;
#[cfg(all(feature = "shared-library", not(feature = "counters-alone")))]
pub use side::executable;
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub use side::while_closing;
#[cfg(not(any(feature = "shared-library", feature = "counters-alone")))]
pub use side::{EVENT_LIMIT, SHARE_USED_UP};
#[cfg(not(feature = "shared-library"))]
pub use side::{EVENT_TOTAL, events_of_unloaded, forget_unloaded};
#[cfg(feature = "shared-library")]
pub use side::{event_total, join, leave};

/// A unit's entry points.
#[repr(C)]
pub struct Unit {
    /// The next one on the list of the executable.
    pub next: AtomicPtr<Unit>,
    pub frame: extern "C" fn(pc: u64, tag: u64, delta: i64, registers: *const FrameRegisters),
    pub is_recording_at: extern "C" fn(pc: u64) -> bool,
    pub flag: extern "C" fn(flags: Flags),
    pub flags: extern "C" fn(replacement: *const Flags) -> Flags,
    pub publish: extern "C" fn(state: u32, threads_alive: u32),
    pub unpublish: extern "C" fn(),
    pub detach: extern "C" fn(),
    pub forked: extern "C" fn(thread: usize, interrupted: bool),
    pub thread_starts: extern "C" fn(thread: usize, thread_pointer: u64),
    pub thread_ends: extern "C" fn(),
    pub clear: extern "C" fn(),
    pub jump_is_unsure: extern "C" fn(),
    pub interrupted: extern "C" fn(),
    pub handler_begins: extern "C" fn(frame: u64),
    pub handler_ends: extern "C" fn(frame: u64, left: bool),
    /// Whether it is to know of handlers: it is traced, measures calls, or its paths pass between functions.
    pub traced: extern "C" fn() -> bool,
    /// How many events of a kind all its threads have had.
    pub event_total: extern "C" fn(kind: c_int) -> u64,
    /// Changes the shares that its threads have of a limit: they are used up, gone, or so many events more. Gives the
    /// unit's events if they are to be used up, and adds the number of shares.
    pub event_shares: extern "C" fn(kind: c_int, share: u64, number: &mut u64) -> u64,
}

/// A share that is used up.
#[cfg(not(feature = "counters-alone"))]
pub const USED_UP: u64 = u64::MAX;
/// There is no limit, and so no share.
#[cfg(not(feature = "counters-alone"))]
pub const NO_SHARES: u64 = u64::MAX - 1;

/// The executable's list.
#[repr(C)]
pub struct Process {
    units: AtomicPtr<Unit>,
    join: extern "C" fn(unit: &'static Unit),
    leave: extern "C" fn(unit: &'static Unit) -> bool,
    /// [`Unit::event_total`] of all units.
    event_total: extern "C" fn(kind: c_int) -> u64,
    /// Sets the limit of a kind: at so many events of all units, and whom to call.
    pub event_limit: extern "C" fn(kind: c_int, events: u64, callback: usize),
    /// A share of a kind is used up. Gives whom to call if the limit is reached.
    pub share_used_up: extern "C" fn(kind: c_int) -> usize,
}

/// Whether any unit has joined this one.
pub fn any() -> bool {
    !first().is_null()
}

/// The first unit that has joined this one.
pub fn first() -> *mut Unit {
    side::units()
}

/// The executable's side.
#[cfg(not(feature = "shared-library"))]
mod side {
    use crate::layout::Flags;
    use crate::runtime::joined::{Process, Unit};
    use crate::runtime::os::late::Late;
    use crate::runtime::thread;
    use core::ffi::c_int;
    #[cfg(not(feature = "static-executable"))]
    use core::sync::atomic::AtomicU32;
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    /// How many kinds of events there are (`cotree.h`).
    const KINDS: usize = 9;

    /// Per kind, the events of units that have been unloaded.
    static UNLOADED: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

    /// How many events of a kind units have had that have been unloaded.
    pub fn events_of_unloaded(kind: c_int) -> u64 {
        let of_kind = usize::try_from(kind).ok().and_then(|kind| UNLOADED.get(kind));
        of_kind.map_or(0, |events| events.load(Ordering::Relaxed))
    }

    /// Counting begins anew: what unloaded units had counted goes.
    pub fn forget_unloaded() {
        UNLOADED.iter().for_each(|events| events.store(0, Ordering::Relaxed));
    }

    /// How many calls of `dlclose` are going on.
    #[cfg(not(feature = "static-executable"))]
    static CLOSING: AtomicU32 = AtomicU32::new(0);

    /// Makes a call of `dlclose`.
    #[cfg(not(feature = "static-executable"))]
    pub fn while_closing<T>(close: impl FnOnce() -> T) -> T {
        CLOSING.fetch_add(1, Ordering::Relaxed);
        let result = close();
        CLOSING.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Whether a `dlclose` is going on: destructors that run now do so because their object goes.
    #[cfg(not(feature = "static-executable"))]
    fn closing() -> bool {
        CLOSING.load(Ordering::Relaxed) != 0
    }

    /// Static executables unload nothing.
    #[cfg(feature = "static-executable")]
    fn closing() -> bool {
        false
    }

    #[unsafe(no_mangle)]
    static cotree_process_v3: Process =
        Process { units: AtomicPtr::new(core::ptr::null_mut()), join, leave, event_total, event_limit, share_used_up };

    extern "C" fn event_limit(kind: c_int, events: u64, callback: usize) {
        if let Some(limit) = EVENT_LIMIT.get() {
            limit(kind, events, callback);
        }
    }

    extern "C" fn share_used_up(kind: c_int) -> usize {
        SHARE_USED_UP.get().map_or(0, |used_up| used_up(kind))
    }

    /// Sets the limit of a kind.
    // SAFETY: a function pointer.
    pub static EVENT_LIMIT: Late<fn(c_int, u64, usize)> = unsafe { Late::new() };

    /// Shares out what is left, or gives whom to call.
    // SAFETY: a function pointer.
    pub static SHARE_USED_UP: Late<fn(c_int) -> usize> = unsafe { Late::new() };

    extern "C" fn event_total(kind: c_int) -> u64 {
        EVENT_TOTAL.get().map_or(0, |total| total(kind))
    }

    /// The sum over all units.
    // SAFETY: a function pointer.
    pub static EVENT_TOTAL: Late<fn(c_int) -> u64> = unsafe { Late::new() };

    pub fn units() -> *mut Unit {
        cotree_process_v3.units.load(Ordering::Acquire)
    }

    extern "C" fn join(unit: &'static Unit) {
        let _held = thread::lock();
        unit.next.store(units(), Ordering::Release);
        cotree_process_v3.units.store(core::ptr::from_ref(unit).cast_mut(), Ordering::Release);
        thread::with_stacks().for_each(|(index, pointer)| (unit.thread_starts)(index, pointer));
        if thread::is_ending() {
            // A destructor of a thread's object has loaded the unit. No other end of the thread is told.
            (unit.thread_ends)();
        }
        if thread::others_are_ending() {
            // A destructor of another thread's object that calls the unit has no counters of its own there.
            (unit.flag)(Flags::THREAD_UNREGISTERED);
        }
    }

    /// Takes the unit off the list if it is being unloaded; false at process end, where it stays until the very last.
    extern "C" fn leave(unit: &'static Unit) -> bool {
        if !closing() {
            return false;
        }
        let _held = thread::lock();
        let mut link = &cotree_process_v3.units;
        loop {
            let at = link.load(Ordering::Acquire);
            // SAFETY: a unit on the list.
            let Some(found) = (unsafe { at.as_ref() }) else { break };
            if core::ptr::eq(found, unit) {
                for (kind, events) in (0..).zip(&UNLOADED) {
                    events.fetch_add((unit.event_total)(kind), Ordering::Relaxed);
                }
                link.store(unit.next.load(Ordering::Acquire), Ordering::Release);
                break;
            }
            link = &found.next;
        }
        if thread::vanished() > 0 {
            (unit.flag)(Flags::THREADS_ALIVE);
        }
        true
    }
}

/// The shared library's side.
#[cfg(feature = "shared-library")]
mod side {
    use crate::arch::linkage::weak;
    use crate::runtime::joined::{Process, Unit};
    use core::ffi::c_int;

    weak!(process = "cotree_process_v3");

    /// A library knows only itself.
    pub fn units() -> *mut Unit {
        core::ptr::null_mut()
    }

    /// The executable, if it is profiled.
    pub fn executable() -> Option<&'static Process> {
        // SAFETY: the symbol is a Process wherever it is defined.
        process().map(|process| unsafe { process.cast::<Process>().as_ref() })
    }

    /// How many events of a kind the process has had; `None` if its executable has not been joined.
    pub fn event_total(kind: c_int) -> Option<u64> {
        executable().map(|process| (process.event_total)(kind))
    }

    /// Joins a profiled executable; false if there is none.
    pub fn join(unit: &'static Unit) -> bool {
        executable().is_some_and(|process| {
            (process.join)(unit);
            true
        })
    }

    /// Whether the unit is to be finished now.
    pub fn leave(unit: &'static Unit) -> bool {
        executable().is_none_or(|process| (process.leave)(unit))
    }
}
