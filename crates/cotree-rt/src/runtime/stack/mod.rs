//! Walks over stacks.

pub mod cache;
pub mod last_step;
pub mod marks;
pub mod modules;
pub mod rules;
pub mod unwind;
pub mod walk;
