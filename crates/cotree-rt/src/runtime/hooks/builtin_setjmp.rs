//! `__cotree_builtin_setjmp`: generated code calls it behind each `__builtin_setjmp`, with what that returned.
//!
//! When it is not 0, a `__builtin_longjmp` has come back to the place. The jump itself accounts for all frames that
//! die, but knows no call of the target's that returns once more (see the module `jump`). This one is it.

use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::process::units;
use crate::runtime::record::Frames;
use crate::runtime::stack::marks;
use core::ffi::c_int;

entry!("__cotree_builtin_setjmp", builtin_setjmp, 1);

unsafe extern "C" fn builtin_setjmp(result: c_int, caller: &Caller) {
    if result == 0 {
        return;
    }
    marks::accounting(|| {
        // No path register: a path begins with the block of a call that returns twice.
        if let Some(frames) = Frames::get() {
            frames.record(caller.pc, 0, -1, None);
            if !is_expected() {
                units::flag(Flags::FOREIGN_JUMP);
            }
        }
    });
}

#[cfg(not(feature = "shared-library"))]
mod side {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Jumps that were accounted for and have not arrived yet.
    static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

    /// A jump that has been accounted for goes off.
    pub fn expect() {
        UNDER_WAY.fetch_add(1, Relaxed);
    }

    /// A jump has arrived: whether it has been accounted for. Jumps of code that cotree did not compile are not.
    pub fn is_expected() -> bool {
        UNDER_WAY.fetch_update(Relaxed, Relaxed, |count| count.checked_sub(1)).is_ok()
    }

    /// For shared libraries, which leave it to the executable.
    #[unsafe(no_mangle)]
    extern "C" fn cotree_builtin_landed_v1() -> bool {
        is_expected()
    }
}
#[cfg(not(feature = "shared-library"))]
pub use side::{expect, is_expected};

/// A library's jumps are the executable's; without one that is profiled, nobody accounts for them.
#[cfg(feature = "shared-library")]
fn is_expected() -> bool {
    // SAFETY: the function has that signature wherever it is defined.
    in_executable().is_some_and(|ask| unsafe { crate::runtime::os::call::call!(ask.as_ptr() => fn() -> bool) })
}

#[cfg(feature = "shared-library")]
crate::arch::linkage::weak!(in_executable = "cotree_builtin_landed_v1");
