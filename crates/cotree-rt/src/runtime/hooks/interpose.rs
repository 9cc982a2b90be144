//! Puts the runtime in front of functions of libc and of the unwinder.
//!
//! Our entry for a function `f` is called `__wrap_f`: the linker's `--wrap` leads the link unit's own references there,
//! and the definition behind is `__real_f`. In a dynamic executable it is called `f` too, which the loader then finds
//! first for everyone else; weakly, for the program may have an `f` of its own (an allocator's `pthread_create`, the
//! unwinder of `-static-libgcc`), which is then the one behind. Sanitizers that are linked statically have a weak `f`,
//! too, which calls their `__interceptor_f`: then the link makes ours strong, and `__interceptor_f` is the one behind.
//! Where the program has a `__wrap_f` of its own, ours is weak, too (`cotree_llvm::emit::runtime_object`).

/// The labels of an entry.
#[cfg(not(feature = "static-executable"))]
macro_rules! labels {
    ($name:literal) => {
        concat!(
            ".weak ",
            $name,
            "\n.hidden cotree_rt_hook_",
            $name,
            "\n.globl __wrap_",
            $name,
            "\n.globl cotree_rt_hook_",
            $name,
            "\n.type ",
            $name,
            ",@function\n.type __wrap_",
            $name,
            ",@function\n",
            $name,
            ":\ncotree_rt_hook_",
            $name,
            ":\n__wrap_",
            $name,
            ":"
        )
    };
}
#[cfg(feature = "static-executable")]
macro_rules! labels {
    ($name:literal) => {
        concat!(".globl __wrap_", $name, "\n.type __wrap_", $name, ",@function\n__wrap_", $name, ":")
    };
}
pub(crate) use labels;

/// `hook!("name", function, register)`: as `entry!`, in front of the function of that name.
macro_rules! hook {
    ($name:literal, $function:path, $register:literal) => {
        $crate::runtime::hooks::linkage::entry_at!(
            $name,
            $crate::runtime::hooks::interpose::labels!($name),
            $function,
            $register
        );
    };
}
pub(crate) use hook;

/// The address in a symbol's GOT entry.
macro_rules! got {
    ($binding:literal, $symbol:expr) => {{
        let address: *const core::ffi::c_void;
        // SAFETY: reads a GOT entry, zero for an undefined weak symbol.
        unsafe {
            core::arch::asm!(concat!($binding, $symbol), concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address, options(nostack, pure, readonly));
        }
        address
    }};
}
pub(crate) use got;

/// `slot!("symbol")`: a word that the link fills with an address of a sanitizer's in the same executable. It is a weak
/// zero; the link's object has a strong one.
macro_rules! slot {
    ($symbol:expr) => {
        core::arch::global_asm!(
            ".pushsection .data.rel.ro.cotree.slots,\"aw\",@progbits",
            ".p2align 3",
            concat!(".weak ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ",@object"),
            concat!(".size ", $symbol, ", 8"),
            concat!($symbol, ":"),
            ".quad 0",
            ".popsection",
        );
    };
}
pub(crate) use slot;

/// What is in a [`slot`].
macro_rules! in_slot {
    ($symbol:expr) => {{
        let address: *const core::ffi::c_void;
        // SAFETY: reads a word of this executable that never changes.
        unsafe {
            core::arch::asm!(concat!("mov {}, qword ptr [rip + ", $symbol, "]"),
                out(reg) address, options(nostack, pure, readonly));
        }
        address
    }};
}
pub(crate) use in_slot;

/// `real!(function = "name")`: a function that gives the address of the function behind our hook of that name. With
/// `weak` a static executable does without it where nothing else links it.
#[cfg(not(feature = "static-executable"))]
macro_rules! real {
    (weak $function:ident = $name:literal) => {
        $crate::runtime::hooks::interpose::real!($function = $name);
    };
    ($function:ident = $name:literal) => {
        $crate::runtime::hooks::interpose::slot!(concat!("cotree_rt_behind_", $name));
        fn $function() -> *const core::ffi::c_void {
            static FOUND: $crate::runtime::hooks::interpose::Found = $crate::runtime::hooks::interpose::Found::new();
            let own = $crate::runtime::hooks::interpose::got!(".globl ", concat!("cotree_rt_hook_", $name));
            let linked = $crate::runtime::hooks::interpose::got!(".weak ", concat!("__real_", $name));
            let behind = $crate::runtime::hooks::interpose::in_slot!(concat!("cotree_rt_behind_", $name));
            FOUND.get(linked, own, behind, concat!($name, "\0"))
        }
    };
}
#[cfg(feature = "static-executable")]
macro_rules! real {
    (weak $function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::runtime::hooks::interpose::got!(".weak ", concat!("__real_", $name))
        }
    };
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::runtime::hooks::interpose::got!(".globl ", concat!("__real_", $name))
        }
    };
}
pub(crate) use real;

/// `behind!(function = "name")`: a function that gives the address of a function that we do not hook but need, from
/// wherever the program has it.
#[cfg(not(feature = "static-executable"))]
macro_rules! behind {
    (weak $function:ident = $name:literal) => {
        $crate::runtime::hooks::interpose::behind!($function = $name);
    };
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            static FOUND: $crate::runtime::hooks::interpose::Found = $crate::runtime::hooks::interpose::Found::new();
            let linked = $crate::runtime::hooks::interpose::got!(".weak ", $name);
            FOUND.get(linked, core::ptr::null(), core::ptr::null(), concat!($name, "\0"))
        }
    };
}
#[cfg(feature = "static-executable")]
macro_rules! behind {
    (weak $function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::runtime::hooks::interpose::got!(".weak ", $name)
        }
    };
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::runtime::hooks::interpose::got!(".globl ", $name)
        }
    };
}
pub(crate) use behind;

#[cfg(not(feature = "static-executable"))]
use core::sync::atomic::Ordering::Relaxed;

/// A definition, once it has been looked for.
#[cfg(not(feature = "static-executable"))]
pub struct Found(core::sync::atomic::AtomicPtr<core::ffi::c_void>);

#[cfg(not(feature = "static-executable"))]
impl Found {
    pub const fn new() -> Self {
        Self(core::sync::atomic::AtomicPtr::new(core::ptr::null_mut()))
    }

    /// What the linker found, unless that is our own entry: then what a sanitizer in the program has behind it, or what
    /// the loader finds next.
    #[inline(always)]
    pub fn get(
        &self,
        linked: *const core::ffi::c_void,
        own: *const core::ffi::c_void,
        behind: *const core::ffi::c_void,
        name: &'static str,
    ) -> *const core::ffi::c_void {
        if !linked.is_null() && linked != own {
            return linked;
        }
        if !behind.is_null() {
            return behind;
        }
        let address = self.0.load(Relaxed);
        if address.is_null() { self.look(name) } else { address }
    }

    #[cold]
    #[inline(never)]
    fn look(&self, name: &'static str) -> *const core::ffi::c_void {
        let name: *const core::ffi::c_char = name.as_ptr().cast();
        // SAFETY: NUL-terminated names.
        let address = unsafe {
            let mut address = libc::dlsym(libc::RTLD_NEXT, name);
            // The unwinder of a library that was loaded with RTLD_LOCAL is not in the global scope.
            for library in [c"libgcc_s.so.1", c"libunwind.so.1"] {
                if address.is_null() {
                    let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                    if !handle.is_null() {
                        address = libc::dlsym(handle, name);
                    }
                }
            }
            address
        };
        self.0.store(address, Relaxed);
        address
    }
}

/// `tail_hook!("name", function)`: a hook of any signature that calls `function` and then becomes the function whose
/// address that returns, with all arguments (the stack's too) as they were.
macro_rules! tail_hook {
    ($name:literal, $function:path) => {
        $crate::runtime::hooks::interpose::tail_entry!(
            $name,
            $crate::runtime::hooks::interpose::labels!($name),
            $function
        );
    };
}
pub(crate) use tail_hook;

/// Defines such an entry under the labels (assembly text).
macro_rules! tail_entry {
    ($name:literal, $labels:expr, $function:path) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            $labels,
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
            // The caller may have a stack that is not aligned.
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "and rsp, -16",
            "call {function}",
            "mov rsp, rbp",
            ".cfi_def_cfa_register rsp",
            "mov rbp, [rsp+48]",
            ".cfi_restore rbp",
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
            ".popsection",
            function = sym $function,
        );
    };
}
pub(crate) use tail_entry;
