//! All the profiled link units of the process.
//!
//! The executable's runtime has the hooks and the list of threads, and reports events to every unit. Each unit
//! keeps only the addresses in its own image.

use super::this_unit::THIS;
use crate::arch::registers::FrameRegisters;
use crate::layout::Flags;
use crate::runtime::joined::{self, Unit};
use crate::runtime::record;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::thread::{self, Thread};
use core::ffi::c_int;
use core::sync::atomic::Ordering;

/// Every unit: ours and those that joined us.
fn units() -> impl Iterator<Item = &'static Unit> {
    core::iter::once(&THIS).chain(others())
}

/// The link units that joined ours.
fn others() -> impl Iterator<Item = &'static Unit> {
    let mut next = joined::first();
    core::iter::from_fn(move || {
        // SAFETY: units leave the list before they are unloaded.
        let unit = unsafe { next.as_ref() }?;
        next = unit.next.load(Ordering::Acquire);
        Some(unit)
    })
}

/// Records an activation at a code address, in the unit that it belongs to.
#[inline]
pub fn frame(pc: u64, tag: u64, delta: i64, registers: Option<&FrameRegisters>) {
    record::frame(pc, tag, delta, registers);
    let registers = registers.map_or(core::ptr::null(), core::ptr::from_ref);
    others().for_each(|unit| (unit.frame)(pc, tag, delta, registers));
}

/// Whether the code address is where generated code of some unit has something recorded, or says that it resumes an
/// exception.
pub fn is_recording_at(pc: u64) -> bool {
    units().any(|unit| (unit.is_recording_at)(pc))
}

/// Flags all profiles.
pub fn flag(flags: Flags) {
    units().for_each(|unit| (unit.flag)(flags));
}

/// Completes all profiles.
pub fn publish(state: u32, threads_alive: u32) {
    units().for_each(|unit| (unit.publish)(state, threads_alive));
}

/// Takes [`publish`] back.
#[cfg(not(feature = "shared-library"))]
pub fn unpublish() {
    units().for_each(|unit| (unit.unpublish)());
}

/// Whatever still runs counts no more.
pub fn detach() {
    units().for_each(|unit| (unit.detach)());
}

/// New profiles for a forked child.
///
/// `interrupted`: a signal handler has forked.
pub fn forked(thread: usize, interrupted: bool) {
    #[cfg(not(feature = "shared-library"))]
    joined::forget_unloaded();
    units().for_each(|unit| (unit.forked)(thread, interrupted));
}

/// This thread, which has that index, starts. The caller holds the lock of the threads.
#[cfg(not(feature = "shared-library"))]
pub fn thread_starts(thread: usize, thread_pointer: u64) {
    units().for_each(|unit| (unit.thread_starts)(thread, thread_pointer));
}

/// This thread's start routine is over. The caller holds the lock of the threads.
#[cfg(not(feature = "shared-library"))]
pub fn thread_ends() {
    units().for_each(|unit| (unit.thread_ends)());
}

/// The thread runs no more of the program than destructors. Its stack may go at any time from now on; that of a live
/// one stays while the lock is held.
#[cfg(not(feature = "shared-library"))]
pub fn end_thread(record: &Thread) {
    let _held = thread::lock();
    thread_ends();
    record.state.store(thread::ENDING, Ordering::Relaxed);
}

/// A jump of this thread leads to a frame that is not known, or is taken back.
#[cfg(not(feature = "shared-library"))]
pub fn jump_is_unsure() {
    units().for_each(|unit| (unit.jump_is_unsure)());
}

/// A signal has interrupted this thread for good: the frames of its stack follow.
pub fn interrupted() {
    units().for_each(|unit| (unit.interrupted)());
}

/// A signal handler of the program begins on this thread, with a frame at this address.
#[cfg(not(feature = "shared-library"))]
pub fn handler_begins(frame: u64) {
    units().for_each(|unit| (unit.handler_begins)(frame));
}

/// The handler with that frame is over: it has returned, or is left for good.
#[cfg(not(feature = "shared-library"))]
pub fn handler_ends(frame: u64, left: bool) {
    units().for_each(|unit| (unit.handler_ends)(frame, left));
}

/// Whether any unit is to know of handlers.
#[cfg(not(feature = "shared-library"))]
pub fn are_traced() -> bool {
    units().any(|unit| (unit.traced)())
}

/// How many events of a kind all threads have had in the code of all units.
pub fn event_total(kind: c_int) -> u64 {
    #[cfg(feature = "shared-library")]
    if let Some(total) = joined::event_total(kind) {
        return total;
    }
    let of_units = units().map(|unit| (unit.event_total)(kind)).fold(0, u64::wrapping_add);
    #[cfg(not(feature = "shared-library"))]
    let of_units = of_units.wrapping_add(joined::events_of_unloaded(kind));
    of_units
}

/// Changes the shares of a kind in all units; see [`Unit::event_shares`]. It gives the events of all units, also of
/// those that have no shares, where shares are to be used up.
#[cfg(not(feature = "counters-alone"))]
pub fn event_shares(kind: c_int, share: u64, number: &mut u64) -> u64 {
    let of_units = units().map(|unit| (unit.event_shares)(kind, share, number)).fold(0, u64::wrapping_add);
    #[cfg(not(feature = "shared-library"))]
    let of_units = of_units.wrapping_add(joined::events_of_unloaded(kind));
    of_units
}

/// All counters zero.
pub fn clear() {
    #[cfg(not(feature = "shared-library"))]
    joined::forget_unloaded();
    units().for_each(|unit| (unit.clear)());
}

/// The flags of all units (the first few), to put back after an attempt that failed.
#[cfg(not(feature = "shared-library"))]
pub struct SavedFlags([Flags; 64]);

#[cfg(not(feature = "shared-library"))]
impl SavedFlags {
    pub fn take() -> Self {
        let mut saved = [Flags::NONE; 64];
        for (slot, unit) in saved.iter_mut().zip(units()) {
            *slot = (unit.flags)(core::ptr::null());
        }
        Self(saved)
    }

    pub fn put_back(&self) {
        for (flags, unit) in self.0.iter().zip(units()) {
            (unit.flags)(flags);
        }
    }
}
