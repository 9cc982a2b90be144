//! This unit's reactions to events of the process. The executable calls them for each unit, through the unit's table
//! of entry points.

use crate::layout::Flags;
use crate::runtime::file::{begin, finish, profile};
use crate::runtime::hooks::resume;
use crate::runtime::record::registers::Registers;
use crate::runtime::record::{self, Child};
use crate::runtime::slabs;
use crate::runtime::stack::modules;
use crate::runtime::unit;
use core::sync::atomic::AtomicPtr;

/// A unit's entry points.
#[repr(C)]
pub struct Unit {
    /// The next one on the list of the executable.
    pub next: AtomicPtr<Unit>,
    pub frame: extern "C" fn(pc: u64, tag: u64, delta: i64, registers: *const Registers),
    pub is_recording_at: extern "C" fn(pc: u64) -> bool,
    pub flag: extern "C" fn(bits: u64),
    pub flags: extern "C" fn(replacement: *const u64) -> u64,
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
    /// Whether it is to know of handlers: it is traced, or measures calls.
    pub traced: extern "C" fn() -> bool,
}

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
};

extern "C" fn frame(pc: u64, tag: u64, delta: i64, registers: *const Registers) {
    // SAFETY: null or the frame's registers.
    record::frame(pc, tag, delta, unsafe { registers.as_ref() });
}

extern "C" fn is_recording_at(pc: u64) -> bool {
    record::is_recording_at(pc) || resume::is_announcing(pc)
}

extern "C" fn flag(bits: u64) {
    profile::flag(bits);
}

extern "C" fn flags(replacement: *const u64) -> u64 {
    // SAFETY: null or a word.
    if let Some(bits) = unsafe { replacement.as_ref() } {
        profile::set_flags(*bits | profile::flags() & record::LASTING_FLAGS);
    }
    profile::flags()
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
    if profile::active() {
        begin::start_child(&Child { thread, interrupted });
        slabs::claim(thread);
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
    profile::flag(Flags::RESET);
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
    unit::is_traced() || unit::measures_calls()
}
