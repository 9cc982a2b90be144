//! Values of any kind, and what they turn out to be.

use super::{Block, Call, Function, Global, Instruction, Phi, Type, Variable, count, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMValue};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A value of a module: an instruction, a parameter, a constant, a block, a function …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value<'m> {
    raw: NonNull<LLVMValue>,
    module: PhantomData<&'m Module>,
}

impl<'m> Value<'m> {
    /// The handle of a value, none for null.
    ///
    /// # Safety
    /// `raw` must be null, or a value of a module that is borrowed for `'m` or a constant of its context.
    pub(crate) unsafe fn from_raw(raw: LLVMValueRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }

    /// LLVM's pointer.
    pub(crate) fn raw(self) -> LLVMValueRef {
        self.raw.as_ptr()
    }

    /// The type of the value.
    #[must_use]
    pub fn ty(self) -> Type<'m> {
        // SAFETY: a live value; its type is of its context.
        unsafe { Type::from_raw(LLVMTypeOf(self.raw())) }
    }

    /// The name of the value; empty if it has none.
    #[must_use]
    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: LLVM gives its own storage with the length, which we copy.
        unsafe { text(LLVMGetValueName2(self.raw(), &raw mut len), len) }
    }

    /// Gives it a name, or none. LLVM adds a number if another value has that name.
    pub fn set_name(self, name: &str) {
        // SAFETY: LLVM copies as many bytes as it is told of.
        unsafe { LLVMSetValueName2(self.raw(), name.as_ptr().cast(), name.len()) };
    }

    /// The value as an instruction.
    #[must_use]
    pub fn as_instruction(self) -> Option<Instruction<'m>> {
        // SAFETY: a live value.
        (unsafe { !LLVMIsAInstruction(self.raw()).is_null() }).then_some(Instruction(self))
    }

    /// The value as a phi.
    #[must_use]
    pub fn as_phi(self) -> Option<Phi<'m>> {
        self.as_instruction()?.as_phi()
    }

    /// The value as a call, an invoke or a `callbr`.
    #[must_use]
    pub fn as_call(self) -> Option<Call<'m>> {
        self.as_instruction()?.as_call()
    }

    /// The value as a function.
    #[must_use]
    pub fn as_function(self) -> Option<Function<'m>> {
        // SAFETY: a live value.
        (unsafe { !LLVMIsAFunction(self.raw()).is_null() }).then_some(Function(Global(self)))
    }

    /// The value as a global variable.
    #[must_use]
    pub fn as_variable(self) -> Option<Variable<'m>> {
        // SAFETY: a live value.
        (unsafe { !LLVMIsAGlobalVariable(self.raw()).is_null() }).then_some(Variable(Global(self)))
    }

    /// The value as a block.
    #[must_use]
    pub fn as_block(self) -> Option<Block<'m>> {
        // SAFETY: a live value; a block is of the same module.
        unsafe { (LLVMValueIsBasicBlock(self.raw()) != 0).then(|| Block::from_raw(LLVMValueAsBasicBlock(self.raw())))? }
    }

    /// Whether it is another name of something.
    #[must_use]
    pub fn is_alias(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAGlobalAlias(self.raw()).is_null() }
    }

    /// Whether it is a parameter.
    #[must_use]
    pub fn is_parameter(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAArgument(self.raw()).is_null() }
    }

    /// Whether it is a constant integer.
    #[must_use]
    pub fn is_constant_int(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAConstantInt(self.raw()).is_null() }
    }

    /// Whether it is the constant of only zeros.
    #[must_use]
    pub fn is_zero(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsNull(self.raw()) != 0 }
    }

    /// The number of a constant integer of up to 64 bits, without its sign.
    #[must_use]
    pub fn constant(self) -> Option<u64> {
        let narrow = self.is_constant_int() && self.ty().bits().is_some_and(|bits| bits <= 64);
        // SAFETY: a constant integer that fits.
        narrow.then(|| unsafe { LLVMConstIntGetZExtValue(self.raw()) })
    }

    /// The constant with its sign.
    #[must_use]
    pub fn signed_constant(self) -> Option<i64> {
        let narrow = self.is_constant_int() && self.ty().bits().is_some_and(|bits| bits <= 64);
        // SAFETY: a constant integer that fits.
        narrow.then(|| unsafe { LLVMConstIntGetSExtValue(self.raw()) })
    }

    /// What a constant address computation steps by.
    #[must_use]
    pub fn constant_element_type(self) -> Option<Type<'m>> {
        // SAFETY: only constant address computations are asked.
        unsafe {
            let address = !LLVMIsAConstantExpr(self.raw()).is_null()
                && LLVMGetConstOpcode(self.raw()) == LLVMOpcode::LLVMGetElementPtr;
            address.then(|| Type::from_raw(LLVMGetGEPSourceElementType(self.raw())))
        }
    }

    /// The bytes of a constant array of bytes, as text.
    #[must_use]
    pub fn constant_text(self) -> Option<String> {
        let mut len = 0;
        // SAFETY: the text is asked only of arrays of bytes, and copied.
        unsafe {
            let array = !LLVMIsAConstantDataArray(self.raw()).is_null() && LLVMIsConstantString(self.raw()) != 0;
            array.then(|| text(LLVMGetAsString(self.raw(), &raw mut len), len))
        }
    }

    /// The bytes of a constant array of bytes.
    #[must_use]
    pub fn constant_bytes(self) -> Option<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the bytes are asked only of arrays of bytes; LLVM gives its own storage with the length, and they are
        // copied.
        unsafe {
            let array = !LLVMIsAConstantDataArray(self.raw()).is_null() && LLVMIsConstantString(self.raw()) != 0;
            array.then(|| std::slice::from_raw_parts(LLVMGetAsString(self.raw(), &raw mut len).cast(), len).to_vec())
        }
    }

    /// The text of an inline assembly value.
    #[must_use]
    pub fn assembly(self) -> Option<String> {
        let mut len = 0;
        // SAFETY: a live value; the text is asked only of assembly, and copied.
        unsafe {
            let assembly = !LLVMIsAInlineAsm(self.raw()).is_null();
            assembly.then(|| text(LLVMGetInlineAsmAsmString(self.raw(), &raw mut len), len))
        }
    }

    /// Whether it is an inline assembly value.
    #[must_use]
    pub fn is_assembly(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMIsAInlineAsm(self.raw()).is_null() }
    }

    /// How many operands it has; values that use no others have none.
    #[must_use]
    pub fn operand_count(self) -> u32 {
        // SAFETY: only what uses others is asked for their number.
        unsafe { if LLVMIsAUser(self.raw()).is_null() { 0 } else { LLVMGetNumOperands(self.raw()).cast_unsigned() } }
    }

    /// An operand.
    #[must_use]
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: the operand exists, and is of the same module.
        unsafe { (index < self.operand_count()).then(|| Self::from_raw(LLVMGetOperand(self.raw(), index)))? }
    }

    /// The operands of the value.
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.operand_count()).filter_map(move |index| self.operand(index))
    }

    /// What uses it, once per use, the latest use first. Instructions that were removed are not among them.
    #[must_use]
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: the list of uses of a live value, which nobody changes while we walk it; users are of the same
        // module.
        unsafe {
            let mut usage = LLVMGetFirstUse(self.raw());
            while !usage.is_null() {
                users.extend(Self::from_raw(LLVMGetUser(usage)));
                usage = LLVMGetNextUse(usage);
            }
        }
        users.retain(|user| user.as_instruction().is_none_or(|instruction| instruction.block().is_some()));
        users
    }

    /// Whether anything uses it, removed instructions too.
    #[must_use]
    pub fn is_used(self) -> bool {
        // SAFETY: a live value.
        unsafe { !LLVMGetFirstUse(self.raw()).is_null() }
    }

    /// Puts another value wherever this one is used.
    ///
    /// # Panics
    /// If they are not of one type.
    pub fn replace_uses(self, by: impl Into<Value<'m>>) {
        let by = by.into();
        assert!(self.ty() == by.ty() && self != by, "another value of the same type");
        // SAFETY: live values of one type, and so of one context.
        unsafe { LLVMReplaceAllUsesWith(self.raw(), by.raw()) };
    }

    /// A constant address as an integer of this type.
    ///
    /// # Panics
    /// If it is no constant address.
    #[must_use]
    pub fn constant_address_as(self, ty: Type<'m>) -> Value<'m> {
        assert!(self.is_constant() && self.ty().is_pointer() && ty.is_integer(), "an address becomes an integer");
        // SAFETY: a constant pointer and an integer type.
        unsafe { Self::from_raw(LLVMConstPtrToInt(self.raw(), ty.raw())) }.expect("constants exist")
    }

    /// A constant address as one of another address space.
    ///
    /// # Panics
    /// If it is no constant address.
    #[must_use]
    pub fn constant_address_in(self, pointer: Type<'m>) -> Value<'m> {
        assert!(self.is_constant() && self.ty().is_pointer() && pointer.is_pointer(), "addresses stay addresses");
        // SAFETY: a constant pointer and a pointer type.
        unsafe { Self::from_raw(LLVMConstAddrSpaceCast(self.raw(), pointer.raw())) }.expect("constants exist")
    }

    /// The constant address of element `index` of an array that begins at this constant address, within its object if
    /// that is promised.
    ///
    /// # Panics
    /// If it is no constant address, or `element` has no size.
    #[must_use]
    pub fn constant_element(self, element: Type<'m>, index: Value<'m>, within: bool) -> Value<'m> {
        assert!(self.is_constant() && self.ty().is_pointer() && element.is_sized(), "an address of something");
        assert!(index.is_constant_int(), "a constant index");
        let mut indices = [index.raw()];
        let build = if within { LLVMConstInBoundsGEP2 } else { LLVMConstGEP2 };
        // SAFETY: constants, a sized element type, one index.
        let address = unsafe { build(element.raw(), self.raw(), indices.as_mut_ptr(), count(indices.len())) };
        // SAFETY: constants live as long as their context.
        unsafe { Self::from_raw(address) }.expect("constants exist")
    }

    /// Whether it is a constant: a number, an address, an expression of those.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.raw()) != 0 }
    }

    /// Whether it is an instruction with this opcode.
    #[must_use]
    pub fn is(self, opcode: LLVMOpcode) -> bool {
        self.as_instruction().is_some_and(|instruction| instruction.opcode() == opcode)
    }
}
