//! The table of early exits: activations that were abandoned, by the call that they were in.

/// A slot of the table of early exits.
///
/// The runtime does not know which code is profiled: it records every frame in the unit's image, those of start-up code
/// and of libraries linked statically too. Addresses that are no known call site of a profiled function mean nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct EarlyEntry {
    /// Return address of the call during which the activation left, as the link-time address (run-time address less
    /// load bias); 0: free slot. For an interrupted frame (see [`INTERRUPTED`]) the address of the instruction.
    pub address: u64,
    /// Activations abandoned there less activations revived there.
    pub count: i64,
}

/// Set in [`EarlyEntry::address`] when it is not a return address: the frame was interrupted there by a signal.
pub const INTERRUPTED: u64 = 1 << 63;
/// Set in [`EarlyEntry::address`] when an exception reached a landing pad of this frame, which was in the call that
/// returns to the address: of the functions inlined there only those inside the first invoke are abandoned.
pub const AT_LANDING_PAD: u64 = 1 << 62;

/// Both: no activation, but the address of a function that was a signal handler at the end
/// ([`HANDLER_UNFORESEEN`](super::Flags::HANDLER_UNFORESEEN)).
pub const HANDLER: u64 = INTERRUPTED | AT_LANDING_PAD;

/// Bits of [`EarlyEntry::address`] that are not 0 where the entry tells of a total: `count` is then what the thread's
/// counter of a kind of events was where activations left there, less what it was where they were revived, modulo 2⁶⁴.
/// The bits are the place of the kind among those that are counted, from 1.
pub const TOTAL: u64 = 63 << TOTAL_SHIFT;
const TOTAL_SHIFT: u32 = 56;

/// The bits of [`TOTAL`] for the kind at this place.
#[must_use]
pub const fn total_of(kind: u64) -> u64 {
    (kind + 1) << TOTAL_SHIFT & TOTAL
}

/// The place of the kind whose total an entry tells, if it does.
#[must_use]
pub fn total_kind(address: u64) -> Option<usize> {
    ((address & TOTAL) >> TOTAL_SHIFT).checked_sub(1).map(|kind| kind as usize)
}

/// First slot to try for an address in a table of `capacity` (a power of two) slots.
#[must_use]
pub const fn early_slot(address: u64, capacity: u64) -> u64 {
    (mixed(address) >> 32) & (capacity - 1)
}

/// The address with its bits mixed, in the upper half.
#[must_use]
pub const fn mixed(address: u64) -> u64 {
    address.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
