//! This unit's reactions to events of the process. The executable calls them for each unit, through the unit's table
//! of entry points.

use crate::arch::registers::FrameRegisters;
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::joined::Unit;
use crate::runtime::profile::{begin, finish};
use crate::runtime::record::{self, Child};
use crate::runtime::slabs;
use crate::runtime::stack::{marks, modules};
use crate::runtime::unit;
use core::ffi::c_int;
use core::sync::atomic::AtomicPtr;

/// This unit.
pub static THIS: Unit = Unit {
    next: AtomicPtr::new(core::ptr::null_mut()),
    frame,
    is_recording_at,
    flag,
    flags,
    publish,
    unpublish,
    detach,
    forked,
    thread_starts,
    thread_ends,
    clear,
    jump_is_unsure,
    interrupted,
    handler_begins,
    handler_ends,
    traced,
    event_total,
    event_shares,
};

#[cfg(not(feature = "counters-alone"))]
extern "C" fn event_total(kind: c_int) -> u64 {
    record::total_of_events(kind)
}

#[cfg(feature = "counters-alone")]
extern "C" fn event_total(_kind: c_int) -> u64 {
    0
}

#[cfg(not(feature = "counters-alone"))]
extern "C" fn event_shares(kind: c_int, share: u64, number: &mut u64) -> u64 {
    record::change_shares(kind, share, number)
}

#[cfg(feature = "counters-alone")]
extern "C" fn event_shares(_kind: c_int, _share: u64, _number: &mut u64) -> u64 {
    0
}

extern "C" fn frame(pc: u64, tag: u64, delta: i64, registers: *const FrameRegisters) {
    // SAFETY: null or the frame's registers.
    record::frame(pc, tag, delta, unsafe { registers.as_ref() });
}

extern "C" fn is_recording_at(pc: u64) -> bool {
    record::is_recording_at(pc) || marks::is_resuming(pc)
}

extern "C" fn flag(flags: Flags) {
    current::flag(flags);
}

extern "C" fn flags(replacement: *const Flags) -> Flags {
    // SAFETY: null or flags.
    if let Some(flags) = unsafe { replacement.as_ref() } {
        let lasting = current::flags().only(record::LASTING_FLAGS);
        current::set_flags(*flags | lasting);
    }
    current::flags()
}

extern "C" fn publish(state: u32, threads_alive: u32) {
    finish::publish(state, threads_alive);
}

extern "C" fn unpublish() {
    finish::unpublish();
}

extern "C" fn detach() {
    finish::detach();
}

extern "C" fn forked(thread: usize, interrupted: bool) {
    modules::after_fork();
    if current::active() {
        begin::start_child(&Child { thread, interrupted });
        slabs::claim(thread);
        #[cfg(not(feature = "counters-alone"))]
        if !record::outermost::after_fork_in_child() {
            current::flag(Flags::HANDLERS_MIXED);
        }
    }
}

extern "C" fn thread_starts(thread: usize, thread_pointer: u64) {
    record::thread_starts(thread, thread_pointer);
}

extern "C" fn thread_ends() {
    record::thread_ends();
}

extern "C" fn clear() {
    record::clear();
    current::flag(Flags::RESET);
}

extern "C" fn jump_is_unsure() {
    record::jump_is_unsure();
}

extern "C" fn interrupted() {
    record::interrupted();
}

extern "C" fn handler_begins(frame: u64) {
    record::handler_begins(frame);
}

extern "C" fn handler_ends(frame: u64, left: bool) {
    record::handler_ends(frame, left);
}

extern "C" fn traced() -> bool {
    unit::is_traced() || unit::measures_calls() || unit::passes_paths()
}
