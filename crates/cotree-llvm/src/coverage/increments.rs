//! Requests for counters, as clang's front end makes them.

use crate::ir::{Builder, Value};

/// The intrinsic of counters that 1 is added to.
pub(super) const INCREMENT: &str = "llvm.instrprof.increment";

/// Asks for a counter: the function's name and hash, how many counters it has, and which one it is.
pub(super) fn ask<'m>(builder: &Builder<'m>, arguments: &[Value<'m>]) {
    call(builder, INCREMENT, arguments);
}

/// Calls an intrinsic of the instrumentation, which gives nothing back.
pub(super) fn call<'m>(builder: &Builder<'m>, name: &str, arguments: &[Value<'m>]) {
    let module = builder.module();
    let parameters: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
    let ty = module.void().function(&parameters);
    let callee = module.function_or_declare(name, ty, |_| ());
    builder.call(ty, callee, arguments);
}
