//! Linkage that stable Rust can't express: weak references, words that the link fills, and the labels of entries.

/// `weak!(function = "symbol")`: the symbol's address, or None where nobody defines it.
macro_rules! weak {
    ($function:ident = $symbol:literal) => {
        fn $function() -> Option<core::ptr::NonNull<core::ffi::c_void>> {
            core::ptr::NonNull::new($crate::arch::linkage::got!(".weak ", $symbol).cast_mut())
        }
    };
}
pub(crate) use weak;

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
#[cfg(not(feature = "shared-library"))]
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
#[cfg(not(feature = "shared-library"))]
pub(crate) use slot;

/// What is in a [`slot`].
#[cfg(not(feature = "shared-library"))]
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
#[cfg(not(feature = "shared-library"))]
pub(crate) use in_slot;

/// `zeros!("symbol", 128)`: so many bytes of zeros that no other link unit sees, under a name that debuggers find.
macro_rules! zeros {
    ($symbol:literal, $size:literal) => {
        core::arch::global_asm!(
            ".pushsection .bss.cotree.zeros,\"aw\",@nobits",
            ".p2align 4",
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ",@object"),
            concat!(".size ", $symbol, ", ", $size),
            concat!($symbol, ":"),
            concat!(".zero ", $size),
            ".popsection",
        );
    };
}
pub(crate) use zeros;

/// The labels of an entry that no other link unit sees.
macro_rules! hidden {
    ($name:literal) => {
        concat!(".hidden ", $name, "\n.globl ", $name, "\n.type ", $name, ",@function\n", $name, ":")
    };
}
pub(crate) use hidden;

/// The labels of an entry that shared libraries come to by a name of its own, and this link unit by a hidden one.
#[cfg(not(feature = "shared-library"))]
macro_rules! shown {
    ($hidden:literal, $shown:literal) => {
        concat!(
            $crate::arch::linkage::hidden!($hidden),
            "\n.globl ",
            $shown,
            "\n.type ",
            $shown,
            ",@function\n",
            $shown,
            ":"
        )
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use shown;

/// The labels of an entry in front of the function of that name.
#[cfg(not(any(feature = "static-executable", feature = "shared-library")))]
macro_rules! hooked {
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
macro_rules! hooked {
    ($name:literal) => {
        concat!(".globl __wrap_", $name, "\n.type __wrap_", $name, ",@function\n__wrap_", $name, ":")
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use hooked;

/// The labels of an entry in front of the function of that name which shared libraries don't see.
#[cfg(not(feature = "shared-library"))]
macro_rules! only_wrapped {
    ($name:literal) => {
        concat!(
            ".hidden cotree_rt_hook_",
            $name,
            "\n.globl cotree_rt_hook_",
            $name,
            "\n.globl __wrap_",
            $name,
            "\n.type __wrap_",
            $name,
            ",@function\ncotree_rt_hook_",
            $name,
            ":\n__wrap_",
            $name,
            ":"
        )
    };
}
#[cfg(not(feature = "shared-library"))]
pub(crate) use only_wrapped;
