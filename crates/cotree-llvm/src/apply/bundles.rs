//! Path registers at calls: what the runtime must find when an activation ends early.
//!
//! A call carries the registers in an operand bundle, `"deopt"(i32 function, i32 site, i64 register)`; with
//! [`IS_ADDRESS`] in the function's number, `"deopt"(i32 function, i32 site, i64 first word, i64 address)`. It costs nothing but
//! that the value has to live through the call: the code generator writes down where (`.llvm_stackmaps`). The inliner
//! puts the caller's values before those of the callee's calls, if these have a bundle at all: so every call gets one,
//! where there is no register to note `"deopt"(i32 function, i32 site)` with [`HAS_NONE`] in the function's number. Bundles
//! without any register in the end are taken away again ([`drop_empty`]): a call with a bundle is no tail call. Where one is left,
//! it tells the whole chain of calls, which LLVM's own note is silent of if nothing but the call is in its block.

use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, value_name};
use crate::module::Module;
use crate::walk;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::ffi::CString;
use std::ptr;

const DEOPT: &str = "deopt";

/// Set in the function's number if the array's first word precedes the register: that holds an address.
pub(crate) const IS_ADDRESS: u32 = 1 << 30;
/// Set in the function's number if no register follows.
pub(crate) const HAS_NONE: u32 = 1 << 29;
/// The function's number where function and site are not said.
pub(crate) const NOT_SAID: u32 = HAS_NONE - 1;

/// What a bundle begins with.
///
/// # Safety
/// The module must be valid.
pub(super) unsafe fn link(module: &Module, function: u32, site: usize) -> [LLVMValueRef; 2] {
    // SAFETY: constants of the module's context.
    unsafe {
        let int32 = LLVMInt32TypeInContext(module.context);
        [LLVMConstInt(int32, u64::from(function), 0), LLVMConstInt(int32, site as u64, 0)]
    }
}

/// Whether calls of the function may carry a bundle: there is no code for one that calls through a thunk.
///
/// # Safety
/// `function` must be a definition.
pub(super) unsafe fn can_carry(function: LLVMValueRef) -> bool {
    let key = "target-features";
    let len = u32::try_from(key.len()).expect("a short name");
    // SAFETY: as the caller promises; the value's text is as long as LLVM says.
    unsafe {
        let features = LLVMGetStringAttributeAtIndex(function, FUNCTION_INDEX, key.as_ptr().cast(), len);
        if features.is_null() {
            return true;
        }
        let mut len = 0;
        let text = LLVMGetStringAttributeValue(features, &raw mut len);
        let text = std::slice::from_raw_parts(text.cast::<u8>(), len as usize);
        let text = String::from_utf8_lossy(text);
        !text.split(',').any(|f| f.starts_with("+retpoline") || f.starts_with("+lvi-cfi"))
    }
}

/// Whether the instruction is a call in which an activation may end, other than those with a meaning of their own.
///
/// # Safety
/// `instruction` must be valid.
unsafe fn is_plain_call(instruction: LLVMValueRef) -> bool {
    // SAFETY: look-ups on a call.
    unsafe {
        if !matches!(LLVMGetInstructionOpcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
            return false;
        }
        let called = LLVMGetCalledValue(instruction);
        let musttail = LLVMGetInstructionOpcode(instruction) == LLVMOpcode::LLVMCall
            && LLVMGetTailCallKind(instruction) == LLVMTailCallKind::LLVMTailCallKindMustTail;
        let intrinsic = !LLVMIsAFunction(called).is_null() && LLVMGetIntrinsicID(called) != 0;
        !musttail && !intrinsic && LLVMIsAInlineAsm(called).is_null() && LLVMGetNumOperandBundles(instruction) == 0
    }
}

/// Gives all calls of a function without probes a bundle that says nothing: it may be inlined.
///
/// # Safety
/// `function` must be a definition of the module.
pub(super) unsafe fn add_unknown(module: &Module, function: LLVMValueRef) {
    // SAFETY: as the caller promises.
    unsafe {
        for call in calls(function) {
            carry(module, call, &mut link(module, NOT_SAID | HAS_NONE, 0));
        }
    }
}

/// # Safety
/// `function` must be valid.
unsafe fn calls(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: walking a valid function.
    unsafe { walk::instructions_of(function).filter(|&instruction| is_plain_call(instruction)).collect() }
}

/// Gives the call a bundle with these values, unless it can't carry one. The call is replaced.
///
/// # Safety
/// `call` must be a call or an invoke, and the values available there.
pub(super) unsafe fn carry(module: &Module, call: LLVMValueRef, values: &mut [LLVMValueRef]) {
    // SAFETY: as the caller promises; the bundle is disposed of once.
    unsafe {
        if !is_plain_call(call) {
            return;
        }
        let count = u32::try_from(values.len()).expect("few values");
        let bundle = LLVMCreateOperandBundle(DEOPT.as_ptr().cast(), DEOPT.len(), values.as_mut_ptr(), count);
        rebuild(module, call, &mut [bundle]);
        LLVMDisposeOperandBundle(bundle);
    }
}

/// Takes bundles away that have nothing to say; gives whether any is left in the function.
///
/// # Safety
/// `function` must be a definition of the module.
pub(crate) unsafe fn drop_empty(module: &Module, function: LLVMValueRef) -> bool {
    let mut left = false;
    // SAFETY: walking a valid function; only the instruction given last is replaced.
    unsafe {
        for instruction in walk::instructions_of(function) {
            match has_register(instruction) {
                None => {}
                Some(false) => rebuild(module, instruction, &mut []),
                Some(true) => left = true,
            }
        }
    }
    left
}

/// Has all that calls of the function carry stored before each of them, so that the bundles hold but addresses of the function's
/// frame: no register is taken by them.
///
/// # Safety
/// `function` must be a definition of the module.
pub(crate) unsafe fn carry_on_stack(module: &Module, function: LLVMValueRef) {
    let mut slots = Vec::new();
    // SAFETY: as the caller promises; the bundles are disposed of once.
    unsafe {
        for call in calls_with_registers(function) {
            let old = LLVMGetOperandBundleAtIndex(call, 0);
            let count = LLVMGetNumOperandBundleArgs(old);
            let mut values: Vec<LLVMValueRef> = (0..count).map(|at| LLVMGetOperandBundleArgAtIndex(old, at)).collect();
            LLVMDisposeOperandBundle(old);
            let moved = values.iter_mut().filter(|value| LLVMIsAConstantInt(**value).is_null());
            for (number, value) in moved.enumerate() {
                if slots.len() == number {
                    slots.push(slot(module, function));
                }
                store(module, *value, slots[number], call);
                *value = slots[number];
            }
            let bundle = LLVMCreateOperandBundle(DEOPT.as_ptr().cast(), DEOPT.len(), values.as_mut_ptr(), count);
            rebuild(module, call, &mut [bundle]);
            LLVMDisposeOperandBundle(bundle);
        }
    }
}

/// # Safety
/// `function` must be a definition.
unsafe fn calls_with_registers(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: walking a valid function.
    unsafe { walk::instructions_of(function).filter(|&i| has_register(i) == Some(true)).collect() }
}

/// A word of the function's frame.
///
/// # Safety
/// `function` must be a definition of the module.
unsafe fn slot(module: &Module, function: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: as the caller promises; a definition has a block, and that an instruction.
    unsafe {
        let builder = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
        let slot = LLVMBuildAlloca(builder, LLVMInt64TypeInContext(module.context), c"".as_ptr());
        LLVMDisposeBuilder(builder);
        slot
    }
}

/// # Safety
/// The value must be a word available at the call.
unsafe fn store(module: &Module, value: LLVMValueRef, slot: LLVMValueRef, call: LLVMValueRef) {
    // SAFETY: as the caller promises.
    unsafe {
        let builder = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderBefore(builder, call);
        // Nobody that the code generator knows reads it.
        LLVMSetVolatile(LLVMBuildStore(builder, value, slot), 1);
        LLVMDisposeBuilder(builder);
    }
}

/// Whether the only bundle of a call notes any register, if that is ours.
///
/// # Safety
/// `instruction` must be valid.
unsafe fn has_register(instruction: LLVMValueRef) -> Option<bool> {
    // SAFETY: look-ups on a call; the bundle is disposed of once.
    unsafe {
        let opcode = LLVMGetInstructionOpcode(instruction);
        if !matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
            || LLVMGetNumOperandBundles(instruction) != 1
        {
            return None;
        }
        let bundle = LLVMGetOperandBundleAtIndex(instruction, 0);
        let mut len = 0;
        let tag = LLVMGetOperandBundleTag(bundle, &raw mut len);
        let ours = std::slice::from_raw_parts(tag.cast::<u8>(), len) == DEOPT.as_bytes();
        // Up to the first register each link is two constants.
        let mut links = (0..LLVMGetNumOperandBundleArgs(bundle)).step_by(2);
        let any = links.any(|at| {
            let function = LLVMConstIntGetZExtValue(LLVMGetOperandBundleArgAtIndex(bundle, at));
            function & u64::from(HAS_NONE) == 0
        });
        LLVMDisposeOperandBundle(bundle);
        ours.then_some(any)
    }
}

/// The same call with these bundles: the C API can't change them.
///
/// # Safety
/// `call` must be a call or an invoke of the module.
unsafe fn rebuild(module: &Module, call: LLVMValueRef, bundles: &mut [LLVMOperandBundleRef]) {
    // SAFETY: as the caller promises; the old call is erased when nothing refers to it any more.
    unsafe {
        let builder = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderBefore(builder, call);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
        let (ty, called) = (LLVMGetCalledFunctionType(call), LLVMGetCalledValue(call));
        let count = LLVMGetNumArgOperands(call);
        let mut arguments: Vec<LLVMValueRef> = (0..count).map(|i| LLVMGetOperand(call, i)).collect();
        let name = CString::new(value_name(call)).unwrap_or_default();
        LLVMSetValueName2(call, c"".as_ptr(), 0);
        let (many, bundle_count) = (bundles.as_mut_ptr(), u32::try_from(bundles.len()).expect("few bundles"));
        let new = if LLVMGetInstructionOpcode(call) == LLVMOpcode::LLVMInvoke {
            let (normal, unwind) = (LLVMGetNormalDest(call), LLVMGetUnwindDest(call));
            let arguments = arguments.as_mut_ptr();
            LLVMBuildInvokeWithOperandBundles(
                builder,
                ty,
                called,
                arguments,
                count,
                normal,
                unwind,
                many,
                bundle_count,
                name.as_ptr(),
            )
        } else {
            let arguments = arguments.as_mut_ptr();
            let new = LLVMBuildCallWithOperandBundles(
                builder,
                ty,
                called,
                arguments,
                count,
                many,
                bundle_count,
                name.as_ptr(),
            );
            LLVMSetTailCallKind(new, LLVMGetTailCallKind(call));
            new
        };
        LLVMDisposeBuilder(builder);
        LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(call));
        for index in (0..=count).chain([FUNCTION_INDEX]) {
            let mut attributes = vec![ptr::null_mut(); LLVMGetCallSiteAttributeCount(call, index) as usize];
            LLVMGetCallSiteAttributes(call, index, attributes.as_mut_ptr());
            for attribute in attributes {
                LLVMAddCallSiteAttribute(new, index, attribute);
            }
        }
        if LLVMCanValueUseFastMathFlags(call) != 0 {
            LLVMSetFastMathFlags(new, LLVMGetFastMathFlags(call));
        }
        let mut count = 0;
        let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(call, &raw mut count);
        for index in 0..u32::try_from(count).expect("few kinds") {
            let metadata = LLVMValueMetadataEntriesGetMetadata(entries, index);
            let kind = LLVMValueMetadataEntriesGetKind(entries, index);
            LLVMSetMetadata(new, kind, LLVMMetadataAsValue(module.context, metadata));
        }
        LLVMDisposeValueMetadataEntries(entries);
        LLVMReplaceAllUsesWith(call, new);
        LLVMInstructionEraseFromParent(call);
    }
}
