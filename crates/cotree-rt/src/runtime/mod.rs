//! The runtime proper. It runs inside other people's programs: no allocation, no `errno`, no surprise.

mod cache;
mod detour;
mod early;
mod end;
mod events;
#[cfg(not(feature = "shared-library"))]
mod exec;
mod fork;
#[cfg(not(feature = "shared-library"))]
mod hooks;
mod identity;
#[cfg(not(feature = "shared-library"))]
mod jump;
#[cfg(not(feature = "shared-library"))]
mod landing;
mod linkage;
mod lock;
mod memory;
mod modules;
mod naming;
mod no_room;
mod pagemap;
mod paths;
mod process;
mod profile;
#[cfg(not(feature = "shared-library"))]
mod quick;
#[cfg(not(feature = "shared-library"))]
mod raw;
mod registers;
mod resume;
mod rules;
mod say;
mod segments;
mod slabs;
mod snapshot;
#[cfg(not(feature = "shared-library"))]
mod spawn;
mod start;
mod stop;
mod sys;
mod thread;
mod unit;
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
mod unload;
mod unwind;
mod walk;

/// The runtime's own build has `panic = "abort"`; where the crate is only checked or documented, std brings a handler.
#[cfg(all(panic = "abort", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    say::trouble(
        "internal error in",
        b"the profiling runtime",
        sys::Errno(0),
        "please report it; the program was stopped",
    );
    sys::exit_group(134)
}
