//! Counters that a condition is added to: they become branches with a counter behind them.
//!
//! Where clang makes no branch of `a ? b : c`, since both are cheap, it adds the condition to the counter
//! (`llvm.instrprof.increment.step`). Counts of blocks can't tell that, so the condition is branched on.

use super::{increments, split};
use crate::ir::{Builder, Call, Value};
use crate::module::Module;
use llvm_sys::LLVMOpcode;

/// What clang adds such a counter's step by.
const STEP: &str = "llvm.instrprof.increment.step";

/// Puts branches in the place of all steps whose form is known; the others stay.
pub(super) fn branch_on_conditions(module: &mut Module) {
    let unchanged: &Module = module;
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        let is_step = |call: &Call<'_>| call.intrinsic().as_deref() == Some(STEP);
        let steps: Vec<Call<'_>> =
            function.instructions().filter_map(|instruction| instruction.as_call().filter(is_step)).collect();
        for step in steps {
            replace(unchanged, step);
        }
    }
    module.sweep();
}

/// Replaces one step, if its form is known.
fn replace<'m>(module: &'m Module, step: Call<'m>) {
    let Some(by) = step.arguments().nth(4) else { return };
    if by.is_constant_int() {
        match by.constant() {
            Some(0) => {}
            Some(1) => count(&Builder::before(module, *step), step),
            _ => return,
        }
        module.remove(*step);
        return;
    }
    let Some(condition) = condition_of(by) else { return };
    let block = step.block().expect("it is in a block");
    let head = split::head_before(module, *step);
    let then = module.insert_block(block);
    let builder = Builder::at_end(module, head);
    builder.set_location(step.location());
    builder.branch(condition, then, block);
    let builder = Builder::at_end(module, then);
    builder.set_location(step.location());
    count(&builder, step);
    builder.jump(block);
    module.remove(*step);
}

/// The condition that is widened to a number.
fn condition_of(by: Value<'_>) -> Option<Value<'_>> {
    let widened = by.as_instruction().filter(|widened| widened.opcode() == LLVMOpcode::LLVMZExt)?;
    widened.operand(0).filter(|condition| condition.ty().bits() == Some(1))
}

/// Asks for the counter of a step.
fn count<'m>(builder: &Builder<'m>, step: Call<'m>) {
    let arguments: Vec<Value<'_>> = step.arguments().take(4).collect();
    increments::ask(builder, &arguments);
}
