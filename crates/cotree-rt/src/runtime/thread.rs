//! Threads.

/// top
pub fn stack_top(_sp: u64) -> Option<u64> { None }
/// bottom
pub fn is_bottom(_pc: u64) -> bool { false }
