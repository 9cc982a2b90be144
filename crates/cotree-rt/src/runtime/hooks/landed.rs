//! `__cotree_builtin_setjmp`: generated code calls it behind each `__builtin_setjmp`, with what that returned.
//!
//! When it is not 0, a `__builtin_longjmp` has come back to the place. The jump itself accounts for all frames that
//! die, but knows no call of the target's that returns once more (see the module `jump`). This one is it.

use crate::layout::Flags;
use crate::runtime::hooks::linkage::{Caller, entry};
use crate::runtime::process::units;
use crate::runtime::record::Frames;
use crate::runtime::stack::marks;
use core::ffi::c_int;

entry!("__cotree_builtin_setjmp", builtin_setjmp, "rsi");

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

    /// Jumps that were accounted for and have not come out yet.
    static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

    /// A jump that has been accounted for goes off.
    pub fn expect() {
        UNDER_WAY.fetch_add(1, Relaxed);
    }

    /// One has come out: whether it has been accounted for. Code that cotree did not compile jumps without a word.
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
    landed().is_some_and(|landed| unsafe { crate::runtime::hooks::linkage::call!(landed.as_ptr() => fn() -> bool) })
}

#[cfg(feature = "shared-library")]
crate::runtime::hooks::linkage::weak!(landed = "cotree_builtin_landed_v1");

// A library's way into the executable's runtime. Where there is none, the jump is made here, and nobody accounts for
// it.
#[cfg(feature = "shared-library")]
core::arch::global_asm!(
    ".pushsection .text.cotree.builtin_longjmp,\"ax\",@progbits",
    ".p2align 4",
    ".weak cotree_builtin_longjmp_v1",
    ".hidden __cotree_builtin_longjmp",
    ".globl __cotree_builtin_longjmp",
    ".type __cotree_builtin_longjmp,@function",
    "__cotree_builtin_longjmp:",
    ".cfi_startproc",
    "endbr64",
    "mov rax, [rip + cotree_builtin_longjmp_v1@GOTPCREL]",
    "test rax, rax",
    "jz 2f",
    "jmp rax",
    "2: mov rbp, [rdi]",
    "mov rax, [rdi+8]",
    "mov rsp, [rdi+16]",
    "jmp rax",
    ".cfi_endproc",
    ".size __cotree_builtin_longjmp, .-__cotree_builtin_longjmp",
    ".popsection",
);
