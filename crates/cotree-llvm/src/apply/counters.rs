//! Increments: the counters' symbols, and the instructions that bump them.

use super::{Access, Unit};
use crate::extract::GS;
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind};
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMThreadLocalMode, LLVMVisibility};
use std::ptr;

/// The unit's counters, slab 0.
pub(crate) const COUNTERS: &str = "__cotree_counters";
/// The thread's slab pointer.
pub(crate) const SLAB: &str = "__cotree_slab";

/// Emits increments in one function.
pub(super) struct Counters {
    pub(super) context: LLVMContextRef,
    pub(super) builder: LLVMBuilderRef,
    pub(super) int64: LLVMTypeRef,
    /// The array, or the slab that the function loaded when it was entered.
    slab: LLVMValueRef,
    constant: bool,
    /// The same for assembly, and what it writes before the address.
    in_assembly: (LLVMValueRef, &'static str),
    /// A signal handler may bump the same counters at any moment: every increment must be one instruction.
    pub(super) interruptible: bool,
    /// So it shall be, or the code generator would not make it one by itself.
    whole: bool,
}

impl Drop for Counters {
    fn drop(&mut self) {
        // SAFETY: made in `new`, disposed of once.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl Counters {
    /// Prepares the function `code` with that number in the unit; `entry` is where its slab pointer is loaded, if it needs
    /// one.
    ///
    /// # Safety
    /// `code` must be a function of the module, `entry` the instruction at which it begins.
    pub(super) unsafe fn new(
        module: &Module,
        unit: &Unit<'_>,
        function: usize,
        code: LLVMValueRef,
        entry: LLVMValueRef,
    ) -> Self {
        let (access, interruptible) = (unit.access, unit.interruptible[function]);
        // SAFETY: types and globals of the module's own context.
        unsafe {
            let int64 = LLVMInt64TypeInContext(module.context);
            let builder = LLVMCreateBuilderInContext(module.context);
            let array = || global(module, COUNTERS, LLVMArrayType2(int64, 0));
            let (slab, constant) = match access {
                Access::Direct => (array(), true),
                Access::Segment => {
                    let pointer = LLVMPointerTypeInContext(module.context, GS);
                    (LLVMConstAddrSpaceCast(array(), pointer), true)
                }
                Access::ThreadInExecutable | Access::ThreadInLibrary => {
                    LLVMPositionBuilderBefore(builder, entry);
                    LLVMSetCurrentDebugLocation2(builder, ptr::null_mut());
                    let mode = if access == Access::ThreadInExecutable {
                        LLVMThreadLocalMode::LLVMLocalExecTLSModel
                    } else {
                        LLVMThreadLocalMode::LLVMInitialExecTLSModel
                    };
                    (load_slab(module, builder, mode, unit.resolving[function]), false)
                }
            };
            let in_assembly = if access == Access::Segment { (array(), "%gs:") } else { (slab, "") };
            let whole = interruptible || is_left_as_it_is(code);
            Self { context: module.context, builder, int64, slab, constant, in_assembly, interruptible, whole }
        }
    }

    /// The pointers that a function needs to emit increments on behalf of this one: see [`Self::in_function`].
    pub(super) fn pointers(&self) -> [LLVMValueRef; 2] {
        [self.slab, self.in_assembly.0]
    }

    /// Emits increments in another function of the module, which is given [`Self::pointers`].
    ///
    /// # Safety
    /// The pointers must be values of that function.
    pub(super) unsafe fn in_function(&self, [slab, in_assembly]: [LLVMValueRef; 2]) -> Self {
        // SAFETY: of the same context.
        let builder = unsafe { LLVMCreateBuilderInContext(self.context) };
        let in_assembly = (in_assembly, self.in_assembly.1);
        Self { builder, slab, constant: false, in_assembly, ..*self }
    }

    /// Emits increments of the slab that the TLS word leads to, which is loaded at `entry`, where the others go by segment: in a
    /// thread that was not given a slab such a counter is one of slab 0, where it tells of the thread, as [`announce`] does.
    ///
    /// # Safety
    /// `entry` must be the instruction at which the function begins.
    pub(super) unsafe fn of_thread_word(&self, module: &Module, entry: LLVMValueRef, resolving: bool) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            let builder = LLVMCreateBuilderInContext(self.context);
            LLVMPositionBuilderBefore(builder, entry);
            LLVMSetCurrentDebugLocation2(builder, ptr::null_mut());
            let slab = load_slab(module, builder, LLVMThreadLocalMode::LLVMLocalExecTLSModel, resolving);
            LLVMPositionBuilderBefore(builder, entry);
            Self { builder, slab, constant: false, in_assembly: (slab, ""), ..*self }
        }
    }

    /// # Safety
    /// `instruction` must be in the function.
    pub(super) unsafe fn position_before(&self, instruction: LLVMValueRef) {
        // SAFETY: as the caller promises. Probes have no source line.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, instruction);
            LLVMSetCurrentDebugLocation2(self.builder, ptr::null_mut());
        }
    }

    /// `counter += 1`.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    pub(super) unsafe fn increment(&self, counter: u64) {
        // SAFETY: as the caller promises.
        unsafe { self.add(LLVMConstInt(self.int64, counter, 0), LLVMConstInt(self.int64, 1, 0)) };
    }

    /// The same as one instruction, whatever the optimiser would make of it: it would gather amounts in registers, and
    /// counters that are neighbours in vectors.
    ///
    /// # Safety
    /// The builder must be positioned where the amount is available.
    pub(super) unsafe fn add_whole(&self, counter: u64, amount: LLVMValueRef) {
        // SAFETY: as the caller promises.
        unsafe {
            let index = LLVMConstInt(self.int64, counter, 0);
            self.add_at_once(self.address(self.in_assembly.0, index), amount);
        }
    }

    /// Whether the addresses of counters are constants, which [`Self::fixed`] gives.
    pub(super) fn are_fixed(&self) -> bool {
        self.constant
    }

    /// The address of the counter with this number, which need not be one of the unit's: something may be added to it.
    pub(super) fn fixed(&self, counter: i64) -> LLVMValueRef {
        // SAFETY: constants of the module's context. The address may leave the array, so nothing is promised.
        unsafe {
            let mut indices = [LLVMConstInt(self.int64, counter.cast_unsigned(), 1)];
            LLVMConstGEP2(self.int64, self.array(), indices.as_mut_ptr(), 1)
        }
    }

    /// What increments take addresses relative to, [`Self::fixed`] among them.
    fn array(&self) -> LLVMValueRef {
        if self.whole { self.in_assembly.0 } else { self.slab }
    }

    /// The type of [`Self::fixed`].
    pub(super) fn address_type(&self) -> LLVMTypeRef {
        // SAFETY: a value of the module.
        unsafe { LLVMTypeOf(self.array()) }
    }

    /// `counter += 1`, by an address that was computed from [`Self::fixed`].
    ///
    /// # Safety
    /// The builder must be positioned where the address is available; it is that of a counter.
    pub(super) unsafe fn increment_at(&self, at: LLVMValueRef) {
        // SAFETY: as the caller promises; the address is relative to what increments of this function take.
        unsafe { self.add_to(at, LLVMConstInt(self.int64, 1, 0)) };
    }

    /// `counters[index] += amount` for 64-bit values.
    ///
    /// # Safety
    /// The builder must be positioned where both values are available.
    pub(super) unsafe fn add(&self, index: LLVMValueRef, amount: LLVMValueRef) {
        // SAFETY: as the caller promises.
        unsafe { self.add_to(self.address(self.array(), index), amount) };
    }

    /// The word of the slab with this index, as a value of some type.
    ///
    /// # Safety
    /// The builder must be positioned where the index is available.
    pub(super) unsafe fn load(&self, index: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: as the caller promises; the word is within the slab.
        unsafe { LLVMBuildLoad2(self.builder, ty, self.address(self.slab, index), c"".as_ptr()) }
    }

    /// What is so many bytes behind the word with this index.
    ///
    /// # Safety
    /// The builder must be positioned where both are available.
    pub(super) unsafe fn load_behind(&self, index: LLVMValueRef, bytes: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe { LLVMBuildLoad2(self.builder, self.int64, self.behind(self.slab, index, bytes), c"".as_ptr()) }
    }

    /// Adds to what is so many bytes behind the word with this index.
    ///
    /// # Safety
    /// The builder must be positioned where all values are available.
    pub(super) unsafe fn add_behind(&self, index: LLVMValueRef, bytes: LLVMValueRef, amount: LLVMValueRef) {
        // SAFETY: as the caller promises.
        unsafe { self.add_to(self.behind(self.array(), index, bytes), amount) };
    }

    /// `*at += amount`, at an address relative to [`Self::array`].
    ///
    /// # Safety
    /// The builder must be positioned where both values are available.
    unsafe fn add_to(&self, at: LLVMValueRef, amount: LLVMValueRef) {
        // SAFETY: as the caller promises.
        unsafe {
            if self.whole {
                self.add_at_once(at, amount);
                return;
            }
            let old = LLVMBuildLoad2(self.builder, self.int64, at, c"".as_ptr());
            let new = LLVMBuildAdd(self.builder, old, amount, c"".as_ptr());
            let store = LLVMBuildStore(self.builder, new, at);
            // The optimiser keeps its hands off what others may read at any time: otherwise it would have counters in registers while
            // loops run, and whoever reads the counters of a process that was killed there would not be told.
            for access in [old, store] {
                LLVMSetOrdering(access, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
                LLVMSetAlignment(access, 8);
            }
        }
    }

    /// # Safety
    /// The builder must be positioned where both are available.
    unsafe fn behind(&self, slab: LLVMValueRef, index: LLVMValueRef, bytes: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: as the caller promises. It may be far from the slab, so nothing is promised.
        unsafe {
            let int8 = LLVMInt8TypeInContext(self.context);
            let mut indices = [bytes];
            let word = self.address(slab, index);
            LLVMBuildGEP2(self.builder, int8, word, indices.as_mut_ptr(), 1, c"".as_ptr())
        }
    }

    /// # Safety
    /// The builder must be positioned where the index is available.
    unsafe fn address(&self, slab: LLVMValueRef, index: LLVMValueRef) -> LLVMValueRef {
        let mut indices = [index];
        // SAFETY: as the caller promises; an index is within the slab.
        unsafe {
            if self.constant && !LLVMIsAConstantInt(index).is_null() {
                LLVMConstInBoundsGEP2(self.int64, slab, indices.as_mut_ptr(), 1)
            } else {
                LLVMBuildInBoundsGEP2(self.builder, self.int64, slab, indices.as_mut_ptr(), 1, c"".as_ptr())
            }
        }
    }

    /// `*at += amount` in one instruction. Assembly, since the code generator folds a load and a store into one only when
    /// it optimises.
    ///
    /// # Safety
    /// The builder must be positioned where both values are available.
    unsafe fn add_at_once(&self, at: LLVMValueRef, amount: LLVMValueRef) {
        let text = format!("addq $2, {}$0", self.in_assembly.1);
        let constraints = "=*m,*m,re,~{dirflag},~{fpsr},~{flags}";
        // SAFETY: as the caller promises; the memory operand is read and written, and its type is told.
        unsafe {
            let mut params = [LLVMTypeOf(at), LLVMTypeOf(at), self.int64];
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(self.context), params.as_mut_ptr(), 3, 0);
            let asm = LLVMGetInlineAsm(
                ty,
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                1,
                0,
                LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            );
            let mut operands = [at, at, amount];
            let call = LLVMBuildCall2(self.builder, ty, asm, operands.as_mut_ptr(), 3, c"".as_ptr());
            let element = LLVMCreateTypeAttribute(self.context, attribute_kind("elementtype"), self.int64);
            for operand in [1, 2] {
                LLVMAddCallSiteAttribute(call, operand, element);
            }
            LLVMAddCallSiteAttribute(
                call,
                FUNCTION_INDEX,
                LLVMCreateEnumAttribute(self.context, attribute_kind("nounwind"), 0),
            );
        }
    }

    /// `counter += (address that the indirect branch jumps to == target)`.
    ///
    /// # Safety
    /// The builder must stand before `branch`, an `indirectbr` of `function`; `target` must be one of its targets.
    pub(super) unsafe fn increment_if_branching_to(
        &self,
        counter: u64,
        branch: LLVMValueRef,
        function: LLVMValueRef,
        target: LLVMBasicBlockRef,
    ) {
        // SAFETY: operand 0 of an indirect branch is its address.
        unsafe {
            let address = LLVMGetOperand(branch, 0);
            let label = LLVMBlockAddress(function, target);
            let taken = LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntEQ, address, label, c"".as_ptr());
            let amount = LLVMBuildZExt(self.builder, taken, self.int64, c"".as_ptr());
            self.add(LLVMConstInt(self.int64, counter, 0), amount);
        }
    }
}

/// Whether a function is compiled without optimisation: at `-O0`, or by itself among others.
///
/// # Safety
/// `function` must be valid.
unsafe fn is_left_as_it_is(function: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe { !LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind("optnone")).is_null() }
}

/// At the beginning of a function that is called by who knows whom: writes to the spare counter of the slab that the TLS
/// word leads to. In a thread that was not given a slab that is slab 0, where it tells of the thread: the segment base,
/// inherited from the thread's creator, would let it count in the creator's slab unnoticed.
///
/// # Safety
/// `entry` must be an instruction of the module at which a function's code begins.
pub(super) unsafe fn announce(module: &Module, entry: LLVMValueRef, spare: u64, resolving: bool) {
    // SAFETY: as the caller promises; the spare counter is within the slab.
    unsafe {
        let builder = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderBefore(builder, entry);
        LLVMSetCurrentDebugLocation2(builder, ptr::null_mut());
        let slab = load_slab(module, builder, LLVMThreadLocalMode::LLVMLocalExecTLSModel, resolving);
        let mut indices = [LLVMConstInt(LLVMInt64TypeInContext(module.context), spare, 0)];
        let int64 = LLVMInt64TypeInContext(module.context);
        let at = LLVMBuildInBoundsGEP2(builder, int64, slab, indices.as_mut_ptr(), 1, c"".as_ptr());
        LLVMBuildStore(builder, LLVMConstInt(LLVMInt8TypeInContext(module.context), 1, 0), at);
        LLVMDisposeBuilder(builder);
    }
}

/// Loads the thread's slab pointer at the builder's position. In functions that may run before it has a value, null is slab
/// 0.
///
/// # Safety
/// The builder must be positioned in the module.
unsafe fn load_slab(
    module: &Module,
    builder: LLVMBuilderRef,
    mode: LLVMThreadLocalMode,
    resolving: bool,
) -> LLVMValueRef {
    // SAFETY: as the caller promises.
    unsafe {
        let pointer = LLVMPointerTypeInContext(module.context, 0);
        let word = global(module, SLAB, pointer);
        if LLVMIsThreadLocal(word) == 0 {
            LLVMSetThreadLocalMode(word, mode);
            // References tell the object that the symbol is thread-local, but may all be in functions that are dropped in
            // the end; what is left of it then would not link with the others.
            let kind = format!(".type {SLAB}, @tls_object");
            LLVMAppendModuleInlineAsm(module.raw, kind.as_ptr().cast(), kind.len());
        }
        let slab = LLVMBuildLoad2(builder, pointer, word, c"".as_ptr());
        // It changes only before a thread's first instrumented function runs, so the code generator may load it again
        // instead of keeping it in a register.
        let invariant = LLVMGetMDKindIDInContext(module.context, c"invariant.load".as_ptr(), 14);
        let empty = LLVMMDNodeInContext2(module.context, ptr::null_mut(), 0);
        LLVMSetMetadata(slab, invariant, LLVMMetadataAsValue(module.context, empty));
        if !resolving {
            return slab;
        }
        let array = global(module, COUNTERS, LLVMArrayType2(LLVMInt64TypeInContext(module.context), 0));
        let none = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, slab, LLVMConstNull(pointer), c"".as_ptr());
        LLVMBuildSelect(builder, none, array, slab, c"".as_ptr())
    }
}

/// The hidden external global of this name, declared when first asked for.
///
/// # Safety
/// `ty` must be of the module's context.
unsafe fn global(module: &Module, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
    let name = std::ffi::CString::new(name).expect("no NUL in our own names");
    // SAFETY: as the caller promises.
    unsafe {
        let known = LLVMGetNamedGlobal(module.raw, name.as_ptr());
        if !known.is_null() {
            return known;
        }
        let global = LLVMAddGlobal(module.raw, ty, name.as_ptr());
        LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
        LLVMSetAlignment(global, 8);
        global
    }
}
