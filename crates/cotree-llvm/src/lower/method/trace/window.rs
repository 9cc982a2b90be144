//! The window of a thread's stream, and functions that append to it.

use crate::ir::{At, Block, Function, Type, Value};
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use crate::lower::unit::Access;
use crate::module::Module;
use cotree_core::method::trace::TraceWords;
use llvm_sys::{LLVMCallConv, LLVMLinkage, LLVMVisibility};

/// The runtime's function that empties the window.
const FULL: &str = "__cotree_trace_full";
/// The weights of a branch that hardly ever takes its first edge.
pub(super) const HARDLY: [u32; 2] = [1, 20_000];

/// How a unit's traces are recorded.
#[derive(Clone, Copy)]
pub struct Recording {
    /// Only the newest part of the trace is kept.
    pub in_ring: bool,
    /// Functions that record their entries record the time.
    pub timed: bool,
}

/// A function of the module that is inlined wherever it is called.
pub(super) fn inlined<'m>(
    module: &'m Module,
    name: &str,
    ty: Type<'m>,
    define: impl FnOnce(Function<'m>),
) -> (Function<'m>, Type<'m>) {
    let function = module.function_or_declare(name, ty, |function| {
        function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        for attribute in ["alwaysinline", "nounwind"] {
            function.add_attribute(At::Function, module.attribute(attribute));
        }
        define(function);
    });
    (function, ty)
}

/// Moves the cursor by so many bytes, and has the runtime empty the window if it is full; then the function returns.
pub(super) fn advance<'m>(
    code: &Code<'_, 'm>,
    counters: &Counters<'m>,
    words: TraceWords,
    bytes: Value<'m>,
    place: Value<'m>,
    [full, done]: [Block<'m>; 2],
) {
    let (module, builder) = (code.module, &counters.builder);
    let [slab, in_assembly] = counters.pointers();
    let is_full = counters.add_and_test(words.first, bytes);
    module.set_branch_weights(builder.branch(is_full, full, done), &HARDLY);

    builder.move_to_end(full);
    let which = if code.unit.access == Access::Segment { in_assembly.ty().zero() } else { slab };
    let (runtime, ty) = runtime(module);
    builder.call(ty, runtime, &[which, place]).set_convention(LLVMCallConv::LLVMPreserveAllCallConv as u32);
    builder.jump(done);

    builder.move_to_end(done);
    builder.return_nothing();
}

/// All parameters of a function that has so many.
pub(super) fn parameters<'m, const N: usize>(function: Function<'m>) -> [Value<'m>; N] {
    std::array::from_fn(|index| {
        function.parameter(u32::try_from(index).expect("a few")).expect("a parameter of its type")
    })
}

/// `void __cotree_trace_full(slab, place)`; null: the slab that the segment register leads to. It preserves nearly all
/// registers.
fn runtime<'m>(module: &'m Module) -> (Function<'m>, Type<'m>) {
    let ty = module.void().function(&[module.pointer(0), module.int64()]);
    let function = module.function_or_declare(FULL, ty, |function| {
        function.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
        function.set_convention(LLVMCallConv::LLVMPreserveAllCallConv as u32);
        for attribute in ["cold", "nounwind", "willreturn", "nocallback"] {
            function.add_attribute(At::Function, module.attribute(attribute));
        }
    });
    (function, ty)
}
