//! Paths across functions: they are counted, and pass between functions in words that the runtime keeps for what signal
//! handlers interrupt.

use cotree_core::method::MethodTables;
use cotree_core::method::ipath::{ADDRESSEE, IpathTables, UnitIpathPlan};
use cotree_core::unit::Layout;
use cotree_rt::layout::UnitDescriptor;
use std::mem::offset_of;

pub(super) fn describe(unit: &UnitIpathPlan, layout: &Layout, mut put: impl FnMut(usize, &[u8])) {
    put(offset_of!(UnitDescriptor, counts_paths), &1u32.to_le_bytes());
    put(offset_of!(UnitDescriptor, path_metric), &unit.metric.number().to_le_bytes());
    if let MethodTables::Ipath(IpathTables { words, handlers, .. }) = &layout.tables {
        put(offset_of!(UnitDescriptor, addressee_word), &(words + u64::from(ADDRESSEE.0)).to_le_bytes());
        put(offset_of!(UnitDescriptor, handler_words), &handlers.to_le_bytes());
    }
}
