//! System calls, and what stands in for libc: the runtime calls none of its functions where the program could notice.

pub mod growing_array;
pub mod lock;
pub mod memory;
pub mod pagemap;
pub mod say;
pub mod sys;
