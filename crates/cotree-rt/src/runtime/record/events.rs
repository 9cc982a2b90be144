//! The events that a thread has reported (`cotree_events` of `cotree.h`): a running total, which generated code reads
//! where paths begin and end.
//!
//! The total never decreases, not even at `cotree_reset` or in a forked child, because only its differences are added
//! up. The executable exports its total to shared libraries, whose code finds it before their own. So every report
//! counts in the paths of all link units on the thread's stack.

use core::arch::global_asm;

global_asm!(
    ".pushsection .tbss.cotree,\"awT\",@nobits",
    ".p2align 3",
    ".globl cotree_event_total",
    ".type cotree_event_total,@object",
    "cotree_event_total:",
    ".zero 8",
    ".size cotree_event_total, 8",
    ".popsection",
    ".pushsection .text.cotree.cotree_events,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_events",
    ".globl cotree_events",
    ".type cotree_events,@function",
    "cotree_events:",
    ".cfi_startproc",
    "endbr64",
    "mov rax, qword ptr [rip + cotree_event_total@GOTTPOFF]",
    // One instruction: a signal handler may report, too.
    "add qword ptr fs:[rax], rdi",
    "ret",
    ".cfi_endproc",
    ".size cotree_events, . - cotree_events",
    ".popsection",
);
