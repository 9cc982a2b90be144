//! What is of the machine: registers, system calls, and all code in assembly. There is a folder for each machine, and
//! all have the same files; whatever stands outside of these folders holds for every machine.
//!
//! | file | what it has |
//! | --- | --- |
//! | `registers` | the registers that a walk over a stack knows, and the frame of a caller |
//! | `rules` | the common rules to get from a frame to its caller, as a word each |
//! | `context` | the registers that a signal has interrupted |
//! | `system_calls` | how they are made, those that not every machine has, and how libc's wrappers of them begin |
//! | `paths` | system calls that take paths |
//! | `threads` | the thread pointer, and the unit's word in the thread-local storage |
//! | `segment` | the segment register by which generated code may reach its counters |
//! | `linkage` | weak symbols, and labels of entries |
//! | `entries` | entries from the program: of hooks, and of functions that generated code calls |
//! | `trampolines` | entries below the program: of threads, of signal handlers, of `main` |
//! | `stubs` | entries that look to their callers as if they took one instruction |
//! | `breaks` | calls in the place of a function's first instructions |
//! | `stacks` | calls on another stack, and calls that walks recognise |
//! | `jumps` | what `setjmp` has saved, and jumps that walks recognise |
//! | `events` | the running total of the program's events |
//! | `memory` | the inner loops of `memcpy` and the like, and additions of one instruction |
//! | `valgrind` | requests to valgrind |
//! | `vectors` | how zeros are skipped quickly; readers of profiles use it, too |

#[cfg(not(target_arch = "x86_64"))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
pub use other::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(all(feature = "runtime", not(target_arch = "x86_64")))]
compile_error!("the runtime has no folder for this machine in crates/cotree-rt/src/arch");
