//! Globals: what functions and variables have in common, and variables.

use super::{MetadataKind, Node, Type, Value, kind, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMVisibility};
use std::ffi::{CStr, CString};

kind! {
    /// A function, a variable or an alias.
    Global is a Value
}

impl<'m> Global<'m> {
    /// Whether it is defined elsewhere.
    #[must_use]
    pub fn is_declaration(self) -> bool {
        // SAFETY: a global.
        unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// The linkage of the global.
    #[must_use]
    pub fn linkage(self) -> LLVMLinkage {
        // SAFETY: a global.
        unsafe { LLVMGetLinkage(self.raw()) }
    }

    /// Whether only its module sees it.
    #[must_use]
    pub fn is_local(self) -> bool {
        matches!(self.linkage(), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
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

    /// The type of what is at its address.
    #[must_use]
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: a global, which has a type of its context.
        unsafe { Type::from_raw(LLVMGlobalGetValueType(self.raw())) }
    }

    /// The section that it is to be in; none of its own if it is an alias.
    #[must_use]
    pub fn section(self) -> Option<String> {
        // SAFETY: a function or a variable; LLVM gives null or a string of its own, which we copy.
        unsafe {
            let section = if self.is_alias() { std::ptr::null() } else { LLVMGetSection(self.raw()) };
            (!section.is_null()).then(|| CStr::from_ptr(section).to_string_lossy().into_owned())
        }
        .filter(|section| !section.is_empty())
    }

    /// Says which section it is to be in.
    ///
    /// # Panics
    /// If it is an alias.
    pub fn set_section(self, section: &CStr) {
        assert!(!self.is_alias(), "an alias is where its target is");
        // SAFETY: a function or a variable, and a NUL-terminated name, which LLVM copies.
        unsafe { LLVMSetSection(self.raw(), section.as_ptr()) };
    }

    /// The comdat that it belongs to; an alias belongs to none.
    fn comdat(self) -> LLVMComdatRef {
        // SAFETY: only functions and variables are asked.
        if self.is_alias() { std::ptr::null_mut() } else { unsafe { LLVMGetComdat(self.raw()) } }
    }

    /// Takes it out of its comdat, if it is in one.
    pub fn leave_comdat(self) {
        if !self.is_alias() {
            // SAFETY: a function or a variable.
            unsafe { LLVMSetComdat(self.raw(), std::ptr::null_mut()) };
        }
    }

    /// Has it live and die with another global: it joins that one's comdat, if there is one.
    ///
    /// # Panics
    /// If it is an alias, or of another module.
    pub fn join_comdat_of(self, other: Self) {
        assert!(!self.is_alias() && self.ty().context() == other.ty().context(), "a comdat of the same module");
        let comdat = other.comdat();
        if !comdat.is_null() {
            // SAFETY: a function or a variable, and a comdat of the same module.
            unsafe { LLVMSetComdat(self.raw(), comdat) };
        }
    }
}

kind! {
    /// A global variable.
    Variable is a Global
}

impl<'m> Variable<'m> {
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

    /// What is in it at first; none if it is defined elsewhere.
    #[must_use]
    pub fn initial_value(self) -> Option<Value<'m>> {
        // SAFETY: a variable; its initial value is of the same module.
        unsafe { Value::from_raw(LLVMGetInitializer(self.raw())) }
    }

    /// Takes its definition away: what it is at first is said elsewhere.
    pub fn undefine(self) {
        // SAFETY: a variable; without an initial value it is a declaration.
        unsafe { LLVMSetInitializer(self.raw(), std::ptr::null_mut()) };
    }

    /// Whether the program never writes to it.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        // SAFETY: a variable.
        unsafe { LLVMIsGlobalConstant(self.raw()) != 0 }
    }

    /// Says that the program never writes to it.
    pub fn make_read_only(self) {
        // SAFETY: a variable.
        unsafe { LLVMSetGlobalConstant(self.raw(), 1) };
    }

    /// Attaches a node of metadata.
    pub fn set_metadata(self, kind: MetadataKind, node: Node<'m>) {
        // SAFETY: a variable, and a node of its context.
        unsafe { LLVMGlobalSetMetadata(self.raw(), kind.number(), node.raw()) };
    }
}

impl Module {
    /// The function, variable or alias of this name; none if it is an indirect function or a symbol of assembly.
    #[must_use]
    pub fn global(&self, name: &CStr) -> Option<Global<'_>> {
        // SAFETY: a valid module, and a name with its length.
        let alias = || unsafe { LLVMGetNamedGlobalAlias(self.raw, name.as_ptr(), name.count_bytes()) };
        let function = self.function(name).map(|function| *function);
        let variable = || self.variable(name).map(|variable| *variable);
        // SAFETY: null, or an alias of this module.
        function.or_else(variable).or_else(|| unsafe { Value::from_raw(alias()) }.map(Global))
    }

    /// A new declaration of the same type as another global, in the same address space.
    ///
    /// # Panics
    /// If that is of another module, or something has the name.
    #[must_use]
    pub fn declare_like<'m>(&'m self, name: &CStr, other: Global<'m>) -> Global<'m> {
        assert!(self.owns(*other) && self.global(name).is_none(), "a free name in the module of the other");
        let ty = other.value_type();
        // SAFETY: a type of this context, and a NUL-terminated name.
        let declaration = unsafe {
            if ty.parameters().is_some() {
                LLVMAddFunction(self.raw, name.as_ptr(), ty.raw())
            } else {
                let space = other.ty().address_space().unwrap_or_default();
                LLVMAddGlobalInAddressSpace(self.raw, ty.raw(), name.as_ptr(), space)
            }
        };
        // SAFETY: the declaration is of this module.
        Global(unsafe { Value::from_raw(declaration) }.expect("LLVM makes the declaration"))
    }

    /// A new variable without a name, which nobody else sees, with this value at first.
    ///
    /// # Panics
    /// If the value is no constant of this module, or can't be in memory.
    #[must_use]
    pub fn private_variable<'m>(&'m self, value: Value<'m>, address_space: u32) -> Variable<'m> {
        assert!(self.owns(value) && value.is_constant() && value.ty().is_sized(), "a constant of this module");
        // SAFETY: a sized type of this context, and a constant of that type.
        let variable = unsafe {
            let variable = LLVMAddGlobalInAddressSpace(self.raw, value.ty().raw(), c"".as_ptr(), address_space);
            LLVMSetInitializer(variable, value.raw());
            Value::from_raw(variable)
        };
        let variable = Variable(Global(variable.expect("LLVM makes the variable")));
        variable.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        variable
    }

    /// Takes entries out of a list that LLVM joins with those of other modules, such as `llvm.global_ctors`.
    pub fn retain_in_list(&mut self, name: &CStr, keep: impl Fn(Value<'_>) -> bool) {
        let Some(list) = self.variable(name) else { return };
        let entries: Vec<Value<'_>> = list.initial_value().into_iter().flat_map(Value::operands).collect();
        let mut kept: Vec<LLVMValueRef> =
            entries.iter().filter(|entry| keep(**entry)).map(|entry| entry.raw()).collect();
        if kept.len() == entries.len() {
            return;
        }
        let element = entries[0].ty().raw();
        self.delete_variable(name);
        if kept.is_empty() {
            return;
        }
        // SAFETY: constants of this module and one type; they outlive the variable that listed them.
        unsafe {
            let array = LLVMConstArray2(element, kept.as_mut_ptr(), kept.len() as u64);
            let variable = LLVMAddGlobal(self.raw, LLVMTypeOf(array), name.as_ptr());
            LLVMSetInitializer(variable, array);
            LLVMSetLinkage(variable, LLVMLinkage::LLVMAppendingLinkage);
        }
    }

    /// Deletes the variable of this name, unless something uses it.
    pub fn delete_variable(&mut self, name: &CStr) {
        self.renew();
        if let Some(variable) = self.variable(name).filter(|variable| !variable.is_used()) {
            // SAFETY: the module is borrowed exclusively, so this is the only handle to the variable, which nothing
            // uses.
            unsafe { LLVMDeleteGlobal(variable.raw()) };
        }
    }

    /// The module's variables, declarations too.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        // SAFETY: a valid module.
        let first = unsafe { Value::from_raw(LLVMGetFirstGlobal(self.raw)) };
        // SAFETY: a variable of the module's list.
        std::iter::successors(first, |variable| unsafe { Value::from_raw(LLVMGetNextGlobal(variable.raw())) })
            .map(|value| Variable(Global(value)))
    }

    /// The variable of this name.
    #[must_use]
    pub fn variable(&self, name: &CStr) -> Option<Variable<'_>> {
        // SAFETY: a valid module and a NUL-terminated name.
        unsafe { Value::from_raw(LLVMGetNamedGlobal(self.raw, name.as_ptr())) }.map(|value| Variable(Global(value)))
    }

    /// The variable of this name, declared with this type when first asked for; `declare` says more of the new
    /// declaration.
    ///
    /// # Panics
    /// If the type has no size, or there is a NUL in the name.
    pub fn variable_or_declare<'m>(
        &'m self,
        name: &str,
        ty: Type<'m>,
        declare: impl FnOnce(Variable<'m>),
    ) -> Variable<'m> {
        assert!(ty.is_sized() && ty.context() == self.context, "a variable of this module is in memory");
        let name = CString::new(name).expect("no NUL in our own names");
        if let Some(known) = self.variable(&name) {
            return known;
        }
        // SAFETY: a sized type of this context.
        let variable = unsafe { Value::from_raw(LLVMAddGlobal(self.raw, ty.raw(), name.as_ptr())) };
        let variable = Variable(Global(variable.expect("LLVM makes the variable")));
        declare(variable);
        variable
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
