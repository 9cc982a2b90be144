//! The current profile: whether there is one, which process owns it, and the fields of its header that change while
//! the program runs.

use crate::layout::{Flags, PAGE, RawHeader};
use crate::runtime::unit;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Null: no profile is being made.
static HEADER: AtomicPtr<RawHeader> = AtomicPtr::new(core::ptr::null_mut());
static MAPPED: AtomicBool = AtomicBool::new(false);
/// Is the profile never written? See [`is_written`].
static UNWRITTEN: AtomicBool = AtomicBool::new(false);
/// Flags that every profile begins with.
static STANDING: AtomicU64 = AtomicU64::new(0);
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// A profile is made for this process from now on, if one can be.
pub fn set_process(process: i32) {
    PROCESS.store(process, Relaxed);
}

/// Whether its counters are in a file.
pub fn set_mapped(mapped: bool) {
    MAPPED.store(mapped, Relaxed);
}

/// The profile is the one with this header, or there is none if that is null.
pub fn set_header(header: *mut RawHeader) {
    HEADER.store(header, Relaxed);
}

/// Whether a profile is being made.
pub fn active() -> bool {
    !HEADER.load(Relaxed).is_null()
}

/// The profiles of this process and its children are never written.
pub fn set_unwritten() {
    UNWRITTEN.store(true, Relaxed);
}

/// Whether a file will be left. Without one, counts answer the program's own questions about its events, and nothing
/// else.
pub fn is_written() -> bool {
    !UNWRITTEN.load(Relaxed)
}

/// Whether the counters are in a file.
pub fn mapped() -> bool {
    MAPPED.load(Relaxed)
}

/// The process whose profile this is; another one may run on our memory after `vfork`.
pub fn process() -> i32 {
    PROCESS.load(Relaxed)
}

/// Slots of the table of early exits: what the unit suggests, but room for code that is not profiled.
pub fn early_capacity() -> u64 {
    unit::descriptor().early_capacity.next_power_of_two().max(512)
}

/// File offset of slab 0.
pub fn slabs_offset() -> u64 {
    (PAGE + early_capacity() * 16).next_multiple_of(PAGE)
}

/// The header, if a profile is being made.
pub fn header() -> Option<*mut RawHeader> {
    let header = HEADER.load(Relaxed);
    (!header.is_null()).then_some(header)
}

/// A 64-bit field of the header as an atomic.
macro_rules! word {
    ($header:expr, $field:ident) => {
        // SAFETY: the header stays mapped; the field is an aligned u64, or a newtype of one.
        unsafe { AtomicU64::from_ptr((&raw mut (*$header).$field).cast()) }
    };
}

/// Records what recovery must know.
pub fn flag(flags: Flags) {
    if let Some(header) = header() {
        word!(header, flags).fetch_or(flags.bits(), Relaxed);
    }
}

/// Records what holds for the profiles of forked children too.
#[cfg(not(all(feature = "static-executable", feature = "counters-alone")))]
pub fn flag_always(flags: Flags) {
    STANDING.fetch_or(flags.bits(), Relaxed);
    flag(flags);
}

/// The flags that every profile begins with.
pub fn standing_flags() -> Flags {
    Flags::from_bits(STANDING.load(Relaxed))
}

/// All flags, to go back to with [`set_flags`].
pub fn flags() -> Flags {
    Flags::from_bits(header().map_or(0, |header| word!(header, flags).load(Relaxed)))
}

/// Replaces the flags.
pub fn set_flags(flags: Flags) {
    if let Some(header) = header() {
        word!(header, flags).store(flags.bits(), Relaxed);
    }
}

/// Slabs in the file.
pub fn set_slab_count(count: u64) {
    if let Some(header) = header() {
        word!(header, slab_count).store(count, Relaxed);
    }
}

/// File offset of the newest segment; 0: there is none.
pub fn segment_head() -> u64 {
    header().map_or(0, |header| word!(header, segment_head).load(Relaxed))
}

/// There is a newer one. All that readers need to know of it has been written.
#[cfg(not(feature = "counters-alone"))]
pub fn set_segment_head(offset: u64) {
    if let Some(header) = header() {
        word!(header, segment_head).store(offset, core::sync::atomic::Ordering::Release);
    }
}
