//! Programs that use the segment register GS themselves: emulators, threads of a foreign runtime, per-CPU tricks.

use crate::ffi::*;
use crate::module::Module;
use crate::walk;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::ffi::{CStr, c_char};

/// The address space that LLVM's x86 code generator reaches relative to GS.
pub(crate) const GS: u32 = 256;

const INTRINSICS: [&CStr; 4] =
    [c"llvm.x86.rdgsbase.32", c"llvm.x86.rdgsbase.64", c"llvm.x86.wrgsbase.32", c"llvm.x86.wrgsbase.64"];

/// By its intrinsics or in the module's assembly.
pub(super) fn in_module(module: &Module) -> bool {
    // SAFETY: look-ups in a valid module.
    unsafe {
        let mut len = 0;
        let assembly = LLVMGetModuleInlineAsm(module.raw, &raw mut len);
        INTRINSICS.iter().any(|name| !LLVMGetNamedFunction(module.raw, name.as_ptr()).is_null())
            || mentions(assembly, len)
    }
}

/// By pointers into its address space, or in assembly.
///
/// # Safety
/// The blocks must be valid.
pub(super) unsafe fn in_blocks(blocks: &[LLVMBasicBlockRef]) -> bool {
    // SAFETY: walking the instructions of valid blocks.
    unsafe { blocks.iter().any(|&block| walk::instructions(block).any(|instruction| in_instruction(instruction))) }
}

/// # Safety
/// `instruction` must be valid.
unsafe fn in_instruction(instruction: LLVMValueRef) -> bool {
    // SAFETY: memory instructions have their pointer at these places; asm strings are as long as told.
    unsafe {
        let pointer = match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => 0,
            LLVMOpcode::LLVMStore => 1,
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMCallBr | LLVMOpcode::LLVMInvoke => {
                let called = LLVMGetCalledValue(instruction);
                if LLVMIsAInlineAsm(called).is_null() {
                    return false;
                }
                let mut len = 0;
                let text = LLVMGetInlineAsmAsmString(called, &raw mut len);
                return mentions(text, len);
            }
            _ => return false,
        };
        LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(instruction, pointer))) == GS
    }
}

/// Does assembly speak of the register or its base? `gs` as a word, in any case: rather too often than once too few.
///
/// # Safety
/// Null, or `len` bytes of text.
unsafe fn mentions(text: *const c_char, len: usize) -> bool {
    if text.is_null() || len == 0 {
        return false;
    }
    // SAFETY: as the caller promises.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    text.split(|c| !c.is_ascii_alphanumeric() && *c != b'_').any(|word| {
        ["gs", "swapgs", "lgs", "rdgsbase", "wrgsbase"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
    })
}
