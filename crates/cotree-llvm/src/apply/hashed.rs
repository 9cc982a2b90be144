//! Counting paths in hash tables.
//!
//! Some words of the slab hold buckets that were counted lately, by a hash of the path's key; if the bucket there is not
//! the path's, the runtime finds that. The key is the path's number plus 1, so that it is in no bucket of zeros: such a one is
//! at the end of each slab, and a word of the cache says how far behind that the bucket is. So no word has to be compared with 0.

use super::counters::Counters;
use super::paths::number;
use crate::branch_weights;
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, enum_attribute};
use crate::module::Module;
use cotree_core::method::path::PATH_CACHE;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMCallConv, LLVMIntPredicate, LLVMLinkage, LLVMVisibility};

/// The runtime's function that counts a path in a hash table.
const COUNT: &str = "__cotree_path";
/// The same, and adds to the path's sum.
const COUNT_METRIC: &str = "__cotree_path_metric";
/// What is inlined wherever a path is counted in a hash table; the second one for functions that signal handlers may run.
const FAST: [&str; 2] = ["__cotree_count_path", "__cotree_count_path_at_once"];

/// The word of the slab that leads to the path's bucket if that was the last one counted among those of the same hash: the
/// upper bits of a product with a number by Knuth (1973, §6.4). Half of the key is enough, and its factor fits an instruction as a signed number.
///
/// # Safety
/// The builder must be positioned where the path's key is available.
pub(super) unsafe fn cache_word(counters: &Counters, first: LLVMValueRef, key: LLVMValueRef) -> LLVMValueRef {
    const GOLDEN: u64 = 0x61C8_8647;
    // SAFETY: as the caller promises.
    unsafe {
        let int32 = LLVMInt32TypeInContext(counters.context);
        let constant = |value| LLVMConstInt(int32, value, 0);
        let low = LLVMBuildTrunc(counters.builder, key, int32, c"".as_ptr());
        let mixed = LLVMBuildMul(counters.builder, low, constant(GOLDEN), c"".as_ptr());
        let shift = constant(u64::from(32 - PATH_CACHE.ilog2()));
        let slot = LLVMBuildLShr(counters.builder, mixed, shift, c"".as_ptr());
        let slot = LLVMBuildZExt(counters.builder, slot, counters.int64, c"".as_ptr());
        LLVMBuildAdd(counters.builder, slot, first, c"".as_ptr())
    }
}

/// Calls `void __cotree_path(function, key, cache word)`, or `__cotree_path_metric` with an amount besides. They preserve nearly
/// all registers.
///
/// # Safety
/// The builder must be positioned where the values are available.
pub(super) unsafe fn ask_runtime(
    module: &Module,
    builder: LLVMBuilderRef,
    path: [LLVMValueRef; 3],
    amount: Option<LLVMValueRef>,
) {
    let mut arguments: Vec<LLVMValueRef> = path.into_iter().chain(amount).collect();
    let count = u32::try_from(arguments.len()).expect("few arguments");
    // SAFETY: as the caller promises; as many arguments as the function has.
    unsafe {
        let (slow, ty) = slow_path(module, if amount.is_some() { COUNT_METRIC } else { COUNT }, count);
        let call = LLVMBuildCall2(builder, ty, slow, arguments.as_mut_ptr(), count, c"".as_ptr());
        LLVMSetInstructionCallConv(call, LLVMCallConv::LLVMPreserveMostCallConv as u32);
    }
}

/// The runtime's function of so many numbers.
///
/// # Safety
/// The module must be valid.
unsafe fn slow_path(module: &Module, name: &str, count: u32) -> (LLVMValueRef, LLVMTypeRef) {
    let name = std::ffi::CString::new(name).expect("no NUL in our own names");
    // SAFETY: types and values of the module's context.
    unsafe {
        let int64 = LLVMInt64TypeInContext(module.context);
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(module.context), [int64; 4].as_mut_ptr(), count.min(4), 0);
        let mut function = LLVMGetNamedFunction(module.raw, name.as_ptr());
        if function.is_null() {
            function = LLVMAddFunction(module.raw, name.as_ptr(), ty);
            LLVMSetVisibility(function, LLVMVisibility::LLVMHiddenVisibility);
            LLVMSetFunctionCallConv(function, LLVMCallConv::LLVMPreserveMostCallConv as u32);
            for attribute in ["cold", "nounwind", "willreturn", "nocallback"] {
                LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, enum_attribute(module, attribute));
            }
        }
        (function, ty)
    }
}

/// `void (slab, slab in assembly, number in the window, the window's length, its first word, key, function, first cache
/// word, first word of the bucket of zeros)`, always inlined: counts in the window if the path is there; else in the bucket that the
/// cache leads to if that is the path's; else asks the runtime. With a metric two more: how far behind its count a path's sum is in the windows, and what is
/// added to it.
///
/// # Safety
/// The module must be valid, and `caller` made for one of its functions.
pub(super) unsafe fn fast_path(module: &Module, caller: &Counters, metric: bool) -> (LLVMValueRef, LLVMTypeRef) {
    let name = std::ffi::CString::new(FAST[usize::from(caller.interruptible)]).expect("no NUL in our own names");
    // SAFETY: a function built from nothing, with types and values of the module's context.
    unsafe {
        let context = module.context;
        let int64 = LLVMInt64TypeInContext(context);
        let [slab, in_assembly] = caller.pointers().map(|value| LLVMTypeOf(value));
        let mut params = [int64; 11];
        (params[0], params[1]) = (slab, in_assembly);
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), params.as_mut_ptr(), if metric { 11 } else { 9 }, 0);
        let known = LLVMGetNamedFunction(module.raw, name.as_ptr());
        if !known.is_null() {
            return (known, ty);
        }
        let function = LLVMAddFunction(module.raw, name.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        for attribute in ["alwaysinline", "nounwind"] {
            LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, enum_attribute(module, attribute));
        }
        let [above, len, place, key, owner, first, zeros] = [2, 3, 4, 5, 6, 7, 8].map(|i| LLVMGetParam(function, i));
        let more = metric.then(|| [9, 10].map(|i| LLVMGetParam(function, i)));
        let counters = caller.in_function([0, 1].map(|i| LLVMGetParam(function, i)));
        let builder = counters.builder;
        let append = || LLVMAppendBasicBlockInContext(context, function, c"".as_ptr());
        let [entry, window, hashed, bump, ask, done] = [(); 6].map(|()| append());
        LLVMPositionBuilderAtEnd(builder, entry);
        let inside = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntULT, above, len, c"".as_ptr());
        likely(module, LLVMBuildCondBr(builder, inside, window, hashed));
        LLVMPositionBuilderAtEnd(builder, window);
        let word = LLVMBuildAdd(builder, place, above, c"".as_ptr());
        counters.add(word, number(&counters, 1));
        if let Some([behind, amount]) = more {
            counters.add(LLVMBuildAdd(builder, word, behind, c"".as_ptr()), amount);
        }
        LLVMBuildBr(builder, done);
        LLVMPositionBuilderAtEnd(builder, hashed);
        let cache = cache_word(&counters, first, key);
        let bucket = counters.load(cache, int64);
        let field = |index: i64| LLVMBuildAdd(builder, zeros, number(&counters, index), c"".as_ptr());
        let found = counters.load_behind(field(1), bucket);
        let same = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, found, key, c"".as_ptr());
        likely(module, LLVMBuildCondBr(builder, same, bump, ask));
        LLVMPositionBuilderAtEnd(builder, bump);
        counters.add_behind(field(2), bucket, number(&counters, 1));
        if let Some([_, amount]) = more {
            counters.add_behind(field(3), bucket, amount);
        }
        LLVMBuildBr(builder, done);
        LLVMPositionBuilderAtEnd(builder, ask);
        ask_runtime(module, builder, [owner, key, cache], more.map(|[_, amount]| amount));
        LLVMBuildBr(builder, done);
        LLVMPositionBuilderAtEnd(builder, done);
        LLVMBuildRetVoid(builder);
        (function, ty)
    }
}

/// The branch usually goes the first way.
///
/// # Safety
/// `branch` must be a conditional branch of the module.
unsafe fn likely(module: &Module, branch: LLVMValueRef) {
    // SAFETY: as the caller promises.
    unsafe { branch_weights::set(module, branch, &[2000, 1]) }
}
