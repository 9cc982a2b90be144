//! What is added up along paths (Ball & Larus 1996, §1): each activation notes the thread's total where a path begins, and
//! where one ends tells how far it has risen since.

use super::counters::Counters;
use crate::ffi::*;
use crate::module::Module;
use cotree_core::facts::Function;
use cotree_core::method::path::PathMetric;
use llvm_sys::LLVMThreadLocalMode;
use llvm_sys::prelude::*;

/// The runtime's running total of what the thread has reported.
const EVENTS: &std::ffi::CStr = c"cotree_event_total";
/// LLVM's name for the time stamp counter.
const CYCLES: &std::ffi::CStr = c"llvm.readcyclecounter";

/// The meter of one function's activations.
pub(super) struct Meter {
    metric: PathMetric,
    /// The total when the path began.
    began: LLVMValueRef,
    /// A call of the function may return twice. The note is in memory then, where the second return finds it: what was added
    /// before it is the next path's.
    volatile: bool,
}

impl Meter {
    /// Makes the note, and takes it for a new activation; `None` if nothing is added up.
    ///
    /// # Safety
    /// `first` must be the entry block's first instruction, and `entry` where its code begins.
    pub(super) unsafe fn new(
        module: &Module,
        counters: &Counters,
        metric: PathMetric,
        function: &Function,
        first: LLVMValueRef,
        entry: LLVMValueRef,
    ) -> Option<Self> {
        if !metric.is_summed() {
            return None;
        }
        let volatile = function.sites().any(|site| site.returns_twice);
        // SAFETY: as the caller promises.
        unsafe {
            counters.position_before(first);
            let began = LLVMBuildAlloca(counters.builder, counters.int64, c"".as_ptr());
            let meter = Self { metric, began, volatile };
            counters.position_before(entry);
            meter.note(counters, meter.now(module, counters));
            Some(meter)
        }
    }

    /// What has been added since the path began. The next one begins.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    pub(super) unsafe fn read(&self, module: &Module, counters: &Counters) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe {
            let now = self.now(module, counters);
            let amount = LLVMBuildSub(counters.builder, now, self.noted(counters), c"".as_ptr());
            self.note(counters, now);
            amount
        }
    }

    /// The same where the mask is all ones; where it is all zeros, nothing happens and nothing comes of it.
    ///
    /// # Safety
    /// The builder must be positioned in the function where the mask is available.
    pub(super) unsafe fn read_if(&self, module: &Module, counters: &Counters, mask: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe {
            let before = self.noted(counters);
            let risen = LLVMBuildSub(counters.builder, self.now(module, counters), before, c"".as_ptr());
            let amount = LLVMBuildAnd(counters.builder, risen, mask, c"".as_ptr());
            self.note(counters, LLVMBuildAdd(counters.builder, before, amount, c"".as_ptr()));
            amount
        }
    }

    /// # Safety
    /// The builder must be positioned in the function.
    unsafe fn noted(&self, counters: &Counters) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe {
            let load = LLVMBuildLoad2(counters.builder, counters.int64, self.began, c"".as_ptr());
            LLVMSetVolatile(load, self.volatile.into());
            load
        }
    }

    /// # Safety
    /// The builder must be positioned where the value is available.
    unsafe fn note(&self, counters: &Counters, now: LLVMValueRef) {
        // SAFETY: as the caller promises.
        unsafe {
            let store = LLVMBuildStore(counters.builder, now, self.began);
            LLVMSetVolatile(store, self.volatile.into());
        }
    }

    /// The thread's total.
    ///
    /// # Safety
    /// The builder must be positioned in the module.
    unsafe fn now(&self, module: &Module, counters: &Counters) -> LLVMValueRef {
        // SAFETY: as the caller promises; the intrinsic takes nothing and gives an `i64`.
        unsafe {
            if self.metric == PathMetric::Cycles {
                let ty = LLVMFunctionType(counters.int64, std::ptr::null_mut(), 0, 0);
                let mut clock = LLVMGetNamedFunction(module.raw, CYCLES.as_ptr());
                if clock.is_null() {
                    clock = LLVMAddFunction(module.raw, CYCLES.as_ptr(), ty);
                }
                return LLVMBuildCall2(counters.builder, ty, clock, std::ptr::null_mut(), 0, c"".as_ptr());
            }
            let mut total = LLVMGetNamedGlobal(module.raw, EVENTS.as_ptr());
            if total.is_null() {
                total = LLVMAddGlobal(module.raw, counters.int64, EVENTS.as_ptr());
                // The executable's stands before a shared library's own.
                LLVMSetThreadLocalMode(total, LLVMThreadLocalMode::LLVMInitialExecTLSModel);
                LLVMSetAlignment(total, 8);
            }
            // Signal handlers report, too: the optimiser must not take two readings for one.
            let now = LLVMBuildLoad2(counters.builder, counters.int64, total, c"".as_ptr());
            LLVMSetVolatile(now, 1);
            now
        }
    }
}
