//! Entries from the program: functions in front of those of libc and of the unwinder, and functions that generated code
//! calls. They know their caller's registers ([`super::registers::Caller`]).

#[cfg(not(feature = "shared-library"))]
use super::registers::Caller;
#[cfg(not(feature = "shared-library"))]
use core::ffi::c_long;

/// The argument register with that number.
macro_rules! argument {
    (0) => {
        "rdi"
    };
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
}
pub(crate) use argument;

/// The beginning of an entry: its section, its labels, a frame of so many bytes, and in the lowest of them the
/// [`super::registers::Caller`].
macro_rules! begin {
    ($name:literal, $labels:expr, $size:literal) => {
        concat!(
            ".pushsection .text.cotree.",
            $name,
            ",\"ax\",@progbits\n.p2align 4\n",
            $labels,
            "\n.cfi_startproc\nendbr64\nsub rsp, ",
            $size,
            "\n.cfi_adjust_cfa_offset ",
            $size,
            "\nmov [rsp], rbx\nmov [rsp+8], rbp\n.cfi_offset rbp, -",
            $size,
            "\nmov [rsp+16], r12\nmov [rsp+24], r13\nmov [rsp+32], r14\nmov [rsp+40], r15\nlea rax, [rsp+8+",
            $size,
            "]\nmov [rsp+48], rax\nmov rax, [rsp+",
            $size,
            "]\nmov [rsp+56], rax"
        )
    };
}
pub(crate) use begin;

/// Calls `{function}` from a frame that has rbp in this place. The caller of the entry may have a stack that is not
/// aligned.
macro_rules! aligned_call {
    ($rbp:literal) => {
        concat!(
            "mov rbp, rsp\n.cfi_def_cfa_register rbp\nand rsp, -16\ncall {function}\n\
             mov rsp, rbp\n.cfi_def_cfa_register rsp\nmov rbp, [rsp+",
            $rbp,
            "]\n.cfi_restore rbp"
        )
    };
}
pub(crate) use aligned_call;

/// The end of an entry with a frame of so many bytes, by a return or a jump.
macro_rules! end {
    ($size:literal, $leave:literal) => {
        concat!("add rsp, ", $size, "\n.cfi_adjust_cfa_offset -", $size, "\n", $leave, "\n.cfi_endproc\n.popsection")
    };
}
pub(crate) use end;

/// Defines an entry with these labels that calls `function` with its own arguments, of which there are so many, and a
/// pointer to the `Caller`.
macro_rules! entry_at {
    ($name:literal, $labels:expr, $function:path, $arguments:tt) => {
        core::arch::global_asm!(
            $crate::arch::entries::begin!($name, $labels, 72),
            concat!("mov ", $crate::arch::entries::argument!($arguments), ", rsp"),
            $crate::arch::entries::aligned_call!(8),
            $crate::arch::entries::end!(72, "ret"),
            function = sym $function,
        );
    };
}
pub(crate) use entry_at;

/// `entry!("symbol", function, 1)`: a hidden C function that calls `function` with its own argument, of which it has so
/// many, and a pointer to the `Caller`.
macro_rules! entry {
    ($symbol:literal, $function:path, $arguments:tt) => {
        $crate::arch::entries::entry_at!($symbol, $crate::arch::linkage::hidden!($symbol), $function, $arguments);
    };
}
pub(crate) use entry;

/// `hook!("name", function, 1)`: as [`entry`], in front of the function of that name.
#[cfg(not(feature = "shared-library"))]
macro_rules! hook {
    ($name:literal, $function:path, $arguments:tt) => {
        $crate::arch::entries::entry_at!($name, $crate::arch::linkage::hooked!($name), $function, $arguments);
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use hook;

/// How many arguments a [`variadic_hook`] has in registers, after the first one.
#[cfg(not(feature = "shared-library"))]
pub const VARIADIC_REGISTERS: usize = 5;

/// `variadic_hook!("name", function)`: an entry in front of a function with any number of arguments. It calls
/// `function` with the first one, where the others lie that were in registers, where those on the stack lie, and a
/// pointer to the `Caller`.
#[cfg(not(feature = "shared-library"))]
macro_rules! variadic_hook {
    ($name:literal, $function:path) => {
        core::arch::global_asm!(
            $crate::arch::entries::begin!($name, $crate::arch::linkage::hooked!($name), 120),
            "mov [rsp+64], rsi",
            "mov [rsp+72], rdx",
            "mov [rsp+80], rcx",
            "mov [rsp+88], r8",
            "mov [rsp+96], r9",
            "lea rsi, [rsp+64]",
            "lea rdx, [rsp+128]",
            "mov rcx, rsp",
            $crate::arch::entries::aligned_call!(8),
            $crate::arch::entries::end!(120, "ret"),
            function = sym $function,
        );
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use variadic_hook;

/// What a [`call_entry`] saves: where it was called, and its arguments as far as they are in registers.
#[cfg(not(feature = "shared-library"))]
#[repr(C)]
pub struct Call {
    pub caller: Caller,
    /// The first argument: of `syscall` the number of the call.
    pub number: c_long,
    /// The second to the sixth.
    pub arguments: [usize; 5],
}

#[cfg(not(feature = "shared-library"))]
impl Call {
    /// The seventh argument: what the caller has put there, if it has put anything.
    pub fn seventh(&self) -> usize {
        // SAFETY: the lowest word of the caller's frame: stack memory in any case.
        unsafe { (self.caller.sp as *const usize).read() }
    }
}

/// What becomes of the call.
#[cfg(not(feature = "shared-library"))]
#[repr(C)]
pub struct Answer {
    /// 1: it has been made, with the result. 0: the function at that address is to make it.
    pub made: u64,
    pub value: i64,
}

/// `call_entry!("name", function)`: an entry in front of the function of that name, which asks `function` what becomes
/// of the call. Shared libraries don't see it.
#[cfg(not(feature = "shared-library"))]
macro_rules! call_entry {
    ($name:literal, $function:path) => {
        core::arch::global_asm!(
            $crate::arch::entries::begin!($name, $crate::arch::linkage::only_wrapped!($name), 120),
            "mov [rsp+64], rdi",
            "mov [rsp+72], rsi",
            "mov [rsp+80], rdx",
            "mov [rsp+88], rcx",
            "mov [rsp+96], r8",
            "mov [rsp+104], r9",
            "mov rdi, rsp",
            $crate::arch::entries::aligned_call!(8),
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
            "2:",
            $crate::arch::entries::end!(120, "ret"),
            function = sym $function,
        );
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use call_entry;

/// `tail_hook!("name", function)`: a hook of any signature that calls `function` and then becomes the function whose
/// address that returns, with all arguments (the stack's too) as they were.
#[cfg(not(feature = "shared-library"))]
macro_rules! tail_hook {
    ($name:literal, $function:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $crate::arch::linkage::hooked!($name),
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 56",
            ".cfi_adjust_cfa_offset 56",
            "mov [rsp], rdi",
            "mov [rsp+8], rsi",
            "mov [rsp+16], rdx",
            "mov [rsp+24], rcx",
            "mov [rsp+32], r8",
            "mov [rsp+40], r9",
            "mov [rsp+48], rbp",
            ".cfi_offset rbp, -16",
            $crate::arch::entries::aligned_call!(48),
            "mov rdi, [rsp]",
            "mov rsi, [rsp+8]",
            "mov rdx, [rsp+16]",
            "mov rcx, [rsp+24]",
            "mov r8, [rsp+32]",
            "mov r9, [rsp+40]",
            $crate::arch::entries::end!(56, "jmp rax"),
            function = sym $function,
        );
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use tail_hook;

/// `vfork_hook!(begins, ends)`: the entry in front of `vfork`, which calls `begins` with a [`Caller`] of which only
/// stack pointer and return address mean anything, and in the parent `ends` with the result of the system call.
#[cfg(not(feature = "shared-library"))]
macro_rules! vfork_hook {
    ($begins:path, $ends:path) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.vfork,\"ax\",@progbits",
            ".p2align 4",
            $crate::arch::linkage::hooked!("vfork"),
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 72",
            ".cfi_adjust_cfa_offset 72",
            "lea rax, [rsp+80]",
            "mov [rsp+48], rax",
            "mov rax, [rsp+72]",
            "mov [rsp+56], rax",
            "mov rdi, rsp",
            "call {begins}",
            "add rsp, 72",
            ".cfi_adjust_cfa_offset -72",
            // The child returns from here and uses the stack; the parent must find its return address elsewhere.
            "pop rdx",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_register rip, rdx",
            "mov eax, 58",
            "syscall",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_offset rip, -8",
            "test eax, eax",
            "jz 2f",
            "mov edi, eax",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call {ends}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "2: ret",
            ".cfi_endproc",
            ".popsection",
            begins = sym $begins,
            ends = sym $ends,
        );
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use vfork_hook;

/// `answer!("symbol", 0)`: a hidden function that does nothing but to give this number.
macro_rules! answer {
    ($symbol:literal, $answer:literal) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $symbol, ",\"ax\",@progbits"),
            $crate::arch::linkage::hidden!($symbol),
            ".cfi_startproc",
            "endbr64",
            concat!("mov eax, ", $answer),
            "ret",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
            ".popsection",
        );
    };
}
pub(crate) use answer;
