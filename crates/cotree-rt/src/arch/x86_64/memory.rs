//! The inner loops of memory functions, and additions that no signal can interrupt.

use core::arch::asm;

/// Copies at least 16 bytes. A compiler would make a call of `memcpy` of the loop, and `rep movsb` takes long to begin.
///
/// # Safety
/// As `memcpy`, but ranges may overlap if `to` begins first.
#[inline(always)]
pub unsafe fn copy_vectors(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: vectors from the beginning on, four at once as long as there are as many, and the last one, which may
    // overlap the one before.
    unsafe {
        asm!(
            "movups {last}, [{from} + {len} - 16]",
            "lea {end}, [{to} + {len} - 16]",
            "sub {len}, 64",
            "jb 3f",
            "2:",
            "movups {a}, [{from}]",
            "movups {b}, [{from} + 16]",
            "movups {c}, [{from} + 32]",
            "movups {d}, [{from} + 48]",
            "movups [{to}], {a}",
            "movups [{to} + 16], {b}",
            "movups [{to} + 32], {c}",
            "movups [{to} + 48], {d}",
            "add {from}, 64",
            "add {to}, 64",
            "sub {len}, 64",
            "jae 2b",
            "3:",
            "cmp {to}, {end}",
            "jae 5f",
            "4:",
            "movups {a}, [{from}]",
            "movups [{to}], {a}",
            "add {from}, 16",
            "add {to}, 16",
            "cmp {to}, {end}",
            "jb 4b",
            "5:",
            "movups [{end}], {last}",
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            len = inout(reg) len => _,
            end = out(reg) _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            last = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// Copies from the last byte down to the first.
///
/// # Safety
/// As `memmove`, where `from` begins first if the ranges overlap.
#[inline(always)]
pub unsafe fn copy_down(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's ranges; the direction flag is restored.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") len => _, inout("rdi") to.wrapping_add(len).wrapping_sub(1) => _,
             inout("rsi") from.wrapping_add(len).wrapping_sub(1) => _, options(nostack));
    }
}

/// Fills the range with the byte.
///
/// # Safety
/// As `memset`.
#[inline(always)]
pub unsafe fn fill(to: *mut u8, byte: u8, len: usize) {
    let word = u64::from(byte) * (u64::MAX / 0xFF);
    // SAFETY: the caller's range: its words, then the bytes that are left.
    unsafe {
        asm!("rep stosq", "mov rcx, {rest}", "rep stosb", rest = in(reg) len % 8, inout("rcx") len / 8 => _,
             inout("rdi") to => _, in("rax") word, options(nostack));
    }
}

/// Adds one to a word of this thread's, in one instruction: a signal handler may do the same.
///
/// # Safety
/// The word must be there.
#[cfg(not(feature = "counters-alone"))]
#[inline(always)]
pub unsafe fn increment(word: *mut u64) {
    // SAFETY: the caller vouches.
    unsafe { asm!("inc qword ptr [{}]", in(reg) word, options(nostack)) };
}

/// Adds to a word of this thread's, in one instruction.
///
/// # Safety
/// The word must be there.
#[cfg(not(feature = "counters-alone"))]
#[inline(always)]
pub unsafe fn add(word: *mut u64, amount: u64) {
    // SAFETY: the caller vouches.
    unsafe { asm!("add qword ptr [{}], {}", in(reg) word, in(reg) amount, options(nostack)) };
}
