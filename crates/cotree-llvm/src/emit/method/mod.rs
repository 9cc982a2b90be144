//! What the runtime is told of a method in the unit's descriptor.

mod events;
mod ipath;
mod path;

use cotree_core::method::MethodPlan;
use cotree_core::method::events::EventMethod;
use cotree_core::unit::Layout;
use cotree_rt::layout::UnitDescriptor;
use std::mem::offset_of;

/// How many totals of events each early exit adds up.
pub(super) fn totals_per_exit(plan: &MethodPlan) -> u64 {
    match plan {
        MethodPlan::Events(unit) if unit.method == EventMethod::Calls => unit.kinds.len() as u64,
        _ => 0,
    }
}

/// Fills in the fields of [`UnitDescriptor`] that belong to the method; `put` writes at an offset, and all is zero
/// before.
pub(super) fn describe(plan: &MethodPlan, layout: &Layout, mut put: impl FnMut(usize, &[u8])) {
    // Without paths it is the number of counters.
    put(offset_of!(UnitDescriptor, path_words), &layout.path_words.to_le_bytes());
    match plan {
        MethodPlan::None | MethodPlan::Counters(_) | MethodPlan::Calls(_) => {}
        MethodPlan::Events(unit) => events::describe(unit, layout, put),
        MethodPlan::Ipath(unit) => ipath::describe(unit, layout, put),
        MethodPlan::Paths(unit) => path::describe(unit, put),
        MethodPlan::Traces(_) => {
            let words = layout.tables.trace().expect("a trace has its words");
            put(offset_of!(UnitDescriptor, trace_word), &words.first.to_le_bytes());
        }
    }
}
