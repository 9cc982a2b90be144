//! Emits the code that adds up a metric along paths (Ball & Larus 1996, §1). Each activation notes the thread's total
//! where a path begins; where the path ends, the total's rise since then is added to the path's sum.

use crate::ir::{Instruction, Value};
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use cotree_core::method::path::PathMetric;
use llvm_sys::LLVMThreadLocalMode;

/// The runtime's running total of what the thread has reported.
const EVENTS: &str = "__cotree_event_total";
/// LLVM's name for the time stamp counter.
const CYCLES: &str = "llvm.readcyclecounter";

/// The meter of one function's activations.
pub(super) struct Meter<'m> {
    metric: PathMetric,
    /// The total when the path began.
    began: Value<'m>,
    /// A call of the function may return twice. The note is in memory then, where the second return finds it: what was
    /// added before it is the next path's.
    volatile: bool,
}

impl<'m> Meter<'m> {
    /// Makes the note, and takes it for a new activation; `None` if nothing is added up. `first` is the entry block's
    /// first instruction, `entry` where its code begins.
    pub(super) fn new(code: &Code<'_, 'm>, metric: PathMetric, [first, entry]: [Instruction<'m>; 2]) -> Option<Self> {
        if !metric.is_summed() {
            return None;
        }
        let counters = &code.counters;
        let volatile = code.facts.sites().any(|site| site.returns_twice);
        counters.builder.move_before(first);
        let meter = Self { metric, began: counters.builder.variable(counters.int64), volatile };
        counters.builder.move_before(entry);
        meter.note(counters, meter.now(counters));
        Some(meter)
    }

    /// What has been added since the path began. The next one begins.
    pub(super) fn read(&self, counters: &Counters<'m>) -> Value<'m> {
        let now = self.now(counters);
        let amount = counters.builder.sub(now, self.noted(counters));
        self.note(counters, now);
        amount
    }

    /// Reads the rise where the mask is all ones; where it is all zeros, nothing happens and nothing comes of it.
    pub(super) fn read_if(&self, counters: &Counters<'m>, mask: Value<'m>) -> Value<'m> {
        let before = self.noted(counters);
        let risen = counters.builder.sub(self.now(counters), before);
        let amount = counters.builder.and(risen, mask);
        self.note(counters, counters.builder.add(before, amount));
        amount
    }

    fn noted(&self, counters: &Counters<'m>) -> Value<'m> {
        let load = counters.builder.load(counters.int64, self.began);
        load.set_volatile(self.volatile);
        load.into()
    }

    fn note(&self, counters: &Counters<'m>, now: Value<'m>) {
        counters.builder.store(now, self.began).set_volatile(self.volatile);
    }

    fn now(&self, counters: &Counters<'m>) -> Value<'m> {
        total(counters, self.metric)
    }
}

/// The thread's total of a metric.
pub(in crate::lower::method) fn total<'m>(counters: &Counters<'m>, metric: PathMetric) -> Value<'m> {
    let (module, int64) = (counters.module, counters.int64);
    if metric == PathMetric::Cycles {
        let ty = int64.function(&[]);
        let clock = module.function_or_declare(CYCLES, ty, |_| {});
        return counters.builder.call(ty, clock, &[]).into();
    }
    let total = module.variable_or_declare(EVENTS, int64, |total| {
        // The executable's stands before a shared library's own.
        total.set_thread_local(LLVMThreadLocalMode::LLVMInitialExecTLSModel);
        total.set_alignment(8);
    });
    // Signal handlers report, too: the optimiser must not take two readings for one.
    let now = counters.builder.load(int64, total);
    now.set_volatile(true);
    now.into()
}
