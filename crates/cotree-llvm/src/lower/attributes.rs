//! Removes attributes whose promises instrumented functions no longer keep.
//!
//! A function that counts writes memory. The front end may have promised that it does not (`memory(none)`,
//! `speculatable`), and calls to it would be removed, merged or moved: counts would be lost silently.

use crate::ir::{At, Call};
use crate::module::Module;
use llvm_sys::LLVMOpcode;
use std::collections::HashSet;

const PROMISES: [&str; 4] = ["memory", "speculatable", "allockind", "nosync"];
/// Attributes that refer to `allockind` and are invalid without it.
const ALLOCATION: [&str; 2] = ["alloc-family", "alloc-variant-zeroed"];

/// Takes the promises back: on every function of the link unit (`defined` holds the names of those that other modules
/// define), and on every call that may reach one.
pub(crate) fn strip(module: &Module, defined: &HashSet<&str>) {
    for function in module.functions() {
        let ours = !function.is_declaration() || defined.contains(function.name().as_str());
        if ours && !function.is_intrinsic() {
            for promise in PROMISES {
                function.remove_attribute(At::Function, promise);
            }
            for name in ALLOCATION {
                function.remove_text_attribute(name);
            }
        }
        for call in function.instructions().filter_map(|instruction| instruction.as_call()) {
            if call.opcode() != LLVMOpcode::LLVMCallBr && may_reach_instrumented_code(call, defined) {
                for promise in PROMISES {
                    call.remove_attribute(At::Function, promise);
                }
            }
        }
    }
}

fn may_reach_instrumented_code(call: Call<'_>, defined: &HashSet<&str>) -> bool {
    let called = call.called();
    let declared_elsewhere = || {
        called
            .as_function()
            .is_some_and(|function| function.is_declaration() && !defined.contains(function.name().as_str()))
    };
    !called.is_assembly() && !declared_elsewhere()
}
