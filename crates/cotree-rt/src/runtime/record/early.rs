//! The table of early exits (Ball & Larus 1994, §3.2): activations that left without returning, by the call they were
//! in. Lock-free, because signal handlers and threads that die at the same time feed it.

use crate::layout::{EarlyEntry, Flags, early_slot};
use crate::runtime::file::profile;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// A slot of the table as the runtime uses it; [`EarlyEntry`] to readers.
#[repr(C)]
pub struct Slot {
    address: AtomicU64,
    count: AtomicI64,
}
const _: () = assert!(size_of::<Slot>() == size_of::<EarlyEntry>());

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static CAPACITY: AtomicU64 = AtomicU64::new(0);

/// From now on the table is that memory.
///
/// # Safety
/// `capacity` (a power of two) zeroed or valid slots that stay mapped.
pub unsafe fn set_table(table: *mut Slot, capacity: u64) {
    CAPACITY.store(capacity, Relaxed);
    TABLE.store(table, Relaxed);
}

/// The table in use.
pub fn table() -> &'static [Slot] {
    let table = TABLE.load(Relaxed);
    if table.is_null() {
        return &[];
    }
    // SAFETY: set_table's promise.
    unsafe { core::slice::from_raw_parts(table, CAPACITY.load(Relaxed) as usize) }
}

/// Counts activations at the link-time address (with its tag).
#[inline]
pub fn count(address: u64, delta: i64) {
    count_at(table(), address, delta);
}

/// The same, in the table in use.
#[inline]
pub fn count_at(table: &[Slot], address: u64, delta: i64) {
    if table.is_empty() {
        return;
    }
    let first = table.get(early_slot(address, table.len() as u64) as usize);
    match first.filter(|slot| slot.address.load(Relaxed) == address) {
        Some(slot) => _ = slot.count.fetch_add(delta, Relaxed),
        None => count_somewhere(table, address, delta),
    }
}

/// The same where the first place is another's, or nobody's yet.
#[cold]
#[inline(never)]
fn count_somewhere(table: &[Slot], address: u64, delta: i64) {
    if !count_in(table, address, delta) {
        profile::flag(Flags::EARLY_TABLE_FULL);
    }
}

/// The same in some table; false if it is full.
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

/// Forgets all counts.
pub fn clear() {
    for slot in table() {
        slot.count.store(0, Relaxed);
    }
}
