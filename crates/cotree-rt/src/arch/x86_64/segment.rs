//! The base of the segment register GS, by which generated code of threaded executables reaches its counters.

use super::system_calls::call;
use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

const ARCH_SET_GS: usize = 0x1001;
const ARCH_GET_GS: usize = 0x1004;

/// Whether programs may use `rdgsbase` and `wrgsbase`: 0 unknown, 1 no, 2 yes.
static INSTRUCTIONS: AtomicU32 = AtomicU32::new(0);

fn has_instructions() -> bool {
    const FSGSBASE: u64 = 2;
    if INSTRUCTIONS.load(Relaxed) == 0 {
        // SAFETY: reads the auxiliary vector.
        let there = unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE != 0;
        INSTRUCTIONS.store(1 + u32::from(there), Relaxed);
    }
    INSTRUCTIONS.load(Relaxed) == 2
}

/// Sets the base; gives what the system call answers, if it takes one.
///
/// # Safety
/// The program must have no other use for the register.
pub unsafe fn set_base(base: u64) -> isize {
    if has_instructions() {
        // SAFETY: the kernel says that the instruction may be used; the caller vouches for the rest.
        unsafe { asm!("wrgsbase {}", in(reg) base, options(nostack, preserves_flags)) };
        return 0;
    }
    // SAFETY: the caller vouches.
    unsafe { call(libc::SYS_arch_prctl, [ARCH_SET_GS, base as usize, 0, 0, 0, 0]) }
}

/// The base.
pub fn base() -> u64 {
    let mut base: u64 = 0;
    if has_instructions() {
        // SAFETY: the kernel says that the instruction may be used.
        unsafe { asm!("rdgsbase {}", out(reg) base, options(nostack, nomem, preserves_flags)) };
    } else {
        // SAFETY: writes one word of ours. Where the call is not there, no base was ever set.
        let _ = unsafe { call(libc::SYS_arch_prctl, [ARCH_GET_GS, &raw mut base as usize, 0, 0, 0, 0]) };
    }
    base
}
