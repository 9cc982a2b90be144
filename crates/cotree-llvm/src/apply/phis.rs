//! Phis after their block's predecessors have changed.
//!
//! The C API cannot rename an incoming block, so each phi of the block is built anew.

use crate::ffi::*;
use crate::linkage::value_name;
use crate::walk;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::ffi::CString;

/// Edges that now arrive from another block.
pub(super) struct Move {
    /// The old predecessor.
    pub(super) from: LLVMBasicBlockRef,
    /// The new one, which branches to the block once.
    pub(super) to: LLVMBasicBlockRef,
    /// All entries of the old predecessor have become one entry of the new; else exactly one has moved.
    pub(super) all: bool,
}

/// Rebuilds the phis of `block`; gives each old one, which is gone, with the new one.
///
/// # Safety
/// The moves must describe how the block's predecessors have changed; `builder` is moved.
pub(super) unsafe fn redirect(
    block: LLVMBasicBlockRef,
    moves: &[Move],
    builder: LLVMBuilderRef,
) -> Vec<(LLVMValueRef, LLVMValueRef)> {
    let mut replaced = Vec::new();
    // SAFETY: phis are the first instructions of a block; a phi is replaced before it is erased.
    unsafe {
        let is_phi = |&instruction: &LLVMValueRef| LLVMGetInstructionOpcode(instruction) == LLVMOpcode::LLVMPHI;
        for phi in walk::instructions(block).take_while(is_phi) {
            let entries = redirected(phi, moves);
            LLVMPositionBuilderBefore(builder, phi);
            LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(phi));
            let name = CString::new(value_name(phi)).unwrap_or_default();
            LLVMSetValueName2(phi, c"".as_ptr(), 0);
            let rebuilt = LLVMBuildPhi(builder, LLVMTypeOf(phi), name.as_ptr());
            for (mut value, mut from) in entries {
                // A loop's phi may name itself.
                if value == phi {
                    value = rebuilt;
                }
                LLVMAddIncoming(rebuilt, &raw mut value, &raw mut from, 1);
            }
            if LLVMCanValueUseFastMathFlags(phi) != 0 {
                LLVMSetFastMathFlags(rebuilt, LLVMGetFastMathFlags(phi));
            }
            LLVMReplaceAllUsesWith(phi, rebuilt);
            LLVMInstructionEraseFromParent(phi);
            replaced.push((phi, rebuilt));
        }
    }
    replaced
}

/// # Safety
/// `phi` must be a phi.
unsafe fn redirected(phi: LLVMValueRef, moves: &[Move]) -> Vec<(LLVMValueRef, LLVMBasicBlockRef)> {
    // SAFETY: indices below the number of entries.
    let mut entries: Vec<_> = unsafe {
        (0..LLVMCountIncoming(phi)).map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i))).collect()
    };
    for change in moves {
        let Some(at) = entries.iter().position(|&(_, from)| from == change.from) else { continue };
        entries[at].1 = change.to;
        if change.all {
            entries.retain(|&(_, from)| from != change.from);
        }
    }
    entries
}
