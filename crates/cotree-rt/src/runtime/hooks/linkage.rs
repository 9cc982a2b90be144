//! Linkage that stable Rust can't express: weak references, and entry points that see their caller's registers.

/// `weak!(function = "symbol")`: the symbol's address, or None where nobody defines it.
macro_rules! weak {
    ($function:ident = $symbol:literal) => {
        fn $function() -> Option<core::ptr::NonNull<core::ffi::c_void>> {
            let address: *mut core::ffi::c_void;
            // SAFETY: reads a GOT entry, which is zero for an undefined weak symbol.
            unsafe {
                core::arch::asm!(concat!(".weak ", $symbol),
                    concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                    out(reg) address, options(nostack, pure, readonly));
            }
            core::ptr::NonNull::new(address)
        }
    };
}
pub(crate) use weak;

/// The caller's frame at an entry point: what a walk of its stack starts from.
#[repr(C)]
pub struct Caller {
    pub rbx: u64,
    pub rbp: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    /// The stack pointer after the return.
    pub sp: u64,
    /// The return address.
    pub pc: u64,
}

/// `entry!("symbol", function, register)`: a hidden C function that calls `function` with its own arguments and, in
/// `register` (the next free argument register), a pointer to the [`Caller`].
macro_rules! entry {
    ($symbol:literal, $function:path, $register:literal) => {
        $crate::runtime::hooks::linkage::entry_at!(
            $symbol,
            concat!(".hidden ", $symbol, "\n.globl ", $symbol, "\n.type ", $symbol, ",@function\n", $symbol, ":"),
            $function,
            $register
        );
    };
}
pub(crate) use entry;

/// Defines such an entry under the labels (assembly text).
macro_rules! entry_at {
    ($name:literal, $labels:expr, $function:path, $register:literal) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $labels,
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 72",
            ".cfi_adjust_cfa_offset 72",
            "mov [rsp], rbx",
            "mov [rsp+8], rbp",
            ".cfi_offset rbp, -72",
            "mov [rsp+16], r12",
            "mov [rsp+24], r13",
            "mov [rsp+32], r14",
            "mov [rsp+40], r15",
            "lea rax, [rsp+80]",
            "mov [rsp+48], rax",
            "mov rax, [rsp+72]",
            "mov [rsp+56], rax",
            concat!("mov ", $register, ", rsp"),
            // The caller may have a stack that is not aligned.
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "and rsp, -16",
            "call {function}",
            "mov rsp, rbp",
            ".cfi_def_cfa_register rsp",
            "mov rbp, [rsp+8]",
            ".cfi_restore rbp",
            "add rsp, 72",
            ".cfi_adjust_cfa_offset -72",
            "ret",
            ".cfi_endproc",
            ".popsection",
            function = sym $function,
        );
    };
}
pub(crate) use entry_at;

/// Calls a function address with a signature. The caller vouches that it has that signature.
macro_rules! call {
    ($address:expr => fn($($argument:expr => $type:ty),*) -> $result:ty) => {{
        let function: unsafe extern "C" fn($($type),*) -> $result = core::mem::transmute($address);
        function($($argument),*)
    }};
}
pub(crate) use call;
