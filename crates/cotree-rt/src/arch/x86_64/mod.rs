//! The folder for x86-64.

#[cfg(all(feature = "runtime", not(any(feature = "shared-library", feature = "counters-alone"))))]
pub mod breaks;
#[cfg(feature = "runtime")]
pub mod context;
#[cfg(feature = "runtime")]
pub mod entries;
#[cfg(feature = "runtime")]
pub mod events;
#[cfg(feature = "runtime")]
pub mod jumps;
#[cfg(feature = "runtime")]
pub mod linkage;
#[cfg(feature = "runtime")]
pub mod memory;
#[cfg(feature = "runtime")]
pub mod paths;
#[cfg(feature = "runtime")]
pub mod registers;
#[cfg(feature = "runtime")]
pub mod rules;
#[cfg(feature = "runtime")]
pub mod segment;
#[cfg(feature = "runtime")]
pub mod stacks;
#[cfg(all(feature = "runtime", not(feature = "counters-alone")))]
pub mod stubs;
#[cfg(feature = "runtime")]
pub mod system_calls;
#[cfg(feature = "runtime")]
pub mod threads;
#[cfg(all(feature = "runtime", not(feature = "shared-library")))]
pub mod trampolines;
#[cfg(feature = "runtime")]
pub mod valgrind;
pub mod vectors;
