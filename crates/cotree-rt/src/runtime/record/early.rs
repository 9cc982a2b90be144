//! The table of early exits (Ball & Larus 1994, §3.2): activations that ended without returning, by the call they were
//! in. It is lock-free, because signal handlers and threads that die at the same time write to it.

use super::{Activation, Child, Recorder};
use crate::layout::{Flags, INTERRUPTED, PAGE, early_slot};
use crate::runtime::file::current;
use crate::runtime::file::early_table::{Slot, count_in};
use crate::runtime::slabs::copy::ProfileCopy;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

static TABLE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static CAPACITY: AtomicU64 = AtomicU64::new(0);

/// The recorder.
pub struct EarlyExits;

impl Recorder for EarlyExits {
    type Destination = &'static [Slot];

    #[inline(always)]
    fn walk_begins() -> Option<Self::Destination> {
        Some(table()).filter(|table| !table.is_empty())
    }

    #[inline(always)]
    fn frame(table: Self::Destination, frame: &Activation) {
        count_at(table, frame.address | frame.tag, frame.delta);
        if frame.tag == INTERRUPTED {
            current::flag(Flags::INTERRUPTED_FRAME);
        }
    }

    fn begin(front: *mut u8) {
        // SAFETY: the header page is followed by zeroed slots of that number, which stay mapped.
        unsafe { set_table(front.add(PAGE as usize).cast(), current::early_capacity()) };
    }

    /// The table is the parent's file. If the child can't create one, nothing of the child's may go there.
    fn forked(_child: &Child) {
        Self::close();
    }

    fn close() {
        // SAFETY: an empty table.
        unsafe { set_table(core::ptr::null_mut(), 0) };
    }

    fn clear() {
        for slot in table() {
            slot.count.store(0, Relaxed);
        }
    }

    fn frame_in_copy(copy: &mut ProfileCopy, frame: &Activation) {
        if !count_in(copy.early_exits(), frame.address | frame.tag, frame.delta) {
            copy.flag(Flags::EARLY_TABLE_FULL);
        }
    }
}

/// From now on the table is that memory.
///
/// # Safety
/// `capacity` (a power of two) zeroed or valid slots that stay mapped.
unsafe fn set_table(table: *mut Slot, capacity: u64) {
    CAPACITY.store(capacity, Relaxed);
    TABLE.store(table, Relaxed);
}

/// The table in use.
fn table() -> &'static [Slot] {
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

/// Counts an early exit in the table in use.
#[inline(always)]
fn count_at(table: &[Slot], address: u64, delta: i64) {
    if table.is_empty() {
        return;
    }
    let first = table.get(early_slot(address, table.len() as u64) as usize);
    match first.filter(|slot| slot.address.load(Relaxed) == address) {
        Some(slot) => _ = slot.count.fetch_add(delta, Relaxed),
        None => count_somewhere(table, address, delta),
    }
}

/// Counts an early exit where the first place is another's, or nobody's yet.
#[cold]
#[inline(never)]
fn count_somewhere(table: &[Slot], address: u64, delta: i64) {
    if !count_in(table, address, delta) {
        current::flag(Flags::EARLY_TABLE_FULL);
    }
}
