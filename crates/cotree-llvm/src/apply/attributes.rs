//! Promises that instrumented functions no longer keep.
//!
//! A function that counts writes memory. The front end may have promised that it does not (`memory(none)`,
//! `speculatable`), and calls to it would be removed, merged or moved: counts would be lost silently.

use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, value_name};
use crate::module::Module;
use crate::walk;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::collections::HashSet;

const PROMISES: [&str; 4] = ["memory", "speculatable", "allockind", "nosync"];
/// What speaks of `allockind` and is not valid without it.
const ALLOCATION: [&str; 2] = ["alloc-family", "alloc-variant-zeroed"];

/// Takes the promises back: on every function of the link unit (`defined` holds the names of those that other modules
/// define), and on every call that may reach one.
pub(crate) fn strip(module: &Module, defined: &HashSet<&str>) {
    let kinds = PROMISES.map(attribute_kind);
    // SAFETY: walking functions and instructions of a valid module; removing attributes changes no list.
    unsafe {
        for function in walk::functions(module) {
            let ours = LLVMIsDeclaration(function) == 0 || defined.contains(value_name(function).as_str());
            if ours && LLVMGetIntrinsicID(function) == 0 {
                for kind in kinds {
                    LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, kind);
                }
                for name in ALLOCATION {
                    let len = u32::try_from(name.len()).expect("short names");
                    LLVMRemoveStringAttributeAtIndex(function, FUNCTION_INDEX, name.as_ptr().cast(), len);
                }
            }
            for block in walk::blocks(function) {
                strip_calls(block, &kinds, defined);
            }
        }
    }
}

/// # Safety
/// `block` must be valid.
unsafe fn strip_calls(block: LLVMBasicBlockRef, kinds: &[u32], defined: &HashSet<&str>) {
    // SAFETY: as the caller promises.
    unsafe {
        for instruction in walk::instructions(block) {
            if matches!(LLVMGetInstructionOpcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
                let called = LLVMGetCalledValue(instruction);
                let foreign = !LLVMIsAInlineAsm(called).is_null()
                    || (!LLVMIsAFunction(called).is_null()
                        && LLVMIsDeclaration(called) != 0
                        && !defined.contains(value_name(called).as_str()));
                if !foreign {
                    for &kind in kinds {
                        LLVMRemoveCallSiteEnumAttribute(instruction, FUNCTION_INDEX, kind);
                    }
                }
            }
        }
    }
}
