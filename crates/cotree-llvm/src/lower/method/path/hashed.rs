//! Emits the code that counts paths in hash tables.
//!
//! Some words of the slab cache the places of recently used buckets, by a hash of the path's key. If the cached bucket
//! is not the path's, the runtime finds the right one. The key is the path's number plus 1, so no bucket of zeros has
//! it. Such a bucket is at the end of each slab, and a word of the cache is a bucket's distance from it. So an empty
//! word of the cache leads to the bucket of zeros, and no word has to be compared with 0.

use crate::ir::{At, Builder, Function, Type, Value};
use crate::lower::counters::Counters;
use crate::module::Module;
use cotree_core::method::path::PATH_CACHE;
use llvm_sys::{LLVMCallConv, LLVMIntPredicate, LLVMLinkage, LLVMVisibility};

/// The runtime's function that counts a path in a hash table.
const COUNT: &str = "__cotree_path";
/// The function that counts a path and adds to its sum.
const COUNT_METRIC: &str = "__cotree_path_metric";
/// What is inlined wherever a path is counted in a hash table; the second one for functions that signal handlers may
/// run.
const FAST: [&str; 2] = ["__cotree_count_path", "__cotree_count_path_at_once"];
/// The weights of a branch that usually takes its first edge.
const USUALLY: [u32; 2] = [2000, 1];

/// The word of the slab that leads to the path's bucket if that was the last one counted among those of the same hash:
/// the upper bits of a product with a number by Knuth (1973, §6.4). Half of the key is enough, and its factor fits an
/// instruction as a signed number.
pub(super) fn cache_word<'m>(counters: &Counters<'m>, first: Value<'m>, key: Value<'m>) -> Value<'m> {
    const GOLDEN: u64 = 0x61C8_8647;
    let (builder, int32) = (&counters.builder, counters.module.int32());
    let low = builder.truncate(key, int32);
    let mixed = builder.mul(low, int32.constant(GOLDEN));
    let slot = builder.shift_right(mixed, int32.constant(u64::from(32 - PATH_CACHE.ilog2())));
    builder.add(builder.widen(slot, counters.int64), first)
}

/// Calls `void __cotree_path(function, key, cache word)`, or `__cotree_path_metric` with an amount besides. They
/// preserve nearly all registers.
pub(super) fn ask_runtime<'m>(builder: &Builder<'m>, path: [Value<'m>; 3], amount: Option<Value<'m>>) {
    let arguments: Vec<Value<'m>> = path.into_iter().chain(amount).collect();
    let name = if amount.is_some() { COUNT_METRIC } else { COUNT };
    let (slow, ty) = slow_path(builder.module(), name, arguments.len());
    let call = builder.call(ty, slow, &arguments);
    call.set_convention(LLVMCallConv::LLVMPreserveMostCallConv as u32);
}

/// The runtime's function of so many numbers.
fn slow_path<'m>(module: &'m Module, name: &str, count: usize) -> (Function<'m>, Type<'m>) {
    let ty = module.void().function(&vec![module.int64(); count]);
    let function = module.function_or_declare(name, ty, |function| {
        function.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
        function.set_convention(LLVMCallConv::LLVMPreserveMostCallConv as u32);
        for attribute in ["cold", "nounwind", "willreturn", "nocallback"] {
            function.add_attribute(At::Function, module.attribute(attribute));
        }
    });
    (function, ty)
}

/// Makes the function that is inlined wherever a path is counted in a hash table, with the type
/// `void (slab, slab in assembly, number in the window, the window's length, its first word, key, function, first cache
/// word, first word of the bucket of zeros)`.
///
/// The count goes into the window if the path is there, else into the bucket that the cache leads to if that is the
/// path's; else the runtime is asked. With a metric there are two more parameters: how far behind its count the sum of
/// a path is in the windows, and what is added to it. The function suits functions like that of `caller`.
pub(in crate::lower::method) fn fast_path<'m>(caller: &Counters<'m>, metric: bool) -> (Function<'m>, Type<'m>) {
    let module = caller.module;
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let mut parameters = vec![slab, in_assembly];
    parameters.resize(if metric { 11 } else { 9 }, module.int64());
    let ty = module.void().function(&parameters);
    let name = FAST[usize::from(caller.interruptible)];
    (module.function_or_declare(name, ty, |function| define_fast_path(caller, function, metric)), ty)
}

fn define_fast_path<'m>(caller: &Counters<'m>, function: Function<'m>, metric: bool) {
    let module = caller.module;
    function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    for attribute in ["alwaysinline", "nounwind"] {
        function.add_attribute(At::Function, module.attribute(attribute));
    }
    let parameter = |index| function.parameter(index).expect("a parameter of its type");
    let [above, len, place, key, owner, first, zeros] = [2, 3, 4, 5, 6, 7, 8].map(parameter);
    let more = metric.then(|| [9, 10].map(parameter));
    let [entry, window, hashed, bump, ask, done] = [(); 6].map(|()| module.append_block(function));
    let counters = caller.in_block(entry, [0, 1].map(parameter));
    let (builder, one) = (&counters.builder, counters.int64.signed(1));
    let inside = builder.compare(LLVMIntPredicate::LLVMIntULT, above, len);
    module.set_branch_weights(builder.branch(inside, window, hashed), &USUALLY);

    builder.move_to_end(window);
    let word = builder.add(place, above);
    counters.add(word, one);
    if let Some([behind, amount]) = more {
        counters.add(builder.add(word, behind), amount);
    }
    builder.jump(done);

    builder.move_to_end(hashed);
    let cache = cache_word(&counters, first, key);
    let bucket = counters.load(cache, counters.int64);
    let field = |index: i64| builder.add(zeros, counters.int64.signed(index));
    let found = counters.load_behind(field(1), bucket);
    let same = builder.compare(LLVMIntPredicate::LLVMIntEQ, found, key);
    module.set_branch_weights(builder.branch(same, bump, ask), &USUALLY);

    builder.move_to_end(bump);
    counters.add_behind(field(2), bucket, one);
    if let Some([_, amount]) = more {
        counters.add_behind(field(3), bucket, amount);
    }
    builder.jump(done);

    builder.move_to_end(ask);
    ask_runtime(builder, [owner, key, cache], more.map(|[_, amount]| amount));
    builder.jump(done);

    builder.move_to_end(done);
    builder.return_nothing();
}
