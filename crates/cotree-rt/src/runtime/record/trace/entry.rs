//! `__cotree_trace_full`, which generated code calls when it has filled the window of its slab.

use super::window::Window;
use crate::runtime::hooks::linkage::Caller;
use crate::runtime::unit;
use core::arch::global_asm;

// Preserves all but r11: LLVM's `preserve_allcc`. The runtime uses no vector registers wider than these.
global_asm!(
    ".pushsection .text.cotree.__cotree_trace_full,\"ax\",@progbits",
    ".p2align 4",
    ".hidden __cotree_trace_full",
    ".globl __cotree_trace_full",
    ".type __cotree_trace_full,@function",
    "__cotree_trace_full:",
    ".cfi_startproc",
    "endbr64",
    "push rax",
    ".cfi_adjust_cfa_offset 8",
    "push rcx",
    ".cfi_adjust_cfa_offset 8",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "push r9",
    ".cfi_adjust_cfa_offset 8",
    "push r10",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 328",
    ".cfi_adjust_cfa_offset 328",
    "mov [rsp + 256], rbx",
    "mov [rsp + 264], rbp",
    "mov [rsp + 272], r12",
    "mov [rsp + 280], r13",
    "mov [rsp + 288], r14",
    "mov [rsp + 296], r15",
    "lea rax, [rsp + 400]",
    "mov [rsp + 304], rax",
    "mov rax, [rsp + 392]",
    "mov [rsp + 312], rax",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "movups [rsp + 16*\\n], xmm\\n",
    ".endr",
    "lea rdx, [rsp + 256]",
    "call {full}",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "movups xmm\\n, [rsp + 16*\\n]",
    ".endr",
    "add rsp, 328",
    ".cfi_adjust_cfa_offset -328",
    "pop r10",
    ".cfi_adjust_cfa_offset -8",
    "pop r9",
    ".cfi_adjust_cfa_offset -8",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdx",
    ".cfi_adjust_cfa_offset -8",
    "pop rcx",
    ".cfi_adjust_cfa_offset -8",
    "pop rax",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".hidden cotree_rt_trace_full_end",
    ".globl cotree_rt_trace_full_end",
    "cotree_rt_trace_full_end:",
    ".size __cotree_trace_full, cotree_rt_trace_full_end - __cotree_trace_full",
    ".popsection",
    full = sym full,
);

unsafe extern "C" {
    fn __cotree_trace_full();
    static cotree_rt_trace_full_end: u8;
}

/// Whether the code address is in there: then the frame's caller was interrupted while it wrote to its trace.
pub fn contains(pc: u64) -> bool {
    (__cotree_trace_full as unsafe extern "C" fn() as usize as u64..&raw const cotree_rt_trace_full_end as u64)
        .contains(&pc)
}

/// `slab` is the one whose window is full; null: the one that the segment register leads to. The function that has
/// written to it is at the place ([`crate::layout::TracePlace`]).
unsafe extern "C" fn full(slab: *mut u64, place: u64, caller: &Caller) {
    let slab = if slab.is_null() { unit::segment() } else { slab };
    if let Some(window) = Window::of(slab) {
        window.is_full(Some((place, caller)));
    }
}
