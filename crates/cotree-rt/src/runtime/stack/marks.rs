//! Code addresses with a meaning for walks: the bottom of the stack, the unwinder, a thread that is accounting for its
//! frames.

use crate::arch::stacks;
#[cfg(not(feature = "shared-library"))]
use crate::arch::trampolines;
use crate::runtime::os::late::Late;
use crate::runtime::stack::unwind;
use core::ffi::c_void;
use core::mem::{ManuallyDrop, MaybeUninit};
#[cfg(not(feature = "shared-library"))]
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The functions in whose frames the unwinder works, once an exception has reached a landing pad.
#[cfg(not(feature = "shared-library"))]
static UNWINDER: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Finds out which functions these are, the first time.
#[cfg(not(feature = "shared-library"))]
pub fn find_unwinder(find: impl FnOnce() -> [u64; 4]) {
    if UNWINDER[0].load(Relaxed) == 0 {
        UNWINDER.iter().zip(find()).for_each(|(place, function)| place.store(function, Relaxed));
    }
}

/// Whether the code is the unwinder's, which leaves frames some time after they have been accounted for. Until
/// the landing pad runs they are on the stack, and whoever walks it then meets frames that have been counted.
#[cfg(not(feature = "shared-library"))]
pub fn is_unwinder(pc: u64) -> bool {
    UNWINDER[0].load(Relaxed) != 0
        && unwind::function_range(pc - 1).is_some_and(|(start, _)| UNWINDER.iter().any(|f| f.load(Relaxed) == start))
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

/// Whether the code address is where generated code of some unit has something recorded, or says that it resumes an
/// exception: asks all units.
// SAFETY: a function pointer.
pub static RECORDING: Late<fn(u64) -> bool> = unsafe { Late::new() };

/// Whether the code address is in `__cotree_resuming`: then the frame's caller was interrupted between its last known
/// call and its end.
pub fn is_resuming(pc: u64) -> bool {
    unsafe extern "C" {
        fn __cotree_resuming();
    }
    let start = __cotree_resuming as unsafe extern "C" fn() as usize as u64;
    // The entry has no more than so many bytes.
    (start..start + 128).contains(&pc) && unwind::function_range(pc).is_some_and(|range| range.0 == start)
}

/// Accounts for frames of this thread so that whoever interrupts that, and walks the same stack, sees it:
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
