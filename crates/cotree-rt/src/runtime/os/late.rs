//! Functions of higher floors that lower ones call. The higher floor registers them at the start, before anything is
//! counted; until then there is none.

use core::marker::PhantomData;
use core::mem::transmute_copy;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of this type, once it is registered.
pub struct Late<F>(AtomicPtr<()>, PhantomData<F>);

impl<F: Copy> Late<F> {
    /// # Safety
    /// `F` must be a type of function pointers.
    pub const unsafe fn new() -> Self {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        Self(AtomicPtr::new(core::ptr::null_mut()), PhantomData)
    }

    /// Registers the function.
    pub fn set(&self, function: F) {
        // SAFETY: a function pointer is as large as any.
        self.0.store(unsafe { transmute_copy(&function) }, Relaxed);
    }

    /// The function, if it is registered.
    pub fn get(&self) -> Option<F> {
        let function = self.0.load(Relaxed);
        // SAFETY: stored by `set`.
        (!function.is_null()).then(|| unsafe { transmute_copy(&function) })
    }
}
