//! Entries in front of `syscall` and `clone`, which make the call themselves or leave it to the function behind.
//!
//! Only the link unit's own references come to them, not those of shared libraries.

use crate::runtime::hooks::linkage::Caller;
use crate::runtime::os::sys;
use core::ffi::{c_long, c_void};

/// The labels of a hook that shared libraries don't see.
macro_rules! only_wrapped {
    ($name:literal) => {
        concat!(
            ".hidden cotree_rt_hook_",
            $name,
            "\n.globl cotree_rt_hook_",
            $name,
            "\n.globl __wrap_",
            $name,
            "\n.type __wrap_",
            $name,
            ",@function\ncotree_rt_hook_",
            $name,
            ":\n__wrap_",
            $name,
            ":"
        )
    };
}
pub(crate) use only_wrapped;

/// What an entry saves: where it was called, and its arguments as far as they are in registers.
#[repr(C)]
pub struct Call {
    pub caller: Caller,
    /// The first argument: of `syscall` the number of the call.
    pub number: c_long,
    /// The second to the sixth.
    pub arguments: [usize; 5],
}

/// What becomes of the call.
#[repr(C)]
pub struct Answer {
    /// 1: it has been made, with the result. 0: the function at that address is to make it.
    pub made: u64,
    pub value: i64,
}

/// `call_entry!("name", function)`: an entry in front of the function of that name, which asks `function` what becomes
/// of the call.
macro_rules! call_entry {
    ($name:literal, $function:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $crate::runtime::hooks::call_entry::only_wrapped!($name),
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 120",
            ".cfi_adjust_cfa_offset 120",
            "mov [rsp], rbx",
            "mov [rsp+8], rbp",
            ".cfi_offset rbp, -120",
            "mov [rsp+16], r12",
            "mov [rsp+24], r13",
            "mov [rsp+32], r14",
            "mov [rsp+40], r15",
            "lea rax, [rsp+128]",
            "mov [rsp+48], rax",
            "mov rax, [rsp+120]",
            "mov [rsp+56], rax",
            "mov [rsp+64], rdi",
            "mov [rsp+72], rsi",
            "mov [rsp+80], rdx",
            "mov [rsp+88], rcx",
            "mov [rsp+96], r8",
            "mov [rsp+104], r9",
            "mov rdi, rsp",
            // The caller may have a stack that is not aligned.
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "and rsp, -16",
            "call {function}",
            "mov rsp, rbp",
            ".cfi_def_cfa_register rsp",
            "mov rbp, [rsp+8]",
            ".cfi_restore rbp",
            "test rax, rax",
            "mov rax, rdx",
            "jnz 2f",
            "mov rdi, [rsp+64]",
            "mov rsi, [rsp+72]",
            "mov rdx, [rsp+80]",
            "mov rcx, [rsp+88]",
            "mov r8, [rsp+96]",
            "mov r9, [rsp+104]",
            ".cfi_remember_state",
            "add rsp, 120",
            ".cfi_adjust_cfa_offset -120",
            "jmp rax",
            ".cfi_restore_state",
            "2: add rsp, 120",
            ".cfi_adjust_cfa_offset -120",
            "ret",
            ".cfi_endproc",
            ".popsection",
            function = sym $function,
        );
    };
}
pub(crate) use call_entry;

/// Whether the function behind is libc's, and not one of the program that happens to have its name (an emulator's
/// `syscall`).
pub fn is_system_call(function: *const c_void, begins: &[u8]) -> bool {
    const BRANCH_TARGET: [u8; 4] = [0xF3, 0x0F, 0x1E, 0xFA];
    const SYSTEM_CALL: [u8; 2] = [0x0F, 0x05];
    let at = function as u64;
    if function.is_null() || !sys::readable(at & !7) || !sys::readable((at + 72) & !7) {
        return false;
    }
    // SAFETY: both ends are readable, and no two pages lie between.
    let code = unsafe { core::slice::from_raw_parts(function.cast::<u8>(), 72) };
    let code = code.strip_prefix(&BRANCH_TARGET).unwrap_or(code);
    code.starts_with(begins) && code.windows(2).any(|two| two == SYSTEM_CALL)
}
