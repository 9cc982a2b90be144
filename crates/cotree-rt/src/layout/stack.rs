//! The stack of the thread that ended the process, as it was then.

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
    /// 0: a frame. Else 1 + which of the values known at that return address this is, as in [`VALUE_SHIFT`].
    pub register: u64,
    /// In an entry of a frame, how many frames were above it, those of other code included. Else what is in the
    /// register.
    pub value: u64,
}
const _: () = assert!(core::mem::size_of::<StackEntry>() == 24);
