//! The runtime proper. It runs inside other people's programs: no allocation, no `errno`, no surprise.
//!
//! | folder | contents |
//! | --- | --- |
//! | `hooks` | replacements for functions of libc and of the unwinder |
//! | `process` | the life of the process: its start, threads, forks and end, and the link units in it |
//! | `stack` | walks over stacks, and the unwind rules that they need |
//! | `record` | what the methods record besides counters |
//! | `slabs` | the counter arrays, and room for tables of paths |
//! | `file` | the raw profile: its name, its header, how it begins and ends |
//! | `os` | system calls, and replacements for what libc offers |

mod file;
mod hooks;
mod os;
mod process;
mod record;
mod slabs;
mod stack;
mod unit;

/// The runtime's own build has `panic = "abort"`; where the crate is only checked or documented, std brings a handler.
#[cfg(all(panic = "abort", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    os::say::mistake();
    os::sys::exit_group(134)
}
