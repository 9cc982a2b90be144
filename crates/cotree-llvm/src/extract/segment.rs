//! Detects programs that use the segment register GS themselves: emulators, threads of a foreign runtime, per-CPU data.

use crate::ir::{Block, Instruction};
use crate::module::Module;
use llvm_sys::LLVMOpcode;
use std::ffi::CStr;

/// The address space that LLVM's x86 code generator reaches relative to GS.
pub(crate) const GS: u32 = 256;

const INTRINSICS: [&CStr; 4] =
    [c"llvm.x86.rdgsbase.32", c"llvm.x86.rdgsbase.64", c"llvm.x86.wrgsbase.32", c"llvm.x86.wrgsbase.64"];

/// By its intrinsics or in the module's assembly.
pub(super) fn in_module(module: &Module) -> bool {
    INTRINSICS.iter().any(|name| module.function(name).is_some()) || mentions(&module.assembly())
}

/// By pointers into its address space, or in assembly.
pub(super) fn in_blocks(blocks: &[Block<'_>]) -> bool {
    blocks.iter().any(|block| block.instructions().any(in_instruction))
}

fn in_instruction(instruction: Instruction<'_>) -> bool {
    let pointer = match instruction.opcode() {
        LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => instruction.operand(0),
        LLVMOpcode::LLVMStore => instruction.operand(1),
        _ => {
            let assembly = instruction.as_call().and_then(|call| call.called().assembly());
            return assembly.is_some_and(|text| mentions(&text));
        }
    };
    pointer.is_some_and(|pointer| pointer.ty().address_space() == Some(GS))
}

/// Does assembly mention the register or its base? We look for the word `gs` in any case, so false positives are
/// possible and misses are not.
fn mentions(assembly: &str) -> bool {
    let mut words = assembly.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| ["gs", "swapgs", "lgs", "rdgsbase", "wrgsbase"].iter().any(|w| word.eq_ignore_ascii_case(w)))
}
