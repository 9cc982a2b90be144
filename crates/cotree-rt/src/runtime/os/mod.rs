//! System calls and replacements for libc: the runtime calls no libc function where the program could notice.

pub mod call;
pub mod files;
pub mod growing_array;
pub mod late;
pub mod lock;
pub mod memory;
pub mod own_stack;
pub mod pagemap;
pub mod reserved_signals;
pub mod say;
pub mod sys;
mod valgrind;
