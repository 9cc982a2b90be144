//! The running total of a thread's events, and the function that adds to it.

/// Defines the TLS word `__cotree_event_total` and `cotree_events`.
macro_rules! total {
    () => {
        core::arch::global_asm!(
            ".pushsection .tbss.cotree,\"awT\",@nobits",
            ".p2align 3",
            ".globl __cotree_event_total",
            ".type __cotree_event_total,@object",
            "__cotree_event_total:",
            ".zero 8",
            ".size __cotree_event_total, 8",
            ".popsection",
            ".pushsection .text.cotree.cotree_events,\"ax\",@progbits",
            ".p2align 4",
            $crate::arch::linkage::hidden!("cotree_events"),
            ".cfi_startproc",
            "endbr64",
            "mov rax, qword ptr [rip + __cotree_event_total@GOTTPOFF]",
            // One instruction: a signal handler may report, too.
            "add qword ptr fs:[rax], rdi",
            "ret",
            ".cfi_endproc",
            ".size cotree_events, . - cotree_events",
            ".popsection",
        );
    };
}
pub(crate) use total;
