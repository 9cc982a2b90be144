//! Event counts: where the counters are, and what serves queries.

use cotree_core::method::events::{QUERY_WORDS, UnitEventPlan};
use cotree_core::unit::Layout;
use cotree_rt::layout::{QueryWord, UnitDescriptor};
use std::mem::offset_of;

const _: () = assert!(QUERY_WORDS == QueryWord::COUNT);

pub(super) fn describe(unit: &UnitEventPlan, layout: &Layout, mut put: impl FnMut(usize, &[u8])) {
    let kinds = unit.kinds.iter().fold(0u64, |set, kind| set | 1 << kind.number());
    put(offset_of!(UnitDescriptor, event_kinds), &kinds.to_le_bytes());
    put(offset_of!(UnitDescriptor, event_words), &layout.main.first().copied().unwrap_or(0).to_le_bytes());
    put(offset_of!(UnitDescriptor, query_words), &layout.tables.queries().unwrap_or(0).to_le_bytes());
}
