//! The registry of profiled shared libraries: the one symbol that the executable's runtime exports for them,
//! `cotree_process_v1`. Its number changes with the interface between the two; a library of another version is on its
//! own.

#[cfg(feature = "shared-library")]
use super::this_unit::THIS;
use super::this_unit::Unit;
use core::sync::atomic::AtomicPtr;
#[cfg(feature = "shared-library")]
pub use side::{join, leave};

/// The executable's list.
#[repr(C)]
pub struct Process {
    units: AtomicPtr<Unit>,
    join: extern "C" fn(unit: &'static Unit),
    leave: extern "C" fn(unit: &'static Unit) -> bool,
}

/// The first unit that has joined this one.
pub fn first() -> *mut Unit {
    side::units()
}

/// The executable's side.
#[cfg(not(feature = "shared-library"))]
mod side {
    use super::{Process, Unit};
    use crate::layout::Flags;
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
    static cotree_process_v1: Process = Process { units: AtomicPtr::new(core::ptr::null_mut()), join, leave };

    pub fn units() -> *mut Unit {
        cotree_process_v1.units.load(Ordering::Acquire)
    }

    extern "C" fn join(unit: &'static Unit) {
        let _held = thread::lock();
        unit.next.store(units(), Ordering::Release);
        cotree_process_v1.units.store(core::ptr::from_ref(unit).cast_mut(), Ordering::Release);
        thread::with_stacks().for_each(|(index, pointer)| (unit.thread_starts)(index, pointer));
    }

    /// Takes the unit off the list if it is being unloaded; false at process end, where it stays until the very last.
    extern "C" fn leave(unit: &'static Unit) -> bool {
        if !closing() {
            return false;
        }
        let _held = thread::lock();
        let mut link = &cotree_process_v1.units;
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
        if thread::vanished() > 0 {
            (unit.flag)(Flags::THREADS_ALIVE);
        }
        true
    }
}

/// The shared library's side.
#[cfg(feature = "shared-library")]
mod side {
    use super::{Process, Unit};
    use crate::arch::linkage::weak;

    weak!(process = "cotree_process_v1");

    /// A library knows only itself.
    pub fn units() -> *mut Unit {
        core::ptr::null_mut()
    }

    fn executable() -> Option<&'static Process> {
        // SAFETY: the symbol is a Process wherever it is defined.
        process().map(|process| unsafe { process.cast::<Process>().as_ref() })
    }

    /// Joins a profiled executable; false if there is none.
    pub fn join() -> bool {
        executable().is_some_and(|process| {
            (process.join)(&super::THIS);
            true
        })
    }

    /// Whether the unit is to be finished now.
    pub fn leave() -> bool {
        executable().is_none_or(|process| (process.leave)(&super::THIS))
    }
}
