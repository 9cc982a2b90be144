//! Which instructions count, and as what.

use super::calls;
use crate::ir::Instruction;
use cotree_core::facts::InstructionCounts;
use llvm_sys::LLVMOpcode;

/// Does the instruction count as executed work? Phis are moves on edges, debug intrinsics nothing at all.
pub(super) fn is_counted(instruction: Instruction<'_>) -> bool {
    instruction.as_phi().is_none() && !calls::is_annotation(instruction) && !calls::is_safe_point(instruction)
}

/// One instruction, by kind.
pub(super) fn instruction_counts(instruction: Instruction<'_>) -> InstructionCounts {
    use LLVMOpcode::*;
    let mut counts = InstructionCounts { total: 1, ..InstructionCounts::default() };
    match instruction.opcode() {
        LLVMLoad => counts.loads = 1,
        LLVMStore => counts.stores = 1,
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg => counts.float = 1,
        _ => {
            if let Some(call) = instruction.as_call() {
                match calls::intrinsic(call) {
                    Some(name) => counts.float = u32::from(calls::is_float_arithmetic(&name)),
                    None => counts.calls = 1,
                }
            }
        }
    }
    counts
}
