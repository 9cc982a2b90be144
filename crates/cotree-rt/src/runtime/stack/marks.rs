//! Code addresses with a meaning for walks: the bottom of the stack, the unwinder, a thread that is accounting for its
//! frames.

use crate::arch::stacks;
#[cfg(not(feature = "shared-library"))]
use crate::arch::trampolines;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::hooks::landing;
use core::ffi::c_void;
use core::mem::{ManuallyDrop, MaybeUninit};

/// Whether the code is the unwinder's, which leaves frames some time after they have been accounted for.
#[cfg(not(feature = "shared-library"))]
pub fn is_unwinder(pc: u64) -> bool {
    landing::is_unwinder(pc)
}

/// Exceptions are the executable's.
#[cfg(feature = "shared-library")]
pub fn is_unwinder(_pc: u64) -> bool {
    false
}

/// Whether walks end at the code address: below are only frames of libc.
#[cfg(not(feature = "shared-library"))]
#[inline(always)]
pub fn is_bottom(pc: u64) -> bool {
    trampolines::is_bottom(pc)
}

/// Trampolines are the executable's.
#[cfg(feature = "shared-library")]
pub fn is_bottom(_pc: u64) -> bool {
    false
}

/// Accounts for frames of this thread in such a way that whoever interrupts that, and walks the same stack, sees it:
/// [`super::walk::Walk::is_accounting`].
#[inline(always)]
pub fn accounting<T>(act: impl FnOnce() -> T) -> T {
    struct Slots<F, T>(ManuallyDrop<F>, MaybeUninit<T>);
    unsafe extern "C" fn run<T, F: FnOnce() -> T>(data: *mut c_void) {
        // SAFETY: the slots below, for the time of the call, which is the only one.
        unsafe {
            let slots = &mut *data.cast::<Slots<F, T>>();
            slots.1.write(ManuallyDrop::take(&mut slots.0)());
        }
    }
    fn runner<T, F: FnOnce() -> T>(_: &F) -> unsafe extern "C" fn(*mut c_void) {
        run::<T, F>
    }
    let run = runner(&act);
    let mut slots = Slots(ManuallyDrop::new(act), MaybeUninit::uninit());
    // SAFETY: a function for that type of data, which writes the result.
    unsafe {
        stacks::call_accounting(run, (&raw mut slots).cast());
        slots.1.assume_init()
    }
}
