//! Counting paths in hash tables.
//!
//! Some words of the slab hold buckets that were counted lately, by a hash of the path's number; if the bucket there is not
//! the path's, the runtime finds that.

use super::counters::Counters;
use super::paths::number;
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, enum_attribute};
use crate::module::Module;
use cotree_core::plan::PATH_CACHE;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMCallConv, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMLinkage, LLVMVisibility};

/// The runtime's function that counts a path in a hash table.
const COUNT: &str = "__cotree_path";
/// The same, and adds to the path's sum.
const COUNT_METRIC: &str = "__cotree_path_metric";
/// What is inlined wherever a path is counted in a hash table; the second one for functions that signal handlers may run.
const FAST: [&str; 2] = ["__cotree_count_path", "__cotree_count_path_at_once"];

/// The word of the slab that leads to the path's bucket if that was the last one counted among those of the same hash: the
/// upper bits of a product with a number by Knuth (1973, §6.4).
///
/// # Safety
/// The builder must be positioned where the path's number is available.
pub(super) unsafe fn cache_word(counters: &Counters, first: LLVMValueRef, path: LLVMValueRef) -> LLVMValueRef {
    const GOLDEN: i64 = 0x9E37_79B9_7F4A_7C15_u64.cast_signed();
    let shift = number(counters, i64::from(64 - PATH_CACHE.ilog2()));
    // SAFETY: as the caller promises.
    unsafe {
        let mixed = LLVMBuildMul(counters.builder, path, number(counters, GOLDEN), c"".as_ptr());
        let slot = LLVMBuildLShr(counters.builder, mixed, shift, c"".as_ptr());
        LLVMBuildAdd(counters.builder, slot, first, c"".as_ptr())
    }
}

/// Calls `void __cotree_path(function, path, cache word)`, or `__cotree_path_metric` with an amount besides. They preserve nearly
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

/// `void (slab, slab in assembly, number in the window, the window's length, its first word, path, function, first cache
/// word)`, always inlined: counts in the window if the path is there; else in the bucket that the cache leads to if that
/// is the path's; else asks the runtime. With a metric two more: how far behind its count a path's sum is in the windows, and what is
/// added to it.
///
/// # Safety
/// The module must be valid, and `caller` made for one of its functions.
pub(super) unsafe fn fast_path(
    module: &Module,
    caller: &Counters,
    interruptible: bool,
    metric: bool,
) -> (LLVMValueRef, LLVMTypeRef) {
    let name = std::ffi::CString::new(FAST[usize::from(interruptible)]).expect("no NUL in our own names");
    // SAFETY: a function built from nothing, with types and values of the module's context.
    unsafe {
        let context = module.context;
        let (int64, pointer) = (LLVMInt64TypeInContext(context), LLVMPointerTypeInContext(context, 0));
        let [slab, in_assembly] = caller.pointers().map(|value| LLVMTypeOf(value));
        let mut params = [slab, in_assembly, int64, int64, int64, int64, int64, int64, int64, int64];
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), params.as_mut_ptr(), if metric { 10 } else { 8 }, 0);
        let known = LLVMGetNamedFunction(module.raw, name.as_ptr());
        if !known.is_null() {
            return (known, ty);
        }
        let function = LLVMAddFunction(module.raw, name.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        for attribute in ["alwaysinline", "nounwind"] {
            LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, enum_attribute(module, attribute));
        }
        let [above, len, place, path, owner, first] = [2, 3, 4, 5, 6, 7].map(|i| LLVMGetParam(function, i));
        let more = metric.then(|| [8, 9].map(|i| LLVMGetParam(function, i)));
        let counters = caller.in_function([0, 1].map(|i| LLVMGetParam(function, i)));
        let builder = counters.builder;
        let append = || LLVMAppendBasicBlockInContext(context, function, c"".as_ptr());
        let (entry, window, hashed, look, bump, ask, done) =
            (append(), append(), append(), append(), append(), append(), append());
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
        let cache = cache_word(&counters, first, path);
        let bucket = counters.load(cache, pointer);
        let some = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntNE, bucket, LLVMConstNull(pointer), c"".as_ptr());
        likely(module, LLVMBuildCondBr(builder, some, look, ask));
        let field = |index: u64| {
            let mut indices = [LLVMConstInt(int64, index, 0)];
            LLVMBuildInBoundsGEP2(builder, int64, bucket, indices.as_mut_ptr(), 1, c"".as_ptr())
        };
        LLVMPositionBuilderAtEnd(builder, look);
        let found = LLVMBuildLoad2(builder, int64, field(1), c"".as_ptr());
        let same = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, found, path, c"".as_ptr());
        likely(module, LLVMBuildCondBr(builder, same, bump, ask));
        LLVMPositionBuilderAtEnd(builder, bump);
        let count = field(2);
        let add = |at, amount| {
            let old = LLVMBuildLoad2(builder, int64, at, c"".as_ptr());
            let new = LLVMBuildAdd(builder, old, amount, c"".as_ptr());
            LLVMBuildStore(builder, new, at);
        };
        if interruptible {
            add_at_once(module, builder, count, None);
        } else {
            add(count, LLVMConstInt(int64, 1, 0));
        }
        if let Some([_, amount]) = more {
            let sum = field(3);
            if interruptible {
                add_at_once(module, builder, sum, Some(amount));
            } else {
                add(sum, amount);
            }
        }
        LLVMBuildBr(builder, done);
        LLVMPositionBuilderAtEnd(builder, ask);
        ask_runtime(module, builder, [owner, path, cache], more.map(|[_, amount]| amount));
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
    let int32 = |value| {
        // SAFETY: a constant of the module's context.
        unsafe { LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(module.context), value, 0)) }
    };
    let (tag, kind) = ("branch_weights", "prof");
    // SAFETY: as the caller promises; metadata of the module's context.
    unsafe {
        let tag = LLVMMDStringInContext2(module.context, tag.as_ptr().cast(), tag.len());
        let mut operands = [tag, int32(2000), int32(1)];
        let node = LLVMMDNodeInContext2(module.context, operands.as_mut_ptr(), 3);
        let kind = LLVMGetMDKindIDInContext(module.context, kind.as_ptr().cast(), 4);
        LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(module.context, node));
    }
}

/// `*at += amount`, or 1 without one, in one instruction.
///
/// # Safety
/// The builder must be positioned in a function of the module where `at` and the amount are available.
unsafe fn add_at_once(module: &Module, builder: LLVMBuilderRef, at: LLVMValueRef, amount: Option<LLVMValueRef>) {
    let (text, constraints) = match amount {
        None => ("incq $0", "=*m,*m,~{dirflag},~{fpsr},~{flags}"),
        Some(_) => ("addq $2, $0", "=*m,*m,re,~{dirflag},~{fpsr},~{flags}"),
    };
    // SAFETY: as the caller promises; the memory operand is read and written, and its type is told.
    unsafe {
        let mut arguments: Vec<LLVMValueRef> = [at, at].into_iter().chain(amount).collect();
        let count = u32::try_from(arguments.len()).expect("few arguments");
        let mut params: Vec<LLVMTypeRef> = arguments.iter().map(|&value| LLVMTypeOf(value)).collect();
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(module.context), params.as_mut_ptr(), count, 0);
        let (text, text_len, constraints, constraints_len) =
            (text.as_ptr().cast(), text.len(), constraints.as_ptr().cast(), constraints.len());
        let dialect = LLVMInlineAsmDialect::LLVMInlineAsmDialectATT;
        let asm = LLVMGetInlineAsm(ty, text, text_len, constraints, constraints_len, 1, 0, dialect, 0);
        let call = LLVMBuildCall2(builder, ty, asm, arguments.as_mut_ptr(), count, c"".as_ptr());
        let int64 = LLVMInt64TypeInContext(module.context);
        let element = LLVMCreateTypeAttribute(module.context, attribute_kind("elementtype"), int64);
        for operand in [1, 2] {
            LLVMAddCallSiteAttribute(call, operand, element);
        }
        LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, enum_attribute(module, "nounwind"));
    }
}
