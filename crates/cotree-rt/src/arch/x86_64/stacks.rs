//! Calls on another stack, and calls in whose frames walks see that a thread accounts for frames of its own.

use core::ffi::c_void;

unsafe extern "C" {
    /// Calls the function with the argument on the stack whose end is `top`.
    #[link_name = "cotree_rt_call_on"]
    pub fn call_on(top: *mut c_void, function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void);
    /// Calls the function with the argument.
    #[link_name = "cotree_rt_accounting"]
    pub fn call_accounting(act: unsafe extern "C" fn(*mut c_void), data: *mut c_void);
    static cotree_rt_accounting_end: u8;
}

core::arch::global_asm!(
    ".pushsection .text.cotree.call_on,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_call_on",
    ".globl cotree_rt_call_on",
    ".type cotree_rt_call_on,@function",
    "cotree_rt_call_on:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "mov rdi, rdx",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_call_on, .-cotree_rt_call_on",
    ".popsection",
    ".pushsection .text.cotree.accounting,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_accounting, cotree_rt_accounting_end",
    ".globl cotree_rt_accounting, cotree_rt_accounting_end",
    ".type cotree_rt_accounting,@function",
    "cotree_rt_accounting:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "cotree_rt_accounting_end:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_accounting, .-cotree_rt_accounting",
    ".popsection",
);

/// Whether the code address is where [`call_accounting`] waits for its function.
pub fn is_accounting(pc: u64) -> bool {
    pc == &raw const cotree_rt_accounting_end as u64
}
