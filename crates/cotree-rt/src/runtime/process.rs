//! All the profiled link units of the process, as far as they know of each other.
//!
//! The executable's runtime has the interposers; it tells every unit what they see. Each unit keeps only the addresses
//! that lie in its own image.

use super::{early, profile, unit};
use crate::layout::{Flags, INTERRUPTED};

/// Counts an activation at a code address, in the unit that it belongs to.
pub fn count(pc: u64, tag: u64, delta: i64) {
    if let Some(address) = unit::link_address(pc) {
        early::count(address | tag, delta);
        if tag == INTERRUPTED {
            profile::flag(Flags::INTERRUPTED_FRAME);
        }
    }
}

/// Flags all profiles.
pub fn flag(bits: u64) {
    profile::flag(bits);
}
