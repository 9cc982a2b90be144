//! The raw profile of this process, in the format of [`crate::layout`].

pub mod begin;
pub mod copy;
mod earlier;
pub mod finish;
pub mod identity;
pub mod names;
pub mod naming;
pub mod no_room;
pub mod pool;
pub mod profile;
