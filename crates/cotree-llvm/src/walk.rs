//! Walks over functions, blocks and instructions, in layout order.
//!
//! Each walk has looked up what follows before it gives an item, so that the item may be replaced or erased.

use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;

/// The module's functions, declarations too.
///
/// # Safety
/// Only the function given last may be removed from the module before the walk ends.
pub(crate) unsafe fn functions(module: &Module) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the module is valid; each item is in its list when the next is looked up, as the caller promises.
    unsafe { walk(LLVMGetFirstFunction(module.raw), |function| LLVMGetNextFunction(function)) }
}

/// A function's blocks; none of a declaration.
///
/// # Safety
/// `function` must be valid, and only the block given last may be removed from it before the walk ends.
pub(crate) unsafe fn blocks(function: LLVMValueRef) -> impl Iterator<Item = LLVMBasicBlockRef> {
    // SAFETY: as the caller promises, as above.
    unsafe { walk(LLVMGetFirstBasicBlock(function), |block| LLVMGetNextBasicBlock(block)) }
}

/// A block's instructions.
///
/// # Safety
/// `block` must be valid, and only the instruction given last may be removed from it before the walk ends.
pub(crate) unsafe fn instructions(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as the caller promises, as above.
    unsafe { walk(LLVMGetFirstInstruction(block), |instruction| LLVMGetNextInstruction(instruction)) }
}

/// A function's instructions, block by block.
///
/// # Safety
/// `function` must be valid, and only the instruction given last may be removed from it before the walk ends.
pub(crate) unsafe fn instructions_of(function: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: as the caller promises; the blocks stay.
    unsafe { blocks(function).flat_map(|block| instructions(block)) }
}

fn walk<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> impl Iterator<Item = *mut T> {
    let item = |pointer: *mut T| (!pointer.is_null()).then_some(pointer);
    std::iter::successors(item(first), move |&pointer| item(next(pointer)))
}
