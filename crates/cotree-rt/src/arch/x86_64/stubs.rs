//! Entries that generated code calls and that look to it as if they took one instruction: they preserve nearly all
//! registers, and walks know them by their ranges.

/// `path_stub!("name", "end", count)`: a stub that preserves all but r11 and vector registers (LLVM's
/// `preserve_mostcc`), and calls `count` with its own arguments.
macro_rules! path_stub {
    ($name:literal, $end:literal, $count:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $crate::arch::linkage::hidden!($name),
            ".cfi_startproc",
            "endbr64",
            $crate::arch::stubs::save!(),
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call {count}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            $crate::arch::stubs::restore!(),
            "ret",
            ".cfi_endproc",
            $crate::arch::stubs::stub_end!($name, $end),
            count = sym $count,
        );
    };
}
pub(crate) use path_stub;

/// `trace_stub!("name", "end", full)`: a stub that preserves all but r11 (LLVM's `preserve_allcc`), and calls `full`
/// with its two arguments and a pointer to the [`Caller`](super::registers::Caller). The runtime uses no vector
/// registers wider than these.
macro_rules! trace_stub {
    ($name:literal, $end:literal, $full:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $crate::arch::linkage::hidden!($name),
            ".cfi_startproc",
            "endbr64",
            $crate::arch::stubs::save!(),
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
            $crate::arch::stubs::restore!(),
            "ret",
            ".cfi_endproc",
            $crate::arch::stubs::stub_end!($name, $end),
            full = sym $full,
        );
    };
}
pub(crate) use trace_stub;

/// Pushes what callers expect to be changed by calls, but for r11.
macro_rules! save {
    () => {
        ".irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10
        push \\register
        .cfi_adjust_cfa_offset 8
        .endr"
    };
}
pub(crate) use save;

/// Pops what [`save`] has pushed.
macro_rules! restore {
    () => {
        ".irp register, r10, r9, r8, rdi, rsi, rdx, rcx, rax
        pop \\register
        .cfi_adjust_cfa_offset -8
        .endr"
    };
}
pub(crate) use restore;

/// The label behind a stub.
macro_rules! stub_end {
    ($name:literal, $end:literal) => {
        concat!(
            ".hidden ",
            $end,
            "\n.globl ",
            $end,
            "\n",
            $end,
            ":\n.size ",
            $name,
            ", ",
            $end,
            " - ",
            $name,
            "\n.popsection"
        )
    };
}
pub(crate) use stub_end;

/// `safe_points!(struck)`: `__cotree_safe_point`, which becomes the function whose address `struck` gives, or does
/// nothing if that is 0; and `cotree_event_stop`, which does the same.
macro_rules! safe_points {
    ($struck:path) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.safe_point,\"ax\",@progbits",
            ".p2align 4",
            $crate::arch::linkage::hidden!("__cotree_safe_point"),
            ".cfi_startproc",
            "endbr64",
            "push rbp",
            ".cfi_adjust_cfa_offset 8",
            "call {struck}",
            "pop rbp",
            ".cfi_adjust_cfa_offset -8",
            "test rax, rax",
            "jz 2f",
            "jmp rax",
            "2: ret",
            ".cfi_endproc",
            ".size __cotree_safe_point, . - __cotree_safe_point",
            $crate::arch::linkage::hidden!("cotree_event_stop"),
            ".cfi_startproc",
            "endbr64",
            "jmp __cotree_safe_point",
            ".cfi_endproc",
            ".size cotree_event_stop, . - cotree_event_stop",
            ".popsection",
            struck = sym $struck,
        );
    };
}
pub(crate) use safe_points;
