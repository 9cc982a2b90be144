//! The raw profile of this process, as [`crate::layout`] has it.

pub mod begin;
pub mod copy;
pub mod finish;
pub mod identity;
pub mod names;
pub mod naming;
pub mod no_room;
pub mod profile;
