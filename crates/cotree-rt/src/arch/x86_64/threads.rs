//! The thread pointer, and the unit's word in the thread-local storage.

use core::arch::asm;

/// The thread pointer.
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the ABI keeps the thread pointer at fs:0.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, pure, readonly)) };
    pointer
}

/// Distance of `__cotree_slab` from the thread pointer.
pub fn slab_word_offset() -> isize {
    let offset: isize;
    // SAFETY: reads a GOT entry (or, relaxed by the linker, a constant).
    unsafe {
        asm!("mov {}, qword ptr [rip + __cotree_slab@GOTTPOFF]", out(reg) offset, options(nostack, pure, readonly))
    };
    offset
}
