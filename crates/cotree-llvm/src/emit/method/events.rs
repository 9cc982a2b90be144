//! Event counts: where the counters are, and what serves queries.

use cotree_core::method::MethodTables;
use cotree_core::method::events::{EventMethod, EventWords, QUERY_WORDS, UnitEventPlan, hidden_words};
use cotree_core::slab::MOST_HANDLERS;
use cotree_core::unit::Layout;
use cotree_rt::layout::{HandlerWord, QueryWord, UnitDescriptor};
use std::mem::offset_of;

const _: () = assert!(QUERY_WORDS == QueryWord::COUNT && MOST_HANDLERS == HandlerWord::MOST && HandlerWord::FIRST == 1);

pub(super) fn describe(unit: &UnitEventPlan, layout: &Layout, mut put: impl FnMut(usize, &[u8])) {
    let kinds = unit.kinds.iter().fold(0u64, |set, kind| set | 1 << kind.number());
    put(offset_of!(UnitDescriptor, event_kinds), &kinds.to_le_bytes());
    put(offset_of!(UnitDescriptor, event_words), &layout.main.first().copied().unwrap_or(0).to_le_bytes());
    let sums = u64::from(unit.method == EventMethod::Calls);
    put(offset_of!(UnitDescriptor, call_sums), &sums.to_le_bytes());
    if let MethodTables::Events(EventWords { handlers: Some(first), .. }) = &layout.tables {
        put(offset_of!(UnitDescriptor, handler_words), &first.to_le_bytes());
    }
    if let Some((first, count)) = layout.tables.outermost() {
        let sums = layout.main.first().copied().unwrap_or(0) + unit.counters() as u64 - count * unit.kinds.len() as u64;
        put(offset_of!(UnitDescriptor, outermost_words), &first.to_le_bytes());
        put(offset_of!(UnitDescriptor, outermost_count), &count.to_le_bytes());
        put(offset_of!(UnitDescriptor, outermost_sums), &sums.to_le_bytes());
        put(offset_of!(UnitDescriptor, most_hidden), &((hidden_words(count) - 1) / 2).to_le_bytes());
    }
    if let MethodTables::Events(EventWords { bases: Some(first), .. }) = &layout.tables {
        put(offset_of!(UnitDescriptor, outermost_bases), &first.to_le_bytes());
    }
    put(offset_of!(UnitDescriptor, query_words), &layout.tables.queries().unwrap_or(0).to_le_bytes());
}
