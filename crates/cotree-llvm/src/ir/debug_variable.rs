//! Variables in debug information, and records of what they are.

use super::{DebugInfoBuilder, Instruction, Location, Metadata, Scope, SourceFile, Value, kind};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::debuginfo::{LLVMDIFlagArtificial, LLVMDIFlagZero};
use std::ffi::CStr;

/// `DW_ATE_unsigned`.
const UNSIGNED: u32 = 7;

kind! {
    /// A variable of 64 bits in debug information.
    DebugVariable is a Metadata
}

impl<'m> Scope<'m> {
    /// Whether debug information about variables is written of a function.
    #[must_use]
    pub fn has_variables(self, module: &'m Module) -> bool {
        /// The operand of a function that is its compile unit.
        const UNIT: usize = 5;
        let unit = module.metadata_value(*self).node_operands().and_then(|operands| *operands.get(UNIT)?);
        let Some(unit) = unit else { return false };
        // SAFETY: a live value; LLVM gives a text that ends in NUL, which is freed once.
        let text = unsafe {
            let printed = LLVMPrintValueToString(unit.raw());
            let text = CStr::from_ptr(printed).to_string_lossy().into_owned();
            LLVMDisposeMessage(printed);
            text
        };
        text.contains("emissionKind: FullDebug")
    }
}

impl<'m> DebugInfoBuilder<'m> {
    /// A variable of 64 bits that the compiler has made for a function.
    ///
    /// # Panics
    /// Never: LLVM makes the variable.
    #[must_use]
    pub fn variable(&self, scope: Scope<'m>, file: SourceFile<'m>, name: &str) -> DebugVariable<'m> {
        const TYPE: &str = "unsigned long";
        // SAFETY: LLVM reads as many bytes as it is told of; scope and file are of this builder's context.
        let made = unsafe {
            let ty = LLVMDIBuilderCreateBasicType(
                self.raw(),
                TYPE.as_ptr().cast(),
                TYPE.len(),
                64,
                UNSIGNED,
                LLVMDIFlagZero,
            );
            let (start, len) = (name.as_ptr().cast(), name.len());
            let flags = LLVMDIFlagArtificial;
            let made =
                LLVMDIBuilderCreateAutoVariable(self.raw(), scope.raw(), start, len, file.raw(), 0, ty, 0, flags, 64);
            Metadata::from_raw(made)
        };
        DebugVariable(made.expect("LLVM makes the variable"))
    }

    /// Says before an instruction that a variable is from there on what an expression of DWARF operators makes of a
    /// value.
    ///
    /// # Panics
    /// If the value is of another module.
    pub fn note_value(
        &self,
        variable: DebugVariable<'m>,
        value: Value<'m>,
        operators: &[u64],
        location: Location<'m>,
        before: Instruction<'m>,
    ) {
        assert!(self.module().owns(value) && before.block().is_some(), "a value of this module");
        let expression = self.expression(operators);
        let [value, before] = [value, *before].map(Value::raw);
        // SAFETY: a value, metadata and an instruction in a block, of this builder's context.
        unsafe {
            LLVMDIBuilderInsertDbgValueRecordBefore(
                self.raw(),
                value,
                variable.raw(),
                expression.raw(),
                location.raw(),
                before,
            );
        }
    }

    /// Says before an instruction that the variable is not known from there on.
    pub fn note_unknown(&self, variable: DebugVariable<'m>, location: Location<'m>, before: Instruction<'m>) {
        // SAFETY: an integer type has a poison value, which lives as long as its context.
        let poison = unsafe { Value::from_raw(LLVMGetPoison(self.module().int64().raw())) };
        self.note_value(variable, poison.expect("constants exist"), &[], location, before);
    }

    /// Says that a variable is in memory at this address, in all of the function.
    ///
    /// # Panics
    /// If the address is of another module.
    pub fn note_place(
        &self,
        variable: DebugVariable<'m>,
        address: Value<'m>,
        location: Location<'m>,
        before: Instruction<'m>,
    ) {
        assert!(self.module().owns(address) && before.block().is_some(), "an address of this module");
        let expression = self.expression(&[]);
        let [address, before] = [address, *before].map(Value::raw);
        // SAFETY: an address, metadata and an instruction in a block, of this builder's context.
        unsafe {
            LLVMDIBuilderInsertDeclareRecordBefore(
                self.raw(),
                address,
                variable.raw(),
                expression.raw(),
                location.raw(),
                before,
            );
        }
    }

    fn expression(&self, operators: &[u64]) -> Metadata<'m> {
        let mut operators = operators.to_vec();
        // SAFETY: LLVM reads as many operators as it is told of.
        let made = unsafe { LLVMDIBuilderCreateExpression(self.raw(), operators.as_mut_ptr(), operators.len()) };
        // SAFETY: metadata lives as long as its context.
        unsafe { Metadata::from_raw(made) }.expect("LLVM makes the expression")
    }
}
