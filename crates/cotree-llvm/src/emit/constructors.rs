//! Static constructors and destructors in `.init_array` and `.fini_array`.
//!
//! Through the C API LLVM's code generator can only be had with the older `.ctors` scheme, which mold does not know. So
//! the lists are laid out here, as every linker of today expects them.

use crate::ffi::*;
use crate::module::Module;
use llvm_sys::LLVMLinkage;
use llvm_sys::prelude::*;
use std::ffi::{CStr, CString};

/// The priority of constructors that ask for none.
const DEFAULT_PRIORITY: u64 = 65535;

/// Turns `llvm.global_ctors` and `llvm.global_dtors` into arrays of function pointers, in order. To be run last before
/// code generation: no pass knows these arrays.
pub(crate) fn lay_out(module: &Module) {
    for (list, section) in [(c"llvm.global_ctors", ".init_array"), (c"llvm.global_dtors", ".fini_array")] {
        // SAFETY: the list, where there is one, is an array of { i32, ptr, ptr }.
        unsafe { lay_out_list(module, list, section) };
    }
}

/// # Safety
/// `list` must name a list of structors or nothing.
unsafe fn lay_out_list(module: &Module, list: &CStr, section: &str) {
    // SAFETY: as the caller promises; all values are of the module.
    unsafe {
        let global = LLVMGetNamedGlobal(module.raw, list.as_ptr());
        if global.is_null() {
            return;
        }
        let array = LLVMGetInitializer(global);
        if !array.is_null() {
            let mut structors: Vec<(u64, LLVMValueRef, LLVMValueRef)> = (0..LLVMGetNumOperands(array))
                .filter_map(|i| {
                    let entry = LLVMGetOperand(array, i.cast_unsigned());
                    let function = LLVMGetOperand(entry, 1);
                    // A null entry ends nothing and does nothing.
                    (LLVMIsNull(function) == 0).then(|| {
                        (LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0)), function, LLVMGetOperand(entry, 2))
                    })
                })
                .collect();
            structors.sort_by_key(|s| s.0);
            for (priority, function, key) in structors {
                let name =
                    if priority == DEFAULT_PRIORITY { section.into() } else { format!("{section}.{priority:05}") };
                add(module, &name, function, key);
            }
        }
        LLVMDeleteGlobal(global);
    }
}

/// # Safety
/// `function` must be a constant pointer, `key` null or the global that the structor belongs to.
unsafe fn add(module: &Module, section: &str, function: LLVMValueRef, key: LLVMValueRef) {
    let section = CString::new(section).expect("no NUL in our own names");
    // SAFETY: as the caller promises.
    unsafe {
        let slot = LLVMAddGlobal(module.raw, LLVMTypeOf(function), c"".as_ptr());
        LLVMSetInitializer(slot, function);
        LLVMSetLinkage(slot, LLVMLinkage::LLVMPrivateLinkage);
        LLVMSetSection(slot, section.as_ptr());
        LLVMSetAlignment(slot, 8);
        // It goes when the linker drops what it initialises.
        if LLVMIsNull(key) == 0 && (!LLVMIsAFunction(key).is_null() || !LLVMIsAGlobalVariable(key).is_null()) {
            LLVMSetComdat(slot, LLVMGetComdat(key));
        }
    }
}
