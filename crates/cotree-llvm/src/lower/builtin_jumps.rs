//! Makes calls of the compiler's own form of `setjmp` and `longjmp`, which are none.
//!
//! A `__builtin_longjmp` becomes a call of the runtime, which accounts for the frames that die and then jumps. Behind
//! each `__builtin_setjmp` comes a call that returns twice in its stead (`cotree_rt`'s modules `jump` and
//! `builtin_setjmp`). It is done before facts are extracted: to everything after that both are calls like any other.

use crate::ir::{At, Builder, Call, Instruction, Type, Value};
use crate::module::Module;
use llvm_sys::LLVMVisibility;

/// The call behind a `setjmp`.
const SETJMP: &str = "__cotree_builtin_setjmp";

/// Puts the calls into the module.
pub(crate) fn make_calls(module: &mut Module) {
    if module.function(c"llvm.eh.sjlj.setjmp").is_none() && module.function(c"llvm.eh.sjlj.longjmp").is_none() {
        return;
    }
    let unchanged: &Module = module;
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        let calls: Vec<Call<'_>> = function.instructions().filter_map(|instruction| instruction.as_call()).collect();
        for call in calls {
            match call.intrinsic().as_deref() {
                Some("llvm.eh.sjlj.setjmp") => report_result(unchanged, call),
                Some("llvm.eh.sjlj.longjmp") => replace(unchanged, call),
                _ => {}
            }
        }
    }
    module.sweep();
}

/// Inserts a call behind a `setjmp`, with its result.
fn report_result<'m>(module: &'m Module, setjmp: Call<'m>) {
    let next = setjmp.next().expect("a terminator follows the call");
    let made = call(module, next, SETJMP, module.int32(), (*setjmp).into(), "returns_twice");
    made.set_location(setjmp.location());
}

/// What comes to life again if a call returns twice: the `setjmp` in front of the call that stands for it, otherwise
/// the call itself. Code in between would run again.
pub(super) fn what_returns_twice(call: Instruction<'_>) -> Instruction<'_> {
    let stands_for_it = call.as_call().and_then(|call| call.callee()).is_some_and(|callee| callee.name() == SETJMP);
    let setjmp = if stands_for_it { call.operand(0).and_then(|result| result.as_instruction()) } else { None };
    setjmp.filter(|setjmp| setjmp.block() == call.block()).unwrap_or(call)
}

/// Puts a call in the place of a `longjmp`.
fn replace<'m>(module: &'m Module, longjmp: Call<'m>) {
    let Some(buffer) = longjmp.arguments().next() else { return };
    let made = call(module, *longjmp, "__cotree_builtin_longjmp", module.pointer(0), buffer, "noreturn");
    made.set_location(longjmp.location());
    module.remove(*longjmp);
}

/// A call of a function of the runtime before that instruction.
fn call<'m>(
    module: &'m Module,
    before: Instruction<'m>,
    name: &str,
    parameter: Type<'m>,
    argument: Value<'m>,
    attribute: &str,
) -> Call<'m> {
    let ty = module.void().function(&[parameter]);
    let callee = module.function_or_declare(name, ty, |callee| {
        callee.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
        for attribute in ["nounwind", attribute] {
            callee.add_attribute(At::Function, module.attribute(attribute));
        }
    });
    Builder::before(module, before).call(ty, callee, &[argument])
}
