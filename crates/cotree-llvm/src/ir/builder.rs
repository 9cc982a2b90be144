//! A builder of new instructions.
//!
//! A builder always has a position, before an instruction or at the end of a block, and where it builds is asked again
//! each time: the instruction may have been removed meanwhile. What it makes has no name.

use super::{Block, Bundle, Call, Instruction, Location, Phi, Type, Value, count};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMInlineAsmDialect, LLVMIntPredicate, LLVMTypeKind};
use std::cell::Cell;

/// Builds instructions of one module.
pub struct Builder<'m> {
    module: &'m Module,
    raw: LLVMBuilderRef,
    /// What it builds before; the end of a block if none.
    before: Cell<Option<Instruction<'m>>>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by us, disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}

type Binary = unsafe fn(LLVMBuilderRef, LLVMValueRef, LLVMValueRef, *const std::ffi::c_char) -> LLVMValueRef;
type Cast = unsafe fn(LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, *const std::ffi::c_char) -> LLVMValueRef;

impl<'m> Builder<'m> {
    /// A builder without a position.
    fn new(module: &'m Module) -> Self {
        // SAFETY: a valid context, which outlives the builder.
        let raw = unsafe { LLVMCreateBuilderInContext(module.context) };
        Self { module, raw, before: Cell::new(None) }
    }

    /// A builder that stands before an instruction. What it builds has no source line.
    #[must_use]
    pub fn before(module: &'m Module, instruction: Instruction<'m>) -> Self {
        let builder = Self::new(module);
        builder.move_before(instruction);
        builder
    }

    /// A builder that stands at the end of a block. What it builds has no source line.
    #[must_use]
    pub fn at_end(module: &'m Module, block: Block<'m>) -> Self {
        let builder = Self::new(module);
        builder.move_to_end(block);
        builder
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Moves before an instruction. What is built from now on has no source line.
    ///
    /// # Panics
    /// If the instruction was removed, or is of another module.
    pub fn move_before(&self, instruction: Instruction<'m>) {
        assert!(instruction.block().is_some() && self.module.owns(*instruction), "an instruction of this module");
        self.before.set(Some(instruction));
        // SAFETY: an instruction in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.raw()) };
        self.set_location(None);
    }

    /// Moves to the end of a block. What is built from now on has no source line.
    ///
    /// # Panics
    /// If the block is of another module.
    pub fn move_to_end(&self, block: Block<'m>) {
        assert!(self.module.owns(block.as_value()), "a block of this module");
        self.before.set(None);
        // SAFETY: a block of a function.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw()) };
        self.set_location(None);
    }

    /// Says where what is built from now on comes from.
    pub fn set_location(&self, location: Option<Location<'m>>) {
        // SAFETY: null or a location.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, Location::raw_or_null(location)) };
    }

    /// Inserts an instruction that is in no block. It keeps its source line if the builder has none.
    pub(super) fn insert(&self, instruction: Instruction<'m>) {
        assert!(instruction.block().is_none() && self.module.owns(*instruction), "an instruction in no block");
        // SAFETY: an instruction of this module, which is in no block.
        unsafe { LLVMInsertIntoBuilder(self.here(), instruction.raw()) };
    }

    /// LLVM's builder, whose position is one.
    fn here(&self) -> LLVMBuilderRef {
        assert!(self.before.get().is_none_or(|before| before.block().is_some()), "the builder's position is gone");
        self.raw
    }

    /// An operand of this module.
    fn own(&self, value: Value<'m>) -> LLVMValueRef {
        assert!(self.module.owns(value), "an operand of this module");
        value.raw()
    }

    fn pointer(&self, value: Value<'m>) -> LLVMValueRef {
        assert!(value.ty().is_pointer(), "memory is reached by pointers");
        self.own(value)
    }

    /// # Safety
    /// `raw` must be what LLVM's builder made of this module's values.
    unsafe fn made(raw: LLVMValueRef) -> Value<'m> {
        // SAFETY: as the caller promises.
        unsafe { Value::from_raw(raw) }.expect("LLVM makes the value")
    }

    /// # Safety
    /// `build` must make a value of two integers of one type.
    unsafe fn binary(&self, build: Binary, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        assert!(left.ty() == right.ty() && left.ty().is_integer(), "arithmetic on integers of one type");
        // SAFETY: as the caller promises; both are of this module.
        unsafe { Self::made(build(self.here(), self.own(left), self.own(right), c"".as_ptr())) }
    }

    /// `left + right`
    #[must_use]
    pub fn add(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildAdd, left.into(), right.into()) }
    }

    /// `left - right`
    #[must_use]
    pub fn sub(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildSub, left.into(), right.into()) }
    }

    /// `left * right`
    #[must_use]
    pub fn mul(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildMul, left.into(), right.into()) }
    }

    /// `left & right`
    #[must_use]
    pub fn and(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildAnd, left.into(), right.into()) }
    }

    /// `left | right`
    #[must_use]
    pub fn or(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildOr, left.into(), right.into()) }
    }

    /// `left ^ right`
    #[must_use]
    pub fn xor(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildXor, left.into(), right.into()) }
    }

    /// `left << right`
    #[must_use]
    pub fn shift_left(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildShl, left.into(), right.into()) }
    }

    /// `left >> right`, with zeros coming in.
    #[must_use]
    pub fn shift_right(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildLShr, left.into(), right.into()) }
    }

    /// `left % right`, without signs.
    #[must_use]
    pub fn remainder(&self, left: impl Into<Value<'m>>, right: impl Into<Value<'m>>) -> Value<'m> {
        // SAFETY: a function of two integers.
        unsafe { self.binary(LLVMBuildURem, left.into(), right.into()) }
    }

    /// A comparison of integers or addresses.
    ///
    /// # Panics
    /// If they are not of one type.
    #[must_use]
    pub fn compare(
        &self,
        predicate: LLVMIntPredicate,
        left: impl Into<Value<'m>>,
        right: impl Into<Value<'m>>,
    ) -> Value<'m> {
        let (left, right) = (left.into(), right.into());
        let comparable = left.ty().is_integer() || left.ty().is_pointer();
        assert!(left.ty() == right.ty() && comparable, "a comparison of integers or addresses");
        // SAFETY: two comparable values of this module.
        unsafe { Self::made(LLVMBuildICmp(self.here(), predicate, self.own(left), self.own(right), c"".as_ptr())) }
    }

    /// `condition ? then : otherwise`
    ///
    /// # Panics
    /// If they are not of one type, or the condition is no truth value.
    #[must_use]
    pub fn select(
        &self,
        condition: Value<'m>,
        then: impl Into<Value<'m>>,
        otherwise: impl Into<Value<'m>>,
    ) -> Value<'m> {
        let (then, otherwise) = (then.into(), otherwise.into());
        assert!(then.ty() == otherwise.ty() && condition.ty() == self.module.int1(), "a choice of two alike");
        let [condition, then, otherwise] = [condition, then, otherwise].map(|value| self.own(value));
        // SAFETY: a truth value and two values of one type.
        unsafe { Self::made(LLVMBuildSelect(self.here(), condition, then, otherwise, c"".as_ptr())) }
    }

    /// # Safety
    /// `build` must convert the value to the type.
    unsafe fn cast(&self, build: Cast, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: as the caller promises.
        unsafe { Self::made(build(self.here(), self.own(value), ty.raw(), c"".as_ptr())) }
    }

    /// A wider integer, with zeros before it; the same if it is as wide.
    ///
    /// # Panics
    /// If it is no integer, or wider.
    #[must_use]
    pub fn widen(&self, value: impl Into<Value<'m>>, ty: Type<'m>) -> Value<'m> {
        let value = value.into();
        assert!(value.ty().bits().zip(ty.bits()).is_some_and(|(from, to)| from <= to), "integers become wider");
        // SAFETY: integers, of which the new one is not narrower.
        unsafe { self.cast(LLVMBuildZExt, value, ty) }
    }

    /// The lower bits of an integer; the same if it is as narrow.
    ///
    /// # Panics
    /// If it is no integer, or narrower.
    #[must_use]
    pub fn truncate(&self, value: impl Into<Value<'m>>, ty: Type<'m>) -> Value<'m> {
        let value = value.into();
        assert!(value.ty().bits().zip(ty.bits()).is_some_and(|(from, to)| from >= to), "integers become narrower");
        // SAFETY: integers, of which the new one is not wider.
        unsafe { self.cast(LLVMBuildTrunc, value, ty) }
    }

    /// An address as an integer.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn address_to_int(&self, value: impl Into<Value<'m>>, ty: Type<'m>) -> Value<'m> {
        let value = value.into();
        assert!(value.ty().is_pointer() && ty.is_integer(), "an address becomes an integer");
        // SAFETY: an address and an integer type.
        unsafe { self.cast(LLVMBuildPtrToInt, value, ty) }
    }

    /// An integer as an address.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn int_to_address(&self, value: impl Into<Value<'m>>, ty: Type<'m>) -> Value<'m> {
        let value = value.into();
        assert!(value.ty().is_integer() && ty.is_pointer(), "an integer becomes an address");
        // SAFETY: an integer and a pointer type.
        unsafe { self.cast(LLVMBuildIntToPtr, value, ty) }
    }

    /// The element of a vector at a constant place.
    ///
    /// # Panics
    /// If it is no vector of a fixed length, or has no such element.
    #[must_use]
    pub fn extract(&self, vector: impl Into<Value<'m>>, index: u32) -> Value<'m> {
        let vector = vector.into();
        assert!(
            vector.ty().vector_elements().is_some_and(|(_, length)| index < length),
            "a vector that has the element"
        );
        let index = self.own(self.module.int32().constant(index.into()));
        // SAFETY: a vector of this module and one of its places.
        unsafe { Self::made(LLVMBuildExtractElement(self.here(), self.own(vector), index, c"".as_ptr())) }
    }

    /// The bits of a number, as an integer of as many; an integer stays what it is.
    ///
    /// # Panics
    /// If it is no number.
    #[must_use]
    pub fn bits(&self, value: impl Into<Value<'m>>) -> Value<'m> {
        let value = value.into();
        let ty = match value.ty().kind() {
            LLVMTypeKind::LLVMFloatTypeKind => self.module.int32(),
            LLVMTypeKind::LLVMDoubleTypeKind => self.module.int64(),
            _ => value.ty(),
        };
        assert!(ty.is_integer(), "a number of 32 or 64 bits, or an integer");
        // SAFETY: a type of as many bits.
        unsafe { self.cast(LLVMBuildBitCast, value, ty) }
    }

    /// The value, which is the same at each use even where it is undefined.
    ///
    /// # Panics
    /// If it is no value that could be in memory.
    #[must_use]
    pub fn freeze(&self, value: impl Into<Value<'m>>) -> Value<'m> {
        let value = value.into();
        assert!(value.ty().is_sized(), "only what has a value is frozen");
        // SAFETY: a value of this module.
        unsafe { Self::made(LLVMBuildFreeze(self.here(), self.own(value), c"".as_ptr())) }
    }

    /// A variable of this type on the stack.
    ///
    /// # Panics
    /// If the type has no size.
    #[must_use]
    pub fn variable(&self, ty: Type<'m>) -> Value<'m> {
        assert!(ty.is_sized() && ty.context() == self.module.context, "a variable is in memory");
        // SAFETY: a sized type of this context.
        unsafe { Self::made(LLVMBuildAlloca(self.here(), ty.raw(), c"".as_ptr())) }
    }

    /// What is at an address.
    ///
    /// # Panics
    /// If it is no address, or the type has no size.
    #[must_use]
    pub fn load(&self, ty: Type<'m>, address: impl Into<Value<'m>>) -> Instruction<'m> {
        assert!(ty.is_sized() && ty.context() == self.module.context, "what is in memory has a size");
        let address = self.pointer(address.into());
        // SAFETY: a sized type and an address of this module; LLVM makes a load of it.
        Instruction(unsafe { Self::made(LLVMBuildLoad2(self.here(), ty.raw(), address, c"".as_ptr())) })
    }

    /// Stores a value at an address.
    ///
    /// # Panics
    /// If it is no address, or the value can't be in memory.
    pub fn store(&self, value: impl Into<Value<'m>>, address: impl Into<Value<'m>>) -> Instruction<'m> {
        let (value, address) = (value.into(), self.pointer(address.into()));
        assert!(value.ty().is_sized(), "what is in memory has a size");
        // SAFETY: a sized value and an address of this module; LLVM makes a store of them.
        Instruction(unsafe { Self::made(LLVMBuildStore(self.here(), self.own(value), address)) })
    }

    /// The address of element `index` of an array, within its object if that is promised.
    ///
    /// # Panics
    /// If it is no address, the type has no size, or the index is no integer.
    #[must_use]
    pub fn element(
        &self,
        ty: Type<'m>,
        array: impl Into<Value<'m>>,
        index: impl Into<Value<'m>>,
        within: bool,
    ) -> Value<'m> {
        let (array, index) = (self.pointer(array.into()), index.into());
        assert!(ty.is_sized() && index.ty().is_integer(), "elements have a size and a number");
        let mut indices = [self.own(index)];
        let build = if within { LLVMBuildInBoundsGEP2 } else { LLVMBuildGEP2 };
        // SAFETY: a sized type, an address and an integer of this module.
        unsafe { Self::made(build(self.here(), ty.raw(), array, indices.as_mut_ptr(), 1, c"".as_ptr())) }
    }

    /// A phi without entries.
    ///
    /// # Panics
    /// If the type is of another module, or has no values.
    #[must_use]
    pub fn phi(&self, ty: Type<'m>) -> Phi<'m> {
        assert!(ty.is_sized() && ty.context() == self.module.context, "a type of values of this module");
        // SAFETY: a type of this context; LLVM makes a phi of it.
        Phi(Instruction(unsafe { Self::made(LLVMBuildPhi(self.here(), ty.raw(), c"".as_ptr())) }))
    }

    /// A jump.
    pub fn jump(&self, to: Block<'m>) -> Instruction<'m> {
        assert!(self.module.owns(to.as_value()), "a block of this module");
        // SAFETY: a block of this module.
        Instruction(unsafe { Self::made(LLVMBuildBr(self.here(), to.raw())) })
    }

    /// A conditional branch to one of two blocks.
    ///
    /// # Panics
    /// If the condition is no truth value.
    pub fn branch(&self, condition: Value<'m>, then: Block<'m>, otherwise: Block<'m>) -> Instruction<'m> {
        assert!(condition.ty() == self.module.int1(), "a condition is a truth value");
        assert!([then, otherwise].iter().all(|to| self.module.owns(to.as_value())), "blocks of this module");
        let condition = self.own(condition);
        // SAFETY: a truth value and two blocks of this module.
        Instruction(unsafe { Self::made(LLVMBuildCondBr(self.here(), condition, then.raw(), otherwise.raw())) })
    }

    /// A branch on a number: to the block of its case, or to `otherwise`.
    ///
    /// # Panics
    /// If the value is no integer.
    pub fn switch(&self, value: Value<'m>, cases: &[(u64, Block<'m>)], otherwise: Block<'m>) -> Instruction<'m> {
        let ty = value.ty();
        assert!(ty.is_integer(), "a switch is on an integer");
        let is_own = |to: Block<'m>| self.module.owns(to.as_value());
        assert!(is_own(otherwise) && cases.iter().all(|&(_, to)| is_own(to)), "blocks of this module");
        // SAFETY: an integer and a block of this module; LLVM makes a switch of them.
        let switch = unsafe {
            Self::made(LLVMBuildSwitch(self.here(), self.own(value), otherwise.raw(), super::count(cases.len())))
        };
        for &(case, to) in cases {
            // SAFETY: a switch on integers of that type, and a block of this module.
            unsafe { LLVMAddCase(switch.raw(), ty.constant(case).raw(), to.raw()) };
        }
        Instruction(switch)
    }

    /// A return of nothing.
    pub fn return_nothing(&self) -> Instruction<'m> {
        // SAFETY: the builder has a position.
        Instruction(unsafe { Self::made(LLVMBuildRetVoid(self.here())) })
    }

    /// A return of a value, which is of the type that the function returns.
    pub fn return_value(&self, value: Value<'m>) -> Instruction<'m> {
        // SAFETY: the builder has a position, and the value is one of the module.
        Instruction(unsafe { Self::made(LLVMBuildRet(self.here(), value.raw())) })
    }

    /// A call.
    pub fn call(&self, ty: Type<'m>, called: impl Into<Value<'m>>, arguments: &[Value<'m>]) -> Call<'m> {
        self.call_with(ty, called.into(), arguments, &[])
    }

    /// A call of assembly, in AT&T's syntax. With side effects it is kept as it is and where it is.
    pub fn assembly(
        &self,
        ty: Type<'m>,
        text: &str,
        constraints: &str,
        side_effects: bool,
        arguments: &[Value<'m>],
    ) -> Call<'m> {
        assert!(ty.parameters().is_some() && ty.context() == self.module.context, "assembly is a function");
        // SAFETY: a function type; LLVM copies as many bytes as it is told of.
        let assembly = unsafe {
            Self::made(LLVMGetInlineAsm(
                ty.raw(),
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                side_effects.into(),
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            ))
        };
        self.call_with(ty, assembly, arguments, &[])
    }

    /// The operands of a call, which fit the function's type.
    fn arguments(&self, ty: Type<'m>, called: Value<'m>, arguments: &[Value<'m>]) -> Vec<LLVMValueRef> {
        let (parameters, more) = ty.parameters().expect("functions are called");
        let enough = if more { arguments.len() >= parameters.len() } else { arguments.len() == parameters.len() };
        let fit = arguments.iter().zip(&parameters).all(|(argument, &parameter)| argument.ty() == parameter);
        let callable = called.ty().is_pointer() && ty.context() == self.module.context;
        assert!(enough && fit && callable, "the arguments fit the function's type");
        arguments.iter().map(|&argument| self.own(argument)).collect()
    }

    pub(super) fn call_with(
        &self,
        ty: Type<'m>,
        called: Value<'m>,
        arguments: &[Value<'m>],
        bundles: &[Bundle<'m>],
    ) -> Call<'m> {
        let mut raw = self.arguments(ty, called, arguments);
        let mut bundles: Vec<LLVMOperandBundleRef> = bundles.iter().map(Bundle::raw).collect();
        // SAFETY: arguments of the function's type, all of this module; LLVM copies the bundles.
        Call(Instruction(unsafe {
            Self::made(LLVMBuildCallWithOperandBundles(
                self.here(),
                ty.raw(),
                self.own(called),
                raw.as_mut_ptr(),
                count(raw.len()),
                bundles.as_mut_ptr(),
                count(bundles.len()),
                c"".as_ptr(),
            ))
        }))
    }

    pub(super) fn invoke(
        &self,
        ty: Type<'m>,
        called: Value<'m>,
        arguments: &[Value<'m>],
        [normal, unwind]: [Block<'m>; 2],
        bundles: &[Bundle<'m>],
    ) -> Call<'m> {
        let mut raw = self.arguments(ty, called, arguments);
        let mut bundles: Vec<LLVMOperandBundleRef> = bundles.iter().map(Bundle::raw).collect();
        // SAFETY: as above, and two blocks of this module.
        Call(Instruction(unsafe {
            Self::made(LLVMBuildInvokeWithOperandBundles(
                self.here(),
                ty.raw(),
                self.own(called),
                raw.as_mut_ptr(),
                count(raw.len()),
                normal.raw(),
                unwind.raw(),
                bundles.as_mut_ptr(),
                count(bundles.len()),
                c"".as_ptr(),
            ))
        }))
    }
}
