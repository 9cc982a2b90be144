//! Aliases: further names of what a module has.

use super::{Global, Value, kind};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::LLVMLinkage;

kind! {
    /// Another name of a global, or of a place in it.
    Alias is a Global
}

impl<'m> Alias<'m> {
    /// What it stands for.
    ///
    /// # Panics
    /// Never: an alias stands for something.
    #[must_use]
    pub fn target(self) -> Value<'m> {
        // SAFETY: an alias; what it stands for is of the same module.
        unsafe { Value::from_raw(LLVMAliasGetAliasee(self.raw())) }.expect("an alias stands for something")
    }

    /// Has it stand for something else.
    ///
    /// # Panics
    /// If that is no constant address in the same address space.
    pub fn set_target(self, target: impl Into<Value<'m>>) {
        let target = target.into();
        assert!(target.is_constant() && target.ty() == self.ty(), "an alias stands for a constant address");
        // SAFETY: an alias, and a constant of the same type, and so of the same context.
        unsafe { LLVMAliasSetAliasee(self.raw(), target.raw()) };
    }
}

impl<'m> Value<'m> {
    /// The value as an alias.
    #[must_use]
    pub fn as_alias(self) -> Option<Alias<'m>> {
        self.is_alias().then_some(Alias(Global(self)))
    }

    /// What is behind all aliases: the value itself if it is none.
    #[must_use]
    pub fn behind_aliases(self) -> Self {
        let mut value = self;
        while let Some(alias) = value.as_alias() {
            value = alias.target();
        }
        value
    }
}

impl Module {
    /// The module's aliases.
    pub fn aliases(&self) -> impl Iterator<Item = Alias<'_>> {
        // SAFETY: a valid module.
        let first = unsafe { Value::from_raw(LLVMGetFirstGlobalAlias(self.raw)) };
        // SAFETY: an alias of the module's list.
        let next = |alias: &Value<'_>| unsafe { Value::from_raw(LLVMGetNextGlobalAlias(alias.raw())) };
        std::iter::successors(first, next).map(|alias| Alias(Global(alias)))
    }

    /// A name of a global that nobody else sees.
    ///
    /// # Panics
    /// If the global is of another module.
    #[must_use]
    pub fn private_alias<'m>(&'m self, of: Global<'m>) -> Alias<'m> {
        assert!(self.owns(*of), "a global of this module");
        let space = of.ty().address_space().unwrap_or_default();
        // SAFETY: a global of this module with its type and address space, and no name.
        let alias = unsafe { LLVMAddAlias2(self.raw, of.value_type().raw(), space, of.raw(), c"".as_ptr()) };
        // SAFETY: the alias is of this module.
        let alias = Alias(Global(unsafe { Value::from_raw(alias) }.expect("LLVM makes the alias")));
        alias.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        alias
    }
}
