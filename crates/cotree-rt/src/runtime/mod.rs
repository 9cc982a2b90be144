//! The runtime proper. It runs inside other people's programs: no allocation, no `errno`, no surprise.

mod early;
mod end;
mod identity;
mod linkage;
mod lock;
mod memory;
mod modules;
mod naming;
mod process;
mod profile;
mod rules;
mod say;
mod segments;
mod slabs;
mod snapshot;
mod start;
mod sys;
mod thread;
mod unit;
mod unwind;
mod walk;

/// The runtime's own build has `panic = "abort"`; where the crate is only checked or documented, std brings a handler.
#[cfg(all(panic = "abort", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    say::trouble("internal error in", b"the profiling runtime", sys::Errno(0), "please report it; the program was stopped");
    sys::exit_group(134)
}
