//! The stack of the thread that ended the process, or copied its profile, as it was then.

#[cfg(doc)]
use super::{INTERRUPTED, VALUE_SHIFT};

/// A frame in the unit's image, innermost first, or what is in a path register of the frame before it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct StackEntry {
    /// As in the table of early exits: the return address of the call that the frame is in, as a link-time address, or
    /// with [`INTERRUPTED`] the instruction at which a signal found it.
    pub address: u64,
    /// 0: a frame. Else 1 + which of the values known at that return address this is, as in [`VALUE_SHIFT`]. Behind a
    /// frame that a signal found at an instruction, what the code had there: [`MACHINE_REGISTER`] + the DWARF number of
    /// a register, [`COUNTERS_ADDRESS`], or from [`FIRST_ADDRESS`] on the address of a word of the stack.
    pub register: u64,
    /// In an entry of a frame, how many frames were above it, those of other code included. Else what is in the
    /// register or the word.
    pub value: u64,
}
const _: () = assert!(core::mem::size_of::<StackEntry>() == 24);

/// Added to the DWARF number of a machine register in [`StackEntry::register`].
pub const MACHINE_REGISTER: u64 = 0x1000;
/// In [`StackEntry::register`]: the value is where the first counter is in memory.
pub const COUNTERS_ADDRESS: u64 = 0x2000;
/// The lowest address in [`StackEntry::register`]: nothing is mapped below it.
pub const FIRST_ADDRESS: u64 = 0x1_0000;
