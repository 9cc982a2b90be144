//! Instructions that may fault: those that use memory which may not be there, and divisions.

use super::calls;
use crate::ir::{Instruction, Value};
use llvm_sys::LLVMOpcode::*;

/// May the instruction end the program by a signal? Variables and the stack are taken to be there.
pub(super) fn may_fault(instruction: Instruction<'_>) -> bool {
    let reaches = |operand: u32| instruction.operand(operand).is_some_and(|pointer| !is_sure(pointer));
    match instruction.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => reaches(0),
        LLVMStore => reaches(1),
        LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem => reaches(1),
        LLVMCall => instruction.as_call().and_then(|call| call.intrinsic()).is_some_and(|name| {
            const NAMES: [&str; 6] =
                ["llvm.mem", "llvm.trap", "llvm.ubsantrap", "llvm.debugtrap", "llvm.masked.", "llvm.vp."];
            NAMES.iter().any(|prefix| name.starts_with(prefix)) && !calls::is_annotation(instruction)
        }),
        _ => false,
    }
}

/// A variable, a part of one at a constant place, or a divisor that is a number.
fn is_sure(operand: Value<'_>) -> bool {
    if operand.is_constant() {
        return if operand.ty().is_pointer() { is_of_symbol(operand) } else { !operand.is_zero() };
    }
    let Some(made) = operand.as_instruction() else { return false };
    match made.opcode() {
        LLVMAlloca => true,
        LLVMGetElementPtr => {
            made.operand(0).is_some_and(is_sure) && made.operands().skip(1).all(|index| index.is_constant())
        }
        _ => false,
    }
}

/// A constant address that is not made of a number alone.
fn is_of_symbol(address: Value<'_>) -> bool {
    address.as_variable().is_some()
        || address.as_function().is_some()
        || address.is_alias()
        || address.is_constant() && address.operands().any(is_of_symbol)
}

/// Is it one instruction of machine code?
pub(crate) fn faults_at_once(instruction: Instruction<'_>) -> bool {
    let value = match instruction.opcode() {
        LLVMStore => instruction.operand(0).map(Value::ty),
        LLVMCall => None,
        _ => Some(instruction.ty()),
    };
    value.is_some_and(|ty| ty.is_pointer() || ty.is_float() || matches!(ty.bits(), Some(1 | 8 | 16 | 32 | 64)))
}
