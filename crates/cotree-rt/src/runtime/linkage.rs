//! References that stable Rust can't make: weak ones, and entry points that see their caller's registers.

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

/// `entry!("symbol", visibility, function, register)`: a C function that calls `function` with its own arguments and,
/// in `register` (the next free argument register), a pointer to the [`Caller`].
macro_rules! entry {
    ($symbol:expr, $visibility:literal, $function:path, $register:literal) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $symbol, ",\"ax\",@progbits"),
            ".p2align 4",
            concat!($visibility, " ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            ".cfi_startproc",
            "endbr64",
            "sub rsp, 72",
            ".cfi_adjust_cfa_offset 72",
            "mov [rsp], rbx",
            "mov [rsp+8], rbp",
            "mov [rsp+16], r12",
            "mov [rsp+24], r13",
            "mov [rsp+32], r14",
            "mov [rsp+40], r15",
            "lea rax, [rsp+80]",
            "mov [rsp+48], rax",
            "mov rax, [rsp+72]",
            "mov [rsp+56], rax",
            concat!("mov ", $register, ", rsp"),
            "call {function}",
            "add rsp, 72",
            ".cfi_adjust_cfa_offset -72",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", .-", $symbol),
            ".popsection",
            function = sym $function,
        );
    };
}
pub(crate) use entry;

/// `tail_entry!("symbol", function)`: a C function of any signature that calls `function` with the same first argument
/// and then becomes the function whose address that returns, with all arguments (the stack's too) as they were.
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
macro_rules! tail_entry {
    ($symbol:expr, $function:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $symbol, ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
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
            "call {function}",
            "mov rdi, [rsp]",
            "mov rsi, [rsp+8]",
            "mov rdx, [rsp+16]",
            "mov rcx, [rsp+24]",
            "mov r8, [rsp+32]",
            "mov r9, [rsp+40]",
            "add rsp, 56",
            ".cfi_adjust_cfa_offset -56",
            "jmp rax",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", .-", $symbol),
            ".popsection",
            function = sym $function,
        );
    };
}
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub(crate) use tail_entry;

/// The name under which we stand in front of a libc function: in a dynamic executable its own, found first by the
/// loader; in a static one the linker's `--wrap` leads there.
#[cfg(not(any(feature = "static-executable", feature = "shared-library")))]
macro_rules! hook_name {
    ($name:literal) => {
        $name
    };
}
#[cfg(all(feature = "static-executable", not(feature = "shared-library")))]
macro_rules! hook_name {
    ($name:literal) => {
        concat!("__wrap_", $name)
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use hook_name;

/// `real!(function = "name")`: a function that gives the address of the libc function behind our hook of that name.
#[cfg(not(any(feature = "static-executable", feature = "shared-library")))]
macro_rules! real {
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            static FOUND: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
                core::sync::atomic::AtomicPtr::new(core::ptr::null_mut());
            $crate::runtime::linkage::next_definition(&FOUND, concat!($name, "\0"))
        }
    };
}
#[cfg(all(feature = "static-executable", not(feature = "shared-library")))]
macro_rules! real {
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            let address: *const core::ffi::c_void;
            // SAFETY: reads a GOT entry.
            unsafe {
                core::arch::asm!(concat!("mov {}, qword ptr [rip + __real_", $name, "@GOTPCREL]"),
                    out(reg) address, options(nostack, pure, readonly));
            }
            address
        }
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use real;

/// `behind!(function = "name")`: a function that gives the address of a function that we do not hook but need, from
/// wherever the program has it.
#[cfg(not(any(feature = "static-executable", feature = "shared-library")))]
macro_rules! behind {
    ($function:ident = $name:literal) => {
        $crate::runtime::linkage::real!($function = $name);
    };
}
#[cfg(all(feature = "static-executable", not(feature = "shared-library")))]
macro_rules! behind {
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            let address: *const core::ffi::c_void;
            // SAFETY: reads a GOT entry.
            unsafe {
                core::arch::asm!(concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    out(reg) address, options(nostack, pure, readonly));
            }
            address
        }
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use behind;

/// The definition after ours, remembered.
#[cfg(not(any(feature = "static-executable", feature = "shared-library")))]
pub fn next_definition(
    found: &core::sync::atomic::AtomicPtr<core::ffi::c_void>,
    name: &'static str,
) -> *const core::ffi::c_void {
    use core::sync::atomic::Ordering::Relaxed;
    let mut address = found.load(Relaxed);
    if address.is_null() {
        let name: *const core::ffi::c_char = name.as_ptr().cast();
        // SAFETY: NUL-terminated names.
        unsafe {
            address = libc::dlsym(libc::RTLD_NEXT, name);
            // The unwinder of a library that was loaded with RTLD_LOCAL is not in the global scope.
            for library in [c"libgcc_s.so.1", c"libunwind.so.1"] {
                if address.is_null() {
                    let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                    if !handle.is_null() {
                        address = libc::dlsym(handle, name);
                    }
                }
            }
        }
        found.store(address, Relaxed);
    }
    address
}

/// Calls a function address with a signature. The caller vouches that it has that signature.
macro_rules! call {
    ($address:expr => fn($($argument:expr => $type:ty),*) -> $result:ty) => {{
        let function: unsafe extern "C" fn($($type),*) -> $result = core::mem::transmute($address);
        function($($argument),*)
    }};
}
pub(crate) use call;
