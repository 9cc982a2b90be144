//! What event counts ask of calls.

use super::MethodPart;
use crate::extract::FunctionIr;
use crate::ir::Instruction;

/// Keeps the code generator from making a jump of calls whose activation must be seen if they do not come back. To be
/// called while the function's calls are as they were extracted.
pub(in crate::lower) fn keep_frames(ir: &FunctionIr<'_>, part: MethodPart<'_>) {
    let MethodPart::Events(plan) = part else { return };
    let calls = plan.framed.iter().filter_map(|call| ir.calls.get(call.index()).copied());
    calls.filter_map(Instruction::as_call).for_each(|call| call.keep_frame());
}
