//! Entries below the program: what calls `main`, the start routines of threads and children, and signal handlers.

use core::ffi::{c_int, c_void};

unsafe extern "C" {
    /// What a thread runs that is given its record.
    #[link_name = "cotree_rt_thread"]
    pub fn thread(record: *mut c_void) -> *mut c_void;
    /// What a child by `clone` runs that is given a record.
    #[link_name = "cotree_rt_clone"]
    pub fn child(record: *mut c_void) -> c_int;
    static cotree_rt_bottom: u8;
    static cotree_rt_bottom_end: u8;
    fn cotree_rt_handler();
    fn cotree_rt_handler_earlier();
    fn cotree_rt_handler_once();
    static cotree_rt_handling: u8;
}

/// Whether the code address is in what calls `main` or a start routine.
pub fn is_bottom(pc: u64) -> bool {
    (&raw const cotree_rt_bottom as u64..&raw const cotree_rt_bottom_end as u64).contains(&pc)
}

/// Defines what calls start routines, and `main`. First comes the type of records, with the fields `start` and
/// `argument`. Entries of threads and of `main` keep a cleanup buffer of four words at the bottom of their frames, and
/// pass its address.
macro_rules! bottoms {
    (
        $record:ty,
        thread: [$enter:path, $leave:path],
        main: [$enter_main:path, $leave_main:path],
        child: [$child_begins:path, $child_ends:literal],
    ) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.trampolines,\"ax\",@progbits",
            ".p2align 4",
            ".hidden cotree_rt_bottom, cotree_rt_bottom_end, cotree_rt_thread, cotree_rt_clone, cotree_rt_main",
            ".globl cotree_rt_bottom, cotree_rt_bottom_end, cotree_rt_thread, cotree_rt_clone, cotree_rt_main",
            ".type cotree_rt_clone,@function",
            ".type cotree_rt_thread,@function",
            ".type cotree_rt_main,@function",
            "cotree_rt_bottom:",
            "cotree_rt_thread:",
            ".cfi_startproc",
            "endbr64",
            "push rbx",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_offset rbx, -16",
            "sub rsp, 48",
            ".cfi_adjust_cfa_offset 48",
            "mov rbx, rdi",
            "mov rsi, rsp",
            "call {enter}",
            "mov rdi, [rbx + {argument}]",
            "call [rbx + {start}]",
            "mov [rsp+40], rax",
            "mov rdi, rbx",
            "mov rsi, rsp",
            "call {leave}",
            "mov rax, [rsp+40]",
            "add rsp, 48",
            ".cfi_adjust_cfa_offset -48",
            "pop rbx",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore rbx",
            "ret",
            ".cfi_endproc",
            ".size cotree_rt_thread, .-cotree_rt_thread",
            // The stack of a child by `clone` begins here.
            "cotree_rt_clone:",
            ".cfi_startproc",
            ".cfi_undefined rip",
            "endbr64",
            "push rbx",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_offset rbx, -16",
            "mov rbx, rdi",
            "call {child_begins}",
            "mov rdi, [rbx + {argument}]",
            "call [rbx + {start}]",
            "mov edi, eax",
            concat!("call ", $child_ends),
            "pop rbx",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore rbx",
            "ret",
            ".cfi_endproc",
            ".size cotree_rt_clone, .-cotree_rt_clone",
            "cotree_rt_main:",
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 72",
            ".cfi_adjust_cfa_offset 72",
            "mov [rsp+40], rdi",
            "mov [rsp+48], rsi",
            "mov [rsp+56], rdx",
            "mov rdi, rsp",
            "call {enter_main}",
            "mov rdi, [rsp+40]",
            "mov rsi, [rsp+48]",
            "mov rdx, [rsp+56]",
            "call rax",
            "mov [rsp+40], rax",
            "mov rdi, rsp",
            "call {leave_main}",
            "mov rax, [rsp+40]",
            "add rsp, 72",
            ".cfi_adjust_cfa_offset -72",
            "ret",
            ".cfi_endproc",
            ".size cotree_rt_main, .-cotree_rt_main",
            "cotree_rt_bottom_end:",
            ".popsection",
            child_begins = sym $child_begins,
            enter = sym $enter,
            leave = sym $leave,
            enter_main = sym $enter_main,
            leave_main = sym $leave_main,
            start = const core::mem::offset_of!($record, start),
            argument = const core::mem::offset_of!($record, argument),
        );
    };
}
pub(crate) use bottoms;

/// `start_main_hook!(start_main)`: the entry in front of `__libc_start_main`, which puts the trampoline in the place of
/// `main`. It calls `start_main` with `main`, and then becomes the function whose address that returns.
macro_rules! start_main_hook {
    ($start_main:path) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.start_main,\"ax\",@progbits",
            ".p2align 4",
            $crate::arch::linkage::hooked!("__libc_start_main"),
            ".cfi_startproc",
            ".cfi_undefined rip",
            "endbr64",
            "sub rsp, 56",
            ".cfi_adjust_cfa_offset 56",
            "mov [rsp+8], rsi",
            "mov [rsp+16], rdx",
            "mov [rsp+24], rcx",
            "mov [rsp+32], r8",
            "mov [rsp+40], r9",
            "call {start_main}",
            "lea rdi, [rip + cotree_rt_main]",
            "mov rsi, [rsp+8]",
            "mov rdx, [rsp+16]",
            "mov rcx, [rsp+24]",
            "mov r8, [rsp+32]",
            "mov r9, [rsp+40]",
            "add rsp, 56",
            ".cfi_adjust_cfa_offset -56",
            "jmp rax",
            ".cfi_endproc",
            ".popsection",
            start_main = sym $start_main,
        );
    };
}
pub(crate) use start_main_hook;

/// The entry in the place of a handler of the program.
pub fn handler() -> usize {
    cotree_rt_handler as unsafe extern "C" fn() as usize
}

/// The entry in the place of a handler from before the program.
pub fn handler_earlier() -> usize {
    cotree_rt_handler_earlier as unsafe extern "C" fn() as usize
}

/// The entry that leaves no frame: nothing is to be done when the handler has returned.
pub fn handler_once() -> usize {
    cotree_rt_handler_once as unsafe extern "C" fn() as usize
}

/// Whether the code address is where an entry waits for its handler.
pub fn is_handling(pc: u64) -> bool {
    pc == &raw const cotree_rt_handling as u64
}

/// `handler_prologue!(name, frame)`: the beginning of an entry in the place of a signal handler. It makes a frame of
/// this many bytes, and keeps what the kernel passes to handlers at the bottom of it.
macro_rules! handler_prologue {
    ($name:literal, $frame:literal) => {
        concat!(
            ".p2align 4\n.hidden ",
            $name,
            "\n.globl ",
            $name,
            "\n.type ",
            $name,
            ",@function\n",
            $name,
            ":\n.cfi_startproc\nendbr64\nsub rsp, ",
            $frame,
            "\n.cfi_adjust_cfa_offset ",
            $frame,
            "\nmov [rsp], rdi\nmov [rsp+8], rsi\nmov [rsp+16], rdx"
        )
    };
}
pub(crate) use handler_prologue;

/// Defines the entries in the place of signal handlers. Each asks its function for the handler, with the signal and the
/// address of the frame; `end` is called with that when the handler has returned.
macro_rules! handlers {
    ($begin:path, $begin_earlier:path, $begin_once:path, $end:path) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.handler,\"ax\",@progbits",
            $crate::arch::trampolines::handler_prologue!("cotree_rt_handler", 40),
            "mov rsi, rsp",
            "call {begin}",
            ".Lcotree_rt_handle:",
            "mov rdi, [rsp]",
            "mov rsi, [rsp+8]",
            "mov rdx, [rsp+16]",
            "call rax",
            ".hidden cotree_rt_handling",
            ".globl cotree_rt_handling",
            "cotree_rt_handling:",
            "mov rdi, rsp",
            "call {end}",
            "add rsp, 40",
            ".cfi_adjust_cfa_offset -40",
            "ret",
            ".cfi_endproc",
            ".size cotree_rt_handler, .-cotree_rt_handler",
            $crate::arch::trampolines::handler_prologue!("cotree_rt_handler_earlier", 40),
            "mov rsi, rsp",
            "call {begin_earlier}",
            "jmp .Lcotree_rt_handle",
            ".cfi_endproc",
            ".size cotree_rt_handler_earlier, .-cotree_rt_handler_earlier",
            $crate::arch::trampolines::handler_prologue!("cotree_rt_handler_once", 24),
            "call {begin_once}",
            "mov rdi, [rsp]",
            "mov rsi, [rsp+8]",
            "mov rdx, [rsp+16]",
            "add rsp, 24",
            ".cfi_adjust_cfa_offset -24",
            "jmp rax",
            ".cfi_endproc",
            ".size cotree_rt_handler_once, .-cotree_rt_handler_once",
            ".popsection",
            begin = sym $begin,
            begin_earlier = sym $begin_earlier,
            begin_once = sym $begin_once,
            end = sym $end,
        );
    };
}
pub(crate) use handlers;
