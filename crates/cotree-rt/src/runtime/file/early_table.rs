//! A table of early exits in a file, by link-time addresses with their tags.

use crate::layout::{EarlyEntry, early_slot};
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A slot of the table as the runtime uses it; [`EarlyEntry`] to readers.
#[repr(C)]
pub struct Slot {
    pub address: AtomicU64,
    pub count: AtomicI64,
}
const _: () = assert!(size_of::<Slot>() == size_of::<EarlyEntry>());

/// Counts an early exit in some table; false if it is full.
pub fn count_in(table: &[Slot], address: u64, delta: i64) -> bool {
    if table.is_empty() {
        return true;
    }
    let mut at = early_slot(address, table.len() as u64) as usize;
    for _ in 0..table.len() {
        let slot = &table[at];
        at = (at + 1) & (table.len() - 1);
        let mut found = slot.address.load(Relaxed);
        if found == 0 {
            found = slot.address.compare_exchange(0, address, Relaxed, Relaxed).map_or_else(|taken| taken, |_| address);
        }
        if found == address {
            slot.count.fetch_add(delta, Relaxed);
            return true;
        }
    }
    false
}
