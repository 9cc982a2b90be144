//! System calls.

use core::arch::asm;
use core::ffi::c_long;

/// Makes a system call; gives what it answers, which is a negated error number from -4095 to -1.
///
/// # Safety
/// As for the call itself.
pub unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let value: isize;
    // SAFETY: the kernel's calling convention; the caller vouches for what the call does.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => value, in("rdi") args[0], in("rsi") args[1],
             in("rdx") args[2], in("r10") args[3], in("r8") args[4], in("r9") args[5],
             lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    value
}

/// The calls of a program that make a child, and that not every machine has.
#[cfg(not(feature = "shared-library"))]
pub const FORK: c_long = libc::SYS_fork;
#[cfg(not(feature = "shared-library"))]
pub const VFORK: c_long = libc::SYS_vfork;

/// `syscall`.
const INSTRUCTION: [u8; 2] = [0x0F, 0x05];

/// Whether the instruction at the code address is a system call.
///
/// # Safety
/// There must be code at the address.
pub unsafe fn is_next(pc: u64) -> bool {
    // SAFETY: code, and no page ends in between.
    pc & 0xFFF != 0xFFF && unsafe { (pc as *const [u8; 2]).read_volatile() } == INSTRUCTION
}

/// Bytes by which libc's wrappers of system calls are known.
#[cfg(not(feature = "shared-library"))]
pub const WRAPPER: usize = 72;

/// How glibc's `syscall` begins: `mov rax, rdi`.
#[cfg(not(feature = "shared-library"))]
pub const SYSCALL_BEGINS: [u8; 3] = [0x48, 0x89, 0xF8];

/// How glibc's `clone` begins: `mov rax, -EINVAL`.
#[cfg(not(feature = "shared-library"))]
pub const CLONE_BEGINS: [u8; 7] = [0x48, 0xC7, 0xC0, 0xEA, 0xFF, 0xFF, 0xFF];

/// Whether a function with this code begins so and makes a system call.
#[cfg(not(feature = "shared-library"))]
pub fn is_wrapper(code: &[u8; WRAPPER], begins: &[u8]) -> bool {
    const BRANCH_TARGET: [u8; 4] = [0xF3, 0x0F, 0x1E, 0xFA];
    let code = code.strip_prefix(&BRANCH_TARGET).unwrap_or(code);
    code.starts_with(begins) && code.windows(2).any(|two| two == INSTRUCTION)
}
