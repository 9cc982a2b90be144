//! Puts the runtime in front of functions of libc and of the unwinder.
//!
//! Our entry for a function `f` is called `__wrap_f`: the linker's `--wrap` leads the link unit's own references there,
//! and the definition behind is `__real_f`. In a dynamic executable it is called `f` too, which the loader then finds
//! first for everyone else; weakly, for the program may have an `f` of its own (an allocator's `pthread_create`, the
//! unwinder of `-static-libgcc`), which is then the one behind. Sanitizers that are linked statically have a weak `f`,
//! too, which calls their `__interceptor_f`: then the link makes ours strong, and `__interceptor_f` is the one behind.
//! Where the program has a `__wrap_f` of its own, ours is weak, too (`cotree_llvm::emit::runtime_object`).

/// `real!(function = "name")`: a function that gives the address of the function behind our hook of that name. With
/// `weak` a static executable does without it where nothing else links it.
#[cfg(not(feature = "static-executable"))]
macro_rules! real {
    (weak $function:ident = $name:literal) => {
        $crate::runtime::hooks::interpose::real!($function = $name);
    };
    ($function:ident = $name:literal) => {
        $crate::arch::linkage::slot!(concat!("cotree_rt_behind_", $name));
        fn $function() -> *const core::ffi::c_void {
            static FOUND: $crate::runtime::hooks::interpose::Found = $crate::runtime::hooks::interpose::Found::new();
            let own = $crate::arch::linkage::got!(".globl ", concat!("cotree_rt_hook_", $name));
            let linked = $crate::arch::linkage::got!(".weak ", concat!("__real_", $name));
            let behind = $crate::arch::linkage::in_slot!(concat!("cotree_rt_behind_", $name));
            FOUND.get(linked, own, behind, concat!($name, "\0"))
        }
    };
}
#[cfg(feature = "static-executable")]
macro_rules! real {
    (weak $function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::arch::linkage::got!(".weak ", concat!("__real_", $name))
        }
    };
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::arch::linkage::got!(".globl ", concat!("__real_", $name))
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
            let linked = $crate::arch::linkage::got!(".weak ", $name);
            FOUND.get(linked, core::ptr::null(), core::ptr::null(), concat!($name, "\0"))
        }
    };
}
#[cfg(feature = "static-executable")]
macro_rules! behind {
    (weak $function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::arch::linkage::got!(".weak ", $name)
        }
    };
    ($function:ident = $name:literal) => {
        fn $function() -> *const core::ffi::c_void {
            $crate::arch::linkage::got!(".globl ", $name)
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
