//! Leads the calls that ask what others have led to into the runtime, with the number of the line that they ask about.

use crate::extract::Extracted;
use crate::extract::call_queries::ASKED;
use crate::ir::{At, Builder, Value};
use crate::module::Module;
use llvm_sys::{LLVMLinkage, LLVMVisibility};
use std::ffi::CString;

/// The function of the runtime: as the program's, but that lines are numbered.
const ANSWER: &str = "__cotree_call_events";

/// Changes whom the calls of a module call. `lines` are the numbers of their lines, in order; none if the build
/// measures no calls.
pub(super) fn lower(module: &Module, extracted: &Extracted, lines: &[usize]) {
    for (query, &line) in extracted.call_queries.queries.iter().zip(lines) {
        let ir = extracted.handles[query.function.index()].open(module);
        let instruction = ir.calls[query.call.index()];
        let Some(call) = instruction.as_call() else { continue };
        let callee = module.function_or_declare(ANSWER, call.called_type(), |callee| {
            callee.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
            callee.add_attribute(At::Function, module.attribute("nounwind"));
        });
        if let Some(argument) = call.arguments().nth(1) {
            instruction.set_operand(1, argument.ty().constant(line as u64));
        }
        let callee: Value<'_> = callee.into();
        instruction.set_operand(instruction.operand_count() - 1, callee);
    }
}

/// Answers 0 in a unit without a runtime: Rust refers to the function in all builds.
pub(crate) fn answer_nothing(module: &Module) {
    let name = CString::new(ASKED).expect("a name");
    let Some(function) = module.function(&name).filter(|function| function.is_declaration()) else { return };
    let Some(returned) = function.value_type().returned().filter(|ty| ty.is_integer()) else { return };
    function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    let builder = Builder::at_end(module, module.append_block(function));
    builder.return_value(returned.constant(0));
}
