//! The runtime proper. It runs inside other people's programs: no allocation, no `errno`, no surprise.
//!
//! | floor | contents |
//! | --- | --- |
//! | `os` | system calls, and replacements for what libc offers |
//! | `unit`, `thread`, `joined` | this link unit, the threads of the process, the link units that have joined this one |
//! | `file` | the file of the raw profile: its names, its header, the pool that it is added to |
//! | `slabs` | the counter arrays, and room for tables of paths |
//! | `stack` | walks over stacks, and the unwind rules that they need |
//! | `record` | what the methods record besides counters |
//! | `profile` | the profile as a whole: how it begins and ends, and copies of it |
//! | `process` | the life of the process: its start, forks and end, and how the frames of its stacks are counted |
//! | `hooks` | replacements for functions of libc and of the unwinder |
//!
//! Each floor uses only those above it in this table. What it has to call of a higher one is registered at the start
//! (`os::late`).

mod file;
mod hooks;
mod joined;
mod os;
mod process;
mod profile;
mod record;
mod slabs;
mod stack;
mod thread;
mod unit;

/// The runtime's own build has `panic = "abort"`; where the crate is only checked or documented, std brings a handler.
#[cfg(all(panic = "abort", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    os::say::mistake();
    os::sys::exit_group(134)
}
