//! Basic blocks.

use super::{Function, Global, Instruction, Phi, Value};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::LLVMBasicBlock;
use llvm_sys::prelude::*;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block<'m> {
    raw: NonNull<LLVMBasicBlock>,
    module: PhantomData<&'m Module>,
}

impl<'m> Block<'m> {
    /// The handle of a block, none for null.
    ///
    /// # Safety
    /// `raw` must be null or a block of a module that is borrowed for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMBasicBlockRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }

    /// LLVM's pointer.
    pub(crate) fn raw(self) -> LLVMBasicBlockRef {
        self.raw.as_ptr()
    }

    /// The function that it is a part of.
    ///
    /// # Panics
    /// Never: blocks are made in functions, and stay there.
    #[must_use]
    pub fn function(self) -> Function<'m> {
        // SAFETY: a live block.
        let function = unsafe { Value::from_raw(LLVMGetBasicBlockParent(self.raw())) };
        Function(Global(function.expect("blocks are in functions")))
    }

    /// The block as a value: what terminators refer to.
    ///
    /// # Panics
    /// Never: a block is a value.
    #[must_use]
    pub fn as_value(self) -> Value<'m> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMBasicBlockAsValue(self.raw())) }.expect("a block is a value")
    }

    /// The next block of the function.
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: a live block, which is in a function.
        unsafe { Self::from_raw(LLVMGetNextBasicBlock(self.raw())) }
    }

    /// The first instruction of the block; none if it is under construction.
    #[must_use]
    pub fn first(self) -> Option<Instruction<'m>> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMGetFirstInstruction(self.raw())) }.map(Instruction)
    }

    /// The instructions of the block, in order. What follows an instruction is looked up before that is given, so it
    /// may be removed.
    pub fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        std::iter::successors(self.first(), |instruction| instruction.next())
    }

    /// The phis of the block, in order.
    pub fn phis(self) -> impl Iterator<Item = Phi<'m>> {
        self.instructions().map_while(|instruction| instruction.as_phi())
    }

    /// The last instruction of the block.
    ///
    /// # Panics
    /// If the block is under construction: blocks of a module that was verified have terminators.
    #[must_use]
    pub fn terminator(self) -> Instruction<'m> {
        // SAFETY: a live block.
        let terminator = unsafe { Value::from_raw(LLVMGetBasicBlockTerminator(self.raw())) };
        Instruction(terminator.expect("a block of a valid module ends in a terminator"))
    }
}

impl Module {
    /// A new, empty block before another one.
    ///
    /// # Panics
    /// If that is of another module.
    #[must_use]
    pub fn insert_block<'m>(&'m self, before: Block<'m>) -> Block<'m> {
        assert!(self.owns(before.as_value()), "a block of this module");
        // SAFETY: a block of this context, which is in a function.
        let block = unsafe { Block::from_raw(LLVMInsertBasicBlockInContext(self.context, before.raw(), c"".as_ptr())) };
        block.expect("LLVM makes the block")
    }

    /// A new, empty block at the end of a function.
    ///
    /// # Panics
    /// If that is of another module.
    #[must_use]
    pub fn append_block<'m>(&'m self, function: Function<'m>) -> Block<'m> {
        assert!(self.owns(function.into()), "a function of this module");
        // SAFETY: a function of this context.
        let block =
            unsafe { Block::from_raw(LLVMAppendBasicBlockInContext(self.context, function.raw(), c"".as_ptr())) };
        block.expect("LLVM makes the block")
    }

    /// Whether a value is of this module's context, which no other module shares.
    pub(super) fn owns(&self, value: Value<'_>) -> bool {
        value.ty().context() == self.context
    }
}
