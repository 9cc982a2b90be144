//! Calls, and the operand bundles that they carry.

use super::{At, Block, Builder, Function, Instruction, Type, Value, count, kind, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::marker::PhantomData;

kind! {
    /// A call, an invoke or a `callbr`.
    Call is a Instruction
}

impl<'m> Call<'m> {
    /// What is called: a function, assembly, or a pointer.
    ///
    /// # Panics
    /// Never: a call has that operand.
    #[must_use]
    pub fn called(self) -> Value<'m> {
        // SAFETY: a call.
        unsafe { Value::from_raw(LLVMGetCalledValue(self.raw())) }.expect("a call calls something")
    }

    /// The type of the function as the call sees it.
    #[must_use]
    pub fn called_type(self) -> Type<'m> {
        // SAFETY: a call.
        unsafe { Type::from_raw(LLVMGetCalledFunctionType(self.raw())) }
    }

    /// How many arguments it has.
    #[must_use]
    pub fn argument_count(self) -> u32 {
        // SAFETY: a call.
        unsafe { LLVMGetNumArgOperands(self.raw()) }
    }

    /// The arguments of the call: its first operands.
    pub fn arguments(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.argument_count()).filter_map(move |index| self.operand(index))
    }

    /// The calling convention.
    #[must_use]
    pub fn convention(self) -> u32 {
        // SAFETY: a call.
        unsafe { LLVMGetInstructionCallConv(self.raw()) }
    }

    /// Sets the calling convention.
    pub fn set_convention(self, convention: u32) {
        // SAFETY: a call.
        unsafe { LLVMSetInstructionCallConv(self.raw(), convention) };
    }

    /// Whether it must be compiled to a jump, and so be followed by a return.
    #[must_use]
    pub fn is_musttail(self) -> bool {
        self.tail() == Some(LLVMTailCallKind::LLVMTailCallKindMustTail)
    }

    /// Whether it may be compiled to a jump; only plain calls are asked.
    fn tail(self) -> Option<LLVMTailCallKind> {
        // SAFETY: a plain call.
        (self.opcode() == LLVMOpcode::LLVMCall).then(|| unsafe { LLVMGetTailCallKind(self.raw()) })
    }

    /// Forbids to compile it to a jump, unless it must be.
    pub fn keep_frame(self) {
        if self.tail().is_some() && !self.is_musttail() {
            // SAFETY: a plain call.
            unsafe { LLVMSetTailCallKind(self.raw(), LLVMTailCallKind::LLVMTailCallKindNoTail) };
        }
    }

    /// Where an invoke goes on, and where it goes if the call throws.
    #[must_use]
    pub fn destinations(self) -> Option<[Block<'m>; 2]> {
        if self.opcode() != LLVMOpcode::LLVMInvoke {
            return None;
        }
        // SAFETY: an invoke.
        unsafe {
            let normal = Block::from_raw(LLVMGetNormalDest(self.raw()))?;
            Some([normal, Block::from_raw(LLVMGetUnwindDest(self.raw()))?])
        }
    }

    /// The function that it calls by name.
    #[must_use]
    pub fn callee(self) -> Option<Function<'m>> {
        self.called().as_function()
    }

    /// Whether it, or the function that it calls by name, has the attribute of this name.
    #[must_use]
    pub fn has_attribute(self, name: &str) -> bool {
        self.has_own_attribute(At::Function, name)
            || self.callee().is_some_and(|callee| callee.has_attribute(At::Function, name))
    }

    /// The name of the intrinsic that it calls.
    #[must_use]
    pub fn intrinsic(self) -> Option<String> {
        self.callee().filter(|callee| callee.is_intrinsic()).map(|callee| callee.name())
    }

    /// How many operand bundles it has.
    #[must_use]
    pub fn bundle_count(self) -> u32 {
        // SAFETY: a call.
        unsafe { LLVMGetNumOperandBundles(self.raw()) }
    }

    /// One of its operand bundles.
    #[must_use]
    pub fn bundle(self, index: u32) -> Option<Bundle<'m>> {
        let exists = index < self.bundle_count();
        // SAFETY: the bundle exists; LLVM makes a copy for us.
        exists.then(|| Bundle { raw: unsafe { LLVMGetOperandBundleAtIndex(self.raw(), index) }, module: PhantomData })
    }
}

/// Values that a call carries besides its arguments, with a tag that says what for.
pub struct Bundle<'m> {
    raw: LLVMOperandBundleRef,
    module: PhantomData<&'m Module>,
}

impl Drop for Bundle<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, disposed of once.
        unsafe { LLVMDisposeOperandBundle(self.raw) };
    }
}

impl<'m> Bundle<'m> {
    /// A bundle with these values.
    #[must_use]
    pub fn new(tag: &str, values: &[Value<'m>]) -> Self {
        let mut values: Vec<LLVMValueRef> = values.iter().map(|value| value.raw()).collect();
        // SAFETY: LLVM copies as many bytes and values as it is told of.
        let raw = unsafe {
            LLVMCreateOperandBundle(tag.as_ptr().cast(), tag.len(), values.as_mut_ptr(), count(values.len()))
        };
        Self { raw, module: PhantomData }
    }

    /// LLVM's pointer.
    pub(super) fn raw(&self) -> LLVMOperandBundleRef {
        self.raw
    }

    /// What it is for.
    #[must_use]
    pub fn tag(&self) -> String {
        let mut len = 0;
        // SAFETY: LLVM gives its own storage with the length, which we copy.
        unsafe { text(LLVMGetOperandBundleTag(self.raw, &raw mut len), len) }
    }

    /// The values of the bundle.
    #[must_use]
    pub fn values(&self) -> Vec<Value<'m>> {
        // SAFETY: a bundle has as many values as it says, of the call's module.
        unsafe {
            let count = LLVMGetNumOperandBundleArgs(self.raw);
            (0..count).filter_map(|at| Value::from_raw(LLVMGetOperandBundleArgAtIndex(self.raw, at))).collect()
        }
    }
}

impl Module {
    /// Replaces a call or an invoke by the same one with these bundles; gives the new one.
    ///
    /// # Panics
    /// If it is a `callbr`, or of another module.
    pub fn rebundle<'m>(&'m self, call: Call<'m>, bundles: &[Bundle<'m>]) -> Call<'m> {
        assert!(call.opcode() != LLVMOpcode::LLVMCallBr, "no assembly that jumps");
        let builder = Builder::before(self, *call);
        builder.set_location(call.location());
        let name = call.name();
        call.set_name("");
        let arguments: Vec<Value<'m>> = call.arguments().collect();
        let new = match call.destinations() {
            Some(to) => builder.invoke(call.called_type(), call.called(), &arguments, to, bundles),
            None => builder.call_with(call.called_type(), call.called(), &arguments, bundles),
        };
        new.set_name(&name);
        if let Some(tail) = call.tail() {
            // SAFETY: the new one is a plain call, as the old one was.
            unsafe { LLVMSetTailCallKind(new.raw(), tail) };
        }
        new.set_convention(call.convention());
        new.copy_attributes(call);
        new.copy_fast_math(*call);
        new.copy_metadata(*call);
        if call.is_used() {
            call.replace_uses(new);
        }
        self.remove(*call);
        new
    }
}

impl<'m> Instruction<'m> {
    /// Takes over all metadata of another instruction, but for where that comes from.
    fn copy_metadata(self, from: Instruction<'m>) {
        // SAFETY: instructions of one module; LLVM gives a list of as many entries as it says, which is freed once.
        unsafe {
            let mut len = 0;
            let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(from.raw(), &raw mut len);
            for index in 0..count(len) {
                let metadata = LLVMValueMetadataEntriesGetMetadata(entries, index);
                let kind = LLVMValueMetadataEntriesGetKind(entries, index);
                LLVMSetMetadata(self.raw(), kind, LLVMMetadataAsValue(self.ty().context(), metadata));
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
    }
}
