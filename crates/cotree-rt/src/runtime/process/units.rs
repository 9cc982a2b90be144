//! All the profiled link units of the process.
//!
//! The executable's runtime has the interposers and the list of threads; it tells every unit what they see, through the
//! one symbol that it exports: `cotree_process_v2`. Each unit keeps only the addresses that lie in its own image.

use crate::layout::{ABANDONED, Flags, INTERRUPTED, VALUE_SHIFT};
use crate::runtime::file::profile;
use crate::runtime::hooks::resume;
use crate::runtime::record::registers::{self, Registers};
use crate::runtime::record::{early, paths};
use crate::runtime::stack::modules;
use crate::runtime::{slabs, unit};
use core::sync::atomic::{AtomicPtr, Ordering};

/// What a unit lets the executable do with it.
#[repr(C)]
pub struct Unit {
    next: AtomicPtr<Unit>,
    count: extern "C" fn(pc: u64, tag: u64, delta: i64, registers: *const Registers),
    is_counting: extern "C" fn(pc: u64) -> bool,
    flag: extern "C" fn(bits: u64),
    flags: extern "C" fn(replacement: *const u64) -> u64,
    publish: extern "C" fn(state: u32, threads_alive: u32),
    unpublish: extern "C" fn(),
    detach: extern "C" fn(),
    child: extern "C" fn(thread: usize, interrupted: bool),
    slab: extern "C" fn(thread: usize, thread_pointer: u64),
    clear: extern "C" fn(),
}

/// The executable's list.
#[repr(C)]
pub struct Process {
    units: AtomicPtr<Unit>,
    join: extern "C" fn(unit: &'static Unit),
    leave: extern "C" fn(unit: &'static Unit) -> bool,
}

/// This unit.
static SELF: Unit = Unit {
    next: AtomicPtr::new(core::ptr::null_mut()),
    count: own_count,
    is_counting: own_is_counting,
    flag: own_flag,
    flags: own_flags,
    publish: own_publish,
    unpublish: own_unpublish,
    detach: own_detach,
    child: own_child,
    slab: own_slab,
    clear: own_clear,
};

extern "C" fn own_count(pc: u64, tag: u64, delta: i64, registers: *const Registers) {
    // SAFETY: null or the frame's registers.
    count_here(pc, tag, delta, unsafe { registers.as_ref() });
}

#[inline]
fn count_here(pc: u64, tag: u64, delta: i64, registers: Option<&Registers>) {
    let Some(address) = unit::link_address(pc) else { return };
    early::count(address | tag, delta);
    if tag == INTERRUPTED {
        profile::flag(Flags::INTERRUPTED_FRAME);
    } else if let Some(registers) = registers {
        count_registers(pc, address | tag, delta, registers);
    }
}

/// Counts what an activation of this unit has in registers, by its code address and that as it was linked, with a tag.
pub fn count_registers(pc: u64, address: u64, delta: i64, registers: &Registers) {
    registers::for_each(pc, registers, |number, value| {
        paths::count(ABANDONED | number << VALUE_SHIFT | address, value, delta);
    });
}

extern "C" fn own_is_counting(pc: u64) -> bool {
    paths::is_counting(pc) || resume::is_announcing(pc)
}

extern "C" fn own_flag(bits: u64) {
    profile::flag(bits);
}

extern "C" fn own_flags(replacement: *const u64) -> u64 {
    // SAFETY: null or a word.
    if let Some(bits) = unsafe { replacement.as_ref() } {
        profile::set_flags(*bits);
    }
    profile::flags()
}

extern "C" fn own_publish(state: u32, threads_alive: u32) {
    profile::publish(state, threads_alive);
}

extern "C" fn own_unpublish() {
    profile::unpublish();
}

extern "C" fn own_detach() {
    profile::detach();
}

extern "C" fn own_child(thread: usize, interrupted: bool) {
    modules::after_fork();
    if profile::active() {
        profile::start_child(Some(thread), interrupted);
        slabs::claim(thread);
    }
}

extern "C" fn own_slab(thread: usize, thread_pointer: u64) {
    if !unit::threaded() {
        profile::flag(Flags::THREADS_UNEXPECTED);
        return;
    }
    slabs::give(thread, thread_pointer);
}

extern "C" fn own_clear() {
    slabs::clear();
    paths::clear();
    early::clear();
    profile::flag(Flags::RESET);
}

/// Every unit: ours and those that joined us.
fn units() -> impl Iterator<Item = &'static Unit> {
    core::iter::once(&SELF).chain(others())
}

/// Those that joined us.
fn others() -> impl Iterator<Item = &'static Unit> {
    let mut next = host::units();
    core::iter::from_fn(move || {
        // SAFETY: units leave the list before they are unloaded.
        let unit = unsafe { next.as_ref() }?;
        next = unit.next.load(Ordering::Acquire);
        Some(unit)
    })
}

/// Counts an activation at a code address, in the unit that it belongs to.
#[inline]
pub fn count(pc: u64, tag: u64, delta: i64, registers: Option<&Registers>) {
    count_here(pc, tag, delta, registers);
    let registers = registers.map_or(core::ptr::null(), core::ptr::from_ref);
    others().for_each(|unit| (unit.count)(pc, tag, delta, registers));
}

/// Whether any unit may know what is in registers of frames.
pub fn knows_registers() -> bool {
    registers::are_known() || has_others()
}

/// Whether any unit has joined this one.
pub fn has_others() -> bool {
    !host::units().is_null()
}

/// Whether the code address is where generated code of some unit has a path counted, or says that it resumes an exception.
pub fn is_counting(pc: u64) -> bool {
    units().any(|unit| (unit.is_counting)(pc))
}

/// Flags all profiles.
pub fn flag(bits: u64) {
    units().for_each(|unit| (unit.flag)(bits));
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
pub fn child(thread: usize, interrupted: bool) {
    units().for_each(|unit| (unit.child)(thread, interrupted));
}

/// Gives this thread its slabs.
#[cfg(not(feature = "shared-library"))]
pub fn give_slabs(thread: usize, thread_pointer: u64) {
    units().for_each(|unit| (unit.slab)(thread, thread_pointer));
}

/// All counters zero.
pub fn clear() {
    units().for_each(|unit| (unit.clear)());
}

/// The flags of all units (the first few), to put back after an attempt that failed.
#[cfg(not(feature = "shared-library"))]
pub struct SavedFlags([u64; 64]);

#[cfg(not(feature = "shared-library"))]
impl SavedFlags {
    pub fn take() -> Self {
        let mut saved = [0; 64];
        for (slot, unit) in saved.iter_mut().zip(units()) {
            *slot = (unit.flags)(core::ptr::null());
        }
        Self(saved)
    }

    pub fn put_back(&self) {
        for (bits, unit) in self.0.iter().zip(units()) {
            // What was lost meanwhile does not come back.
            let lost = (unit.flags)(core::ptr::null()) & Flags::PATHS_MISSING;
            (unit.flags)(&(bits | lost));
        }
    }
}

/// The executable's side.
#[cfg(not(feature = "shared-library"))]
mod host {
    use super::{Process, Unit};
    pub use crate::runtime::hooks::spawn::is_bottom;
    #[cfg(not(feature = "static-executable"))]
    use crate::runtime::hooks::unload::closing;
    use crate::runtime::process::thread;
    use core::sync::atomic::{AtomicPtr, Ordering};

    /// Static executables unload nothing.
    #[cfg(feature = "static-executable")]
    fn closing() -> bool {
        false
    }

    #[unsafe(no_mangle)]
    static cotree_process_v2: Process = Process { units: AtomicPtr::new(core::ptr::null_mut()), join, leave };

    pub fn units() -> *mut Unit {
        cotree_process_v2.units.load(Ordering::Acquire)
    }

    extern "C" fn join(unit: &'static Unit) {
        let _held = thread::lock();
        unit.next.store(units(), Ordering::Release);
        cotree_process_v2.units.store(core::ptr::from_ref(unit).cast_mut(), Ordering::Release);
        thread::with_stacks().for_each(|(index, pointer)| (unit.slab)(index, pointer));
    }

    /// Takes the unit off the list if it is being unloaded; false at process end, where it stays until the very last.
    extern "C" fn leave(unit: &'static Unit) -> bool {
        if !closing() {
            return false;
        }
        let _held = thread::lock();
        let mut link = &cotree_process_v2.units;
        loop {
            let at = link.load(Ordering::Acquire);
            // SAFETY: a unit on the list.
            let Some(found) = (unsafe { at.as_ref() }) else { break };
            if core::ptr::eq(found, unit) {
                link.store(unit.next.load(Ordering::Acquire), Ordering::Release);
                break;
            }
            link = &found.next;
        }
        true
    }
}

/// The shared library's side.
#[cfg(feature = "shared-library")]
mod host {
    use super::{Process, Unit};
    use crate::runtime::hooks::linkage::weak;

    weak!(process = "cotree_process_v2");

    /// A library knows only itself.
    pub fn units() -> *mut Unit {
        core::ptr::null_mut()
    }

    fn executable() -> Option<&'static Process> {
        // SAFETY: the symbol is a Process wherever it is defined.
        process().map(|process| unsafe { process.cast::<Process>().as_ref() })
    }

    /// Trampolines are the executable's.
    pub fn is_bottom(_pc: u64) -> bool {
        false
    }

    /// Joins a profiled executable; false if there is none.
    pub fn join() -> bool {
        executable().is_some_and(|process| {
            (process.join)(&super::SELF);
            true
        })
    }

    /// Whether the unit is to be finished now.
    pub fn leave() -> bool {
        executable().is_none_or(|process| (process.leave)(&super::SELF))
    }
}
/// Whether walks end at the code address.
pub use host::is_bottom;
#[cfg(feature = "shared-library")]
pub use host::{join, leave};
