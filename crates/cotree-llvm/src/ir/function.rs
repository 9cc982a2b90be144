//! Functions.

use super::{Block, Global, Instruction, MetadataKind, Node, Type, Value, kind};
use crate::ffi::*;
use crate::module::Module;
use std::ffi::{CStr, CString};

kind! {
    /// A function, defined or declared.
    Function is a Global
}

impl<'m> Function<'m> {
    /// The blocks of the function, in layout order; none of a declaration. What follows a block is looked up before
    /// that is given.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: a function; its blocks are of the same module.
        let first = unsafe { Block::from_raw(LLVMGetFirstBasicBlock(self.raw())) };
        std::iter::successors(first, |block| block.next())
    }

    /// The first block of the function; none of a declaration.
    #[must_use]
    pub fn entry(self) -> Option<Block<'m>> {
        self.blocks().next()
    }

    /// The instructions of the function, block by block. What follows an instruction is looked up before that is given,
    /// so it may be removed.
    pub fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        self.blocks().flat_map(Block::instructions)
    }

    /// Whether LLVM itself says what it does.
    #[must_use]
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: a function.
        unsafe { LLVMGetIntrinsicID(self.raw()) != 0 }
    }

    /// The type of the function, whose value is a pointer.
    #[must_use]
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: a function.
        unsafe { Type::from_raw(LLVMGlobalGetValueType(self.raw())) }
    }

    /// A parameter.
    #[must_use]
    pub fn parameter(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: the parameter exists.
        unsafe { (index < self.parameter_count()).then(|| Value::from_raw(LLVMGetParam(self.raw(), index)))? }
    }

    /// How many parameters it has.
    #[must_use]
    pub fn parameter_count(self) -> u32 {
        // SAFETY: a function.
        unsafe { LLVMCountParams(self.raw()) }
    }

    /// How it is called.
    #[must_use]
    pub fn convention(self) -> u32 {
        // SAFETY: a function.
        unsafe { LLVMGetFunctionCallConv(self.raw()) }
    }

    /// Says how it is called.
    pub fn set_convention(self, convention: u32) {
        // SAFETY: a function.
        unsafe { LLVMSetFunctionCallConv(self.raw(), convention) };
    }

    /// Whether something stands before its first instruction.
    #[must_use]
    pub fn has_prefix(self) -> bool {
        // SAFETY: a function.
        unsafe { LLVMHasPrefixData(self.raw()) != 0 }
    }

    /// Puts something before its first instruction.
    ///
    /// # Panics
    /// If that is no constant of the same module.
    pub fn set_prefix(self, prefix: Value<'m>) {
        assert!(prefix.is_constant() && prefix.ty().context() == self.ty().context(), "a constant of the same module");
        // SAFETY: a function, and a constant of its context.
        unsafe { LLVMSetPrefixData(self.raw(), prefix.raw()) };
    }

    /// Attaches a node.
    pub fn set_metadata(self, kind: MetadataKind, node: Node<'m>) {
        // SAFETY: a function, and a node of its context.
        unsafe { LLVMGlobalSetMetadata(self.raw(), kind.number(), node.raw()) };
    }

    /// The address of one of its blocks.
    ///
    /// # Panics
    /// If the block is of another function.
    #[must_use]
    pub fn block_address(self, block: Block<'m>) -> Value<'m> {
        assert!(block.function() == self, "a block of this function");
        // SAFETY: a function and a block of it.
        unsafe { Value::from_raw(LLVMBlockAddress(self.raw(), block.raw())) }.expect("constants exist")
    }
}

impl Module {
    /// The module's functions, declarations too, in order. What follows a function is looked up before that is given.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        // SAFETY: a valid module.
        let first = unsafe { Value::from_raw(LLVMGetFirstFunction(self.raw)) };
        // SAFETY: a function of the module's list.
        std::iter::successors(first, |function| unsafe { Value::from_raw(LLVMGetNextFunction(function.raw())) })
            .map(|value| Function(Global(value)))
    }

    /// The function of this name.
    #[must_use]
    pub fn function(&self, name: &CStr) -> Option<Function<'_>> {
        // SAFETY: a valid module and a NUL-terminated name.
        unsafe { Value::from_raw(LLVMGetNamedFunction(self.raw, name.as_ptr())) }.map(|value| Function(Global(value)))
    }

    /// The function of this name, declared with this type when first asked for; `declare` says more of the new
    /// declaration.
    ///
    /// # Panics
    /// If the type is none of functions, or there is a NUL in the name.
    pub fn function_or_declare<'m>(
        &'m self,
        name: &str,
        ty: Type<'m>,
        declare: impl FnOnce(Function<'m>),
    ) -> Function<'m> {
        assert!(ty.parameters().is_some() && ty.context() == self.context, "a type of functions of this module");
        let name = CString::new(name).expect("no NUL in our own names");
        if let Some(known) = self.function(&name) {
            return known;
        }
        // SAFETY: a function type of this context.
        let function = unsafe { Value::from_raw(LLVMAddFunction(self.raw, name.as_ptr(), ty.raw())) };
        let function = Function(Global(function.expect("LLVM makes the function")));
        declare(function);
        function
    }
}
