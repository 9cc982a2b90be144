//! The profile of this process as a whole: how it begins and ends, what becomes of it where there is no room, and
//! copies of it.

pub mod begin;
pub mod copy;
#[cfg(not(feature = "shared-library"))]
pub mod ending;
pub mod finish;
pub mod no_room;
