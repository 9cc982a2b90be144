//! Walks over stacks.

pub mod cache;
pub mod detour;
pub mod marks;
pub mod modules;
#[cfg(not(feature = "shared-library"))]
pub mod quick;
pub mod rules;
pub mod unwind;
pub mod walk;
