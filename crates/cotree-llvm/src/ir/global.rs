//! Globals: what functions and variables have in common, and variables.

use super::{Type, Value, kind, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMVisibility};
use std::ffi::{CStr, CString};

kind! {
    /// A function, a variable or an alias.
    Global is a Value
}

impl Global<'_> {
    /// Whether it is defined elsewhere.
    #[must_use]
    pub fn is_declaration(self) -> bool {
        // SAFETY: a global.
        unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// Its linkage.
    #[must_use]
    pub fn linkage(self) -> LLVMLinkage {
        // SAFETY: a global.
        unsafe { LLVMGetLinkage(self.raw()) }
    }

    /// Gives it another linkage.
    pub fn set_linkage(self, linkage: LLVMLinkage) {
        // SAFETY: a global.
        unsafe { LLVMSetLinkage(self.raw(), linkage) };
    }

    /// Who sees it.
    #[must_use]
    pub fn visibility(self) -> LLVMVisibility {
        // SAFETY: a global.
        unsafe { LLVMGetVisibility(self.raw()) }
    }

    /// Says who sees it.
    pub fn set_visibility(self, visibility: LLVMVisibility) {
        // SAFETY: a global.
        unsafe { LLVMSetVisibility(self.raw(), visibility) };
    }
}

kind! {
    /// A global variable.
    Variable is a Global
}

impl Variable<'_> {
    /// Whether each thread has its own.
    #[must_use]
    pub fn is_thread_local(self) -> bool {
        // SAFETY: a variable.
        unsafe { LLVMIsThreadLocal(self.raw()) != 0 }
    }

    /// Gives each thread its own.
    pub fn set_thread_local(self, mode: LLVMThreadLocalMode) {
        // SAFETY: a variable.
        unsafe { LLVMSetThreadLocalMode(self.raw(), mode) };
    }

    /// Aligns it to as many bytes.
    ///
    /// # Panics
    /// If that is no power of two.
    pub fn set_alignment(self, bytes: u32) {
        assert!(bytes.is_power_of_two(), "alignments are powers of two");
        // SAFETY: a variable.
        unsafe { LLVMSetAlignment(self.raw(), bytes) };
    }
}

impl Module {
    /// The variable of this name.
    #[must_use]
    pub fn variable(&self, name: &CStr) -> Option<Variable<'_>> {
        // SAFETY: a valid module and a NUL-terminated name.
        unsafe { Value::from_raw(LLVMGetNamedGlobal(self.raw, name.as_ptr())) }.map(|value| Variable(Global(value)))
    }

    /// A new variable that is defined elsewhere. LLVM adds a number if something has that name.
    ///
    /// # Panics
    /// If the type has no size, or there is a NUL in the name.
    #[must_use]
    pub fn declare_variable<'m>(&'m self, name: &str, ty: Type<'m>) -> Variable<'m> {
        assert!(ty.is_sized() && ty.context() == self.context, "a variable of this module is in memory");
        let name = CString::new(name).expect("no NUL in our own names");
        // SAFETY: a sized type of this context.
        let variable = unsafe { Value::from_raw(LLVMAddGlobal(self.raw, ty.raw(), name.as_ptr())) };
        Variable(Global(variable.expect("LLVM makes the variable")))
    }

    /// Adds a line to the module's own assembly.
    pub fn append_assembly(&self, text: &str) {
        // SAFETY: LLVM copies as many bytes as it is told of.
        unsafe { LLVMAppendModuleInlineAsm(self.raw, text.as_ptr().cast(), text.len()) };
    }

    /// The module's own assembly.
    #[must_use]
    pub fn assembly(&self) -> String {
        let mut len = 0;
        // SAFETY: LLVM gives its own storage with the length, which we copy.
        unsafe { text(LLVMGetModuleInlineAsm(self.raw, &raw mut len), len) }
    }

    /// The functions that choose what an indirect function stands for while the program is being relocated.
    pub fn ifunc_resolvers(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: a valid module.
        let first = unsafe { Value::from_raw(LLVMGetFirstGlobalIFunc(self.raw)) };
        // SAFETY: an indirect function of the module's list.
        let next = |ifunc: &Value<'_>| unsafe { Value::from_raw(LLVMGetNextGlobalIFunc(ifunc.raw())) };
        // SAFETY: an indirect function, whose resolver is of the same module.
        std::iter::successors(first, next)
            .filter_map(|i| unsafe { Value::from_raw(LLVMGetGlobalIFuncResolver(i.raw())) })
    }
}
