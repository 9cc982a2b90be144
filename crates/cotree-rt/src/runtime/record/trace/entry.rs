//! `__cotree_trace_full`, which generated code calls when it has filled the window of its slab.

use super::window::Window;
use crate::arch::registers::Caller;
use crate::arch::stubs::trace_stub;
use crate::runtime::unit;

trace_stub!("__cotree_trace_full", "cotree_rt_trace_full_end", full);

unsafe extern "C" {
    fn __cotree_trace_full();
    static cotree_rt_trace_full_end: u8;
}

/// Whether the code address is in there: then the frame's caller was interrupted while it wrote to its trace.
pub fn contains(pc: u64) -> bool {
    (__cotree_trace_full as unsafe extern "C" fn() as usize as u64..&raw const cotree_rt_trace_full_end as u64)
        .contains(&pc)
}

/// `slab` is the one whose window is full; null: the one that the segment register leads to. The function that has
/// written to it is at the place ([`crate::layout::TracePlace`]).
unsafe extern "C" fn full(slab: *mut u64, place: u64, caller: &Caller) {
    let slab = if slab.is_null() { unit::segment() } else { slab };
    if let Some(window) = Window::of(slab) {
        window.is_full(Some((place, caller)));
    }
}
