//! Counts the targets of indirect calls ([`cotree_core::method::targets`]).
//!
//! Before each call its pointer is compared with the two that the runtime was asked for last there. If it is one of
//! them, which takes a comparison or two and an increment, the count is where the word beside it leads: in a bucket of
//! the table that path profiles have too. Else the runtime finds the bucket. The word is the bucket's distance from one
//! of zeros that each slab ends in.
//!
//! A signal handler that came between two words could change both. So functions that handlers may run ask the runtime
//! each time.

use super::code::Code;
use super::counters::Counters;
use super::unit::Targets;
use crate::ir::{At, Builder, Function, Type, Value};
use cotree_core::ids::FunctionId;
use cotree_rt::layout::TO_ZEROS;
use llvm_sys::{LLVMCallConv, LLVMIntPredicate, LLVMLinkage, LLVMVisibility};

/// The runtime's function that counts a call of a function whose bucket the site does not know.
const COUNT: &str = "__cotree_target";
/// What is inlined at each call.
const FAST: &str = "__cotree_count_target";
/// The weights of a branch that usually takes its first edge.
const USUALLY: [u32; 2] = [2000, 1];
/// The weights of the comparison behind that.
const OFTEN: [u32; 2] = [20, 1];

/// Does the function have calls whose targets are counted?
pub(super) fn has_sites(targets: Option<Targets<'_>>, number: usize) -> bool {
    targets.is_some_and(|targets| targets.plan.sites(FunctionId::new(number)).next().is_some())
}

/// Counts whom the function's calls lead to. All its other probes are there already: nothing else is counted between
/// this and the call.
pub(super) fn lower(code: &Code<'_, '_>, targets: Targets<'_>, number: usize) {
    let counters = &code.counters;
    let (builder, int64) = (&counters.builder, counters.int64);
    for (site, call) in targets.plan.sites(FunctionId::new(number)) {
        let call = code.ir.calls[call.index()];
        // What becomes a call when coroutines are split has no pointer yet.
        let Some(pointer) = call.as_call().filter(|call| call.intrinsic().is_none()).map(|call| call.called()) else {
            continue;
        };
        builder.move_before(call);
        let target = builder.address_to_int(pointer, int64);
        let words = int64.constant(targets.first + u64::from(site) * targets.plan.words());
        let site = int64.constant(site.into());
        if counters.interruptible {
            ask_runtime(builder, [site, target, words]);
            continue;
        }
        let [slab, in_assembly] = counters.pointers();
        let (fast, ty) = fast(counters);
        let zeros = int64.constant(code.unit.spare + TO_ZEROS);
        builder.call(ty, fast, &[slab, in_assembly, site, target, words, zeros]);
    }
}

/// Calls `void __cotree_target(site, target, first word of the site)`, which preserves nearly all registers.
fn ask_runtime<'m>(builder: &Builder<'m>, arguments: [Value<'m>; 3]) {
    let module = builder.module();
    let ty = module.void().function(&[module.int64(); 3]);
    let function = module.function_or_declare(COUNT, ty, |function| {
        function.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
        function.set_convention(LLVMCallConv::LLVMPreserveMostCallConv as u32);
        for attribute in ["cold", "nounwind", "willreturn", "nocallback"] {
            function.add_attribute(At::Function, module.attribute(attribute));
        }
    });
    let call = builder.call(ty, function, &arguments);
    call.set_convention(LLVMCallConv::LLVMPreserveMostCallConv as u32);
}

/// `void (slab, slab in assembly, site, target, first word of the site, first word of the bucket of zeros)`, always
/// inlined. Made for functions like that of `caller`.
fn fast<'m>(caller: &Counters<'m>) -> (Function<'m>, Type<'m>) {
    let module = caller.module;
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let mut parameters = vec![slab, in_assembly];
    parameters.resize(6, module.int64());
    let ty = module.void().function(&parameters);
    (module.function_or_declare(FAST, ty, |function| define(caller, function)), ty)
}

fn define<'m>(caller: &Counters<'m>, function: Function<'m>) {
    let module = caller.module;
    function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    for attribute in ["alwaysinline", "nounwind"] {
        function.add_attribute(At::Function, module.attribute(attribute));
    }
    let parameter = |index| function.parameter(index).expect("a parameter of its type");
    let [site, target, words, zeros] = [2, 3, 4, 5].map(parameter);
    let [first, bump, second, bump_second, ask, done] = [(); 6].map(|()| module.append_block(function));
    let counters = caller.in_block(first, [0, 1].map(parameter));
    let builder = &counters.builder;
    let word = |number: i64| builder.add(words, counters.int64.signed(number));
    let places = [(first, bump, second, &USUALLY), (second, bump_second, ask, &OFTEN)];
    for ((compare, bump, otherwise, weights), number) in places.into_iter().zip([0, 2]) {
        builder.move_to_end(compare);
        let known = counters.load_fresh(word(number));
        let same = builder.compare(LLVMIntPredicate::LLVMIntEQ, known, target);
        module.set_branch_weights(builder.branch(same, bump, otherwise), weights);

        builder.move_to_end(bump);
        let bucket = counters.load_fresh(word(number + 1));
        counters.add_behind(builder.add(zeros, counters.int64.signed(2)), bucket, counters.int64.signed(1));
        builder.jump(done);
    }

    builder.move_to_end(ask);
    ask_runtime(builder, [site, target, words]);
    builder.jump(done);

    builder.move_to_end(done);
    builder.return_nothing();
}
