//! Calls with work behind them, which keep their frames.
//!
//! The optimiser makes a loop of `return n + f(n - 1)`, adding up before the call what is added behind it, and it makes
//! a jump of a call when it finds that what stands behind has no effect. Then there is no activation any more whose end
//! could be seen: if the callee never comes back, everything behind the call would count as run. So such calls are
//! forbidden to become jumps. Those with nothing but a return behind them may: programs rely on it, and of these only
//! the return itself is not known.

use crate::extract::{FunctionIr, is_annotation};
use crate::ir::{Instruction, Value};
use llvm_sys::LLVMOpcode::{
    LLVMAlloca, LLVMBitCast, LLVMBr, LLVMLoad, LLVMPHI, LLVMRet, LLVMSExt, LLVMStore, LLVMTrunc, LLVMUnreachable,
    LLVMZExt,
};

/// Keeps the frames of a function's calls that have work behind them. To be called while its calls are as they were
/// extracted.
pub(super) fn keep(ir: &FunctionIr<'_>) {
    let calls = ir.calls.iter().filter_map(|call| call.as_call());
    calls.filter(|call| !returns_at_once(**call)).for_each(|call| call.keep_frame());
}

/// Whether nothing but a return comes behind it, apart from moving its result there.
fn returns_at_once(call: Instruction<'_>) -> bool {
    /// Longer sequences up to a return have something else in them.
    const LONGEST: usize = 64;
    let mut next = call.next();
    for _ in 0..LONGEST {
        let Some(instruction) = next else { return false };
        let is_local = |index| instruction.operand(index).is_some_and(|place: Value<'_>| place.is(LLVMAlloca));
        next = match instruction.opcode() {
            LLVMRet | LLVMUnreachable => return true,
            LLVMBr if instruction.successor_count() == 1 => instruction.successor(0).and_then(|block| block.first()),
            LLVMPHI | LLVMBitCast | LLVMZExt | LLVMSExt | LLVMTrunc => instruction.next(),
            LLVMLoad if is_local(0) => instruction.next(),
            LLVMStore if is_local(1) => instruction.next(),
            _ if is_annotation(instruction) => instruction.next(),
            _ => return false,
        };
    }
    false
}
