//! The raw profile of this process.

pub mod identity;
pub mod naming;
pub mod no_room;
pub mod profile;
