//! What is recorded besides counters.

pub mod early;
pub mod events;
pub mod paths;
pub mod registers;
