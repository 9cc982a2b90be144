//! What a program can ask of its own profile: the Rust face of `cotree.h`.
//!
//! Programs that use it compile, link and run without cotree too: the references are weak, and the functions do nothing
//! where there is no profile. Each link unit (executable or shared library) speaks of its own.

mod benchmark;

pub use benchmark::bench;

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Writes a profile of the counts so far to the path, or with `None` to `NAME.snapshot-N.cotree` beside the profile
/// that the run will leave.
///
/// The calls that are active on this thread's stack are accounted for, so that the snapshot is as exact as a finished
/// profile; it is flagged if other threads are alive. `Ok(false)`: this program is not being profiled.
///
/// # Errors
/// If the file can't be written, or the path has a NUL inside.
pub fn dump(path: Option<&Path>) -> io::Result<bool> {
    let path = path.map(|path| CString::new(path.as_os_str().as_bytes())).transpose()?;
    let Some(function) = runtime::dump() else { return Ok(false) };
    // SAFETY: the runtime's function takes null or a C string, which lives through the call.
    match unsafe { function(path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr())) } {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets all counts to zero, those of profiled shared libraries too if the executable calls it: the profile begins here.
///
/// The active calls of this thread are accounted for. Other threads should not be running: their active calls are not.
pub fn reset() {
    if let Some(function) = runtime::reset() {
        // SAFETY: the runtime's function takes nothing.
        unsafe { function() };
    }
}

/// Reports `count` events of this thread: bytes allocated, comparisons, misses of a simulated cache, whatever the
/// program counts itself.
///
/// A build with `--profile path --path-metric events` adds them up along paths: each path that is under way on the
/// thread, in whatever called this too, gets them all. Otherwise nothing comes of it.
#[inline]
pub fn events(count: u64) {
    if let Some(function) = runtime::events() {
        // SAFETY: the runtime's function takes a number.
        unsafe { function(count) };
    }
}

/// A kind of events that `--profile events` counts; their meaning is in `docs/events.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum EventKind {
    /// Instructions of LLVM's intermediate representation.
    Instructions = 0,
    /// Loads from memory.
    Loads = 1,
    /// Stores to memory.
    Stores = 2,
    /// Calls.
    Calls = 3,
    /// Branches.
    Branches = 4,
    /// Floating-point operations.
    Float = 5,
    /// Calls of functions that allocate memory.
    Allocations = 6,
    /// Calls of functions that are system calls.
    SystemCalls = 7,
    /// What a file says that instructions cost.
    Cost = 8,
}

/// In a build with `--profile events`: how many events of the kind this thread has had, exactly, through this call.
/// They count from the thread's beginning, [`reset`] or `fork` on. 0 for a kind that the build does not count, without
/// cotree, and in a process that has no memory to count in.
#[inline]
#[must_use]
pub fn event_count(kind: EventKind) -> u64 {
    // SAFETY: the runtime's function takes a number.
    runtime::event_count().map_or(0, |function| unsafe { function(kind as i32) })
}

/// In a build with `--profile events-calls`: how many events of the kind (an [`EventKind`]) the calls on a line have
/// led to so far in this thread, exactly: the line of the file in which the query stands. Both must be constants:
/// `event_call_count!(EventKind::Loads, line!() - 2)`. A call that is under way counts up to now, and a recursive one
/// once, as in the report. Copies of the line, generic and inlined ones, are added. The link fails if no call there is
/// measured. 0 in other builds.
#[macro_export]
macro_rules! event_call_count {
    ($kind:expr, $line:expr) => {
        $crate::__event_call_count!($kind, $line)
    };
}

/// The constants stand in the call itself, where the link finds them.
#[cfg(cotree)]
#[doc(hidden)]
#[macro_export]
macro_rules! __event_call_count {
    ($kind:expr, $line:expr) => {{
        const KIND: $crate::EventKind = $kind;
        const NUMBER: i32 = KIND as i32;
        const LINE: u32 = $line;
        $crate::__cotree_event_call_count(NUMBER, LINE)
    }};
}

/// Nothing is left of a query in a build without cotree.
#[cfg(not(cotree))]
#[doc(hidden)]
#[macro_export]
macro_rules! __event_call_count {
    ($kind:expr, $line:expr) => {{
        const _: ($crate::EventKind, u32) = ($kind, $line);
        0u64
    }};
}

#[cfg(cotree)]
unsafe extern "C" {
    /// Not to be called but by the macro.
    #[doc(hidden)]
    #[link_name = "cotree_event_call_count"]
    pub safe fn __cotree_event_call_count(kind: i32, line: u32) -> u64;
}

/// In a build with `--profile events`: how many events of the kind all threads have had, those that are gone, too,
/// since the program's beginning, [`reset`] or `fork`. This thread's part is exact, as [`event_count`] is. Of each
/// other thread that runs at the same time it is what has been counted: up to the events of a stretch of code more or
/// less.
#[inline]
#[must_use]
pub fn event_count_total(kind: EventKind) -> u64 {
    // SAFETY: the runtime's function takes a number.
    runtime::event_count_total().map_or(0, |function| unsafe { function(kind as i32) })
}

/// Why a limit can't be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoLimit {
    /// The build does not count events of this kind, or the process has no memory to count in.
    NotCounted,
    /// The program was built without `--event-limit`.
    NotPlanned,
}

/// In a build with `--profile events --event-limit`: calls back at the first safe point at which this thread has had so
/// many events of the kind or more, as [`event_count`] has them. The limit is gone then; the callback may set the next
/// one. Each thread has one limit per kind; a new one takes the place of the old, and no callback removes it.
///
/// # Errors
/// See [`NoLimit`].
#[inline]
pub fn event_limit(kind: EventKind, count: u64, callback: Option<extern "C" fn()>) -> Result<(), NoLimit> {
    let Some(function) = runtime::event_limit() else { return Err(NoLimit::NotCounted) };
    // SAFETY: the runtime's function takes two numbers and null or a function.
    match unsafe { function(kind as i32, count, callback) } {
        0 => Ok(()),
        2 => Err(NoLimit::NotPlanned),
        _ => Err(NoLimit::NotCounted),
    }
}

/// In a build with `--profile events --event-limit`: calls back once when all threads together have had so many events
/// of the kind, as [`event_count_total`] has them, in the thread that finds it, at its first safe point. There is one
/// such limit per kind, beside those of [`event_limit`]; a new one takes the place of the old, and no callback
/// removes it.
///
/// # Errors
/// See [`NoLimit`].
#[inline]
pub fn event_limit_total(kind: EventKind, count: u64, callback: Option<extern "C" fn()>) -> Result<(), NoLimit> {
    let Some(function) = runtime::event_limit_total() else { return Err(NoLimit::NotCounted) };
    // SAFETY: the runtime's function takes two numbers and null or a function.
    match unsafe { function(kind as i32, count, callback) } {
        0 => Ok(()),
        2 => Err(NoLimit::NotPlanned),
        _ => Err(NoLimit::NotCounted),
    }
}

/// In a build with `--profile trace`: this thread records what it does from here on. A build with `--trace-off` begins
/// without; each thread speaks for itself.
pub fn trace_start() {
    if let Some(function) = runtime::trace_start() {
        // SAFETY: the runtime's function takes nothing.
        unsafe { function() };
    }
}

/// In a build with `--profile trace`: this thread records nothing until [`trace_start`].
pub fn trace_stop() {
    if let Some(function) = runtime::trace_stop() {
        // SAFETY: the runtime's function takes nothing.
        unsafe { function() };
    }
}

type LimitFunction = unsafe extern "C" fn(i32, u64, Option<extern "C" fn()>) -> i32;

/// Weak references to the runtime, which stable Rust can make only in assembly.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod runtime {
    use std::arch::asm;
    use std::ffi::{c_char, c_int};

    pub fn dump() -> Option<unsafe extern "C" fn(*const c_char) -> c_int> {
        let address: usize;
        // SAFETY: reads a GOT entry, zero where nobody defines the symbol.
        unsafe {
            asm!(".weak cotree_dump", "mov {}, qword ptr [rip + cotree_dump@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: null is None, and otherwise the runtime's function has this signature.
        unsafe { std::mem::transmute(address) }
    }

    pub fn reset() -> Option<unsafe extern "C" fn()> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_reset", "mov {}, qword ptr [rip + cotree_reset@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    pub fn trace_start() -> Option<unsafe extern "C" fn()> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_trace_start", "mov {}, qword ptr [rip + cotree_trace_start@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    pub fn trace_stop() -> Option<unsafe extern "C" fn()> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_trace_stop", "mov {}, qword ptr [rip + cotree_trace_stop@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    #[cfg(cotree)]
    #[inline]
    pub fn event_count() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_event_count", "mov {}, qword ptr [rip + cotree_event_count@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    #[cfg(cotree)]
    #[inline]
    pub fn event_count_total() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_event_count_total",
                "mov {}, qword ptr [rip + cotree_event_count_total@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    #[cfg(cotree)]
    #[inline]
    pub fn event_limit() -> Option<super::LimitFunction> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_event_limit", "mov {}, qword ptr [rip + cotree_event_limit@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    #[cfg(cotree)]
    #[inline]
    pub fn event_limit_total() -> Option<super::LimitFunction> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_event_limit_total",
                "mov {}, qword ptr [rip + cotree_event_limit_total@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }

    // Nothing is left of a call in a build without cotree, which knows no such configuration.
    #[cfg(not(cotree))]
    #[inline]
    pub fn event_count() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        None
    }

    #[cfg(not(cotree))]
    #[inline]
    pub fn event_count_total() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        None
    }

    #[cfg(not(cotree))]
    #[inline]
    pub fn event_limit() -> Option<super::LimitFunction> {
        None
    }

    #[cfg(not(cotree))]
    #[inline]
    pub fn event_limit_total() -> Option<super::LimitFunction> {
        None
    }

    #[inline]
    pub fn events() -> Option<unsafe extern "C" fn(u64)> {
        let address: usize;
        // SAFETY: as above.
        unsafe {
            asm!(".weak cotree_events", "mov {}, qword ptr [rip + cotree_events@GOTPCREL]", out(reg) address,
                options(nostack, pure, readonly));
        }
        // SAFETY: as above.
        unsafe { std::mem::transmute(address) }
    }
}

/// There is no runtime elsewhere.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod runtime {
    use std::ffi::{c_char, c_int};

    pub fn dump() -> Option<unsafe extern "C" fn(*const c_char) -> c_int> {
        None
    }

    pub fn reset() -> Option<unsafe extern "C" fn()> {
        None
    }

    pub fn events() -> Option<unsafe extern "C" fn(u64)> {
        None
    }

    pub fn event_count() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        None
    }

    pub fn event_count_total() -> Option<unsafe extern "C" fn(c_int) -> u64> {
        None
    }

    pub fn event_limit() -> Option<super::LimitFunction> {
        None
    }

    pub fn event_limit_total() -> Option<super::LimitFunction> {
        None
    }

    pub fn trace_start() -> Option<unsafe extern "C" fn()> {
        None
    }

    pub fn trace_stop() -> Option<unsafe extern "C" fn()> {
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn does_nothing_without_a_profile() {
        assert!(!super::dump(None).unwrap());
        super::reset();
        super::events(3);
        assert_eq!(super::event_count(super::EventKind::Loads), 0);
        assert_eq!(super::event_limit(super::EventKind::Loads, 7, None), Err(super::NoLimit::NotCounted));
        assert_eq!(super::event_limit_total(super::EventKind::Loads, 7, None), Err(super::NoLimit::NotCounted));
        super::trace_start();
        super::trace_stop();
    }
}
