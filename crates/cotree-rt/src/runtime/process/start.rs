//! Start-up: before any code of the program runs.

#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
use crate::arch::linkage::got;
use crate::runtime::file::{current, test_name};
#[cfg(feature = "shared-library")]
use crate::runtime::joined;
use crate::runtime::os::say;
#[cfg(feature = "shared-library")]
use crate::runtime::process::this_unit::THIS;
#[cfg(not(feature = "counters-alone"))]
use crate::runtime::process::totals;
#[cfg(not(any(feature = "shared-library", feature = "counters-alone")))]
use crate::runtime::process::until;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::process::{counting, dispositions, handlers, jumps, pinned, sanitizers, signals};
use crate::runtime::process::{debugger, end, fork, units};
use crate::runtime::profile::begin;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::profile::ending;
use crate::runtime::stack::{marks, modules};
use crate::runtime::{record, slabs, thread, unit};
#[cfg(not(feature = "shared-library"))]
use core::ffi::c_int;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

// Executables: glibc runs preinit_array first of all. musl does not know it; there init_array has to do, and gets no
// arguments. The second call of the two is none.
#[cfg(not(feature = "shared-library"))]
#[used]
#[unsafe(link_section = ".preinit_array")]
static PREINIT: unsafe extern "C" fn(c_int, *mut *mut c_char, Environment) = preinit;

#[used]
#[unsafe(link_section = ".init_array.00000")]
static INIT: unsafe extern "C" fn() = init;

type Environment = *mut *mut c_char;

unsafe extern "C" {
    static environ: Environment;
}

#[cfg(not(feature = "shared-library"))]
unsafe extern "C" fn preinit(_argc: c_int, _argv: *mut *mut c_char, environment: Environment) {
    // SAFETY: glibc passes the environment, before it is in `environ`.
    unsafe { start(environment) };
}

unsafe extern "C" fn init() {
    // SAFETY: libc is initialised.
    unsafe { start(environ) };
}

static STARTED: AtomicBool = AtomicBool::new(false);

const DEFAULT: &[u8] = b"%n.%p.cotree";

/// # Safety
/// The environment must be one, or null.
unsafe fn start(environment: Environment) {
    if STARTED.swap(true, Relaxed) {
        return;
    }
    unit::find_image();
    register();
    say::start();
    // SAFETY: the caller vouches.
    let pattern = unsafe { pattern(environment) };
    if pattern.is_none() {
        say::no_place();
    }
    let pattern = pattern.filter(|&pattern| !pattern.is_empty() && pattern != b"/dev/null");
    if pattern.is_none() && !unit::is_queried() {
        record::close();
        return;
    }
    // SAFETY: the caller vouches.
    unsafe { note_test(environment) };
    thread::start(environment as u64);
    match pattern {
        Some(pattern) => begin::start(pattern),
        None => begin::start_unwritten(),
    }
    if !current::active() {
        return;
    }
    slabs::claim(0);
    modules::start();
    debugger::start();
    end::register();
    join();
    #[cfg(not(feature = "shared-library"))]
    if !is_privileged() {
        // SAFETY: the caller vouches.
        let variable = |name| unsafe { variable(environment, name) };
        if let Some(value) = variable(b"COTREE_PIN=") {
            pinned::start(value);
        }
        #[cfg(not(feature = "counters-alone"))]
        if let Some(value) = variable(b"COTREE_UNTIL=") {
            until::start(value);
        }
    }
}

/// Whether the program runs with rights which its caller has not (set-user-ID, file capabilities).
fn is_privileged() -> bool {
    // SAFETY: reads the auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Tells lower floors what they call of higher ones.
fn register() {
    marks::RECORDING.set(units::is_recording_at);
    #[cfg(not(feature = "counters-alone"))]
    totals::register();
    #[cfg(not(feature = "shared-library"))]
    {
        counting::PENDING_JUMP_ENDED.set(jumps::ended);
        ending::END_BY.set(signals::end_by);
        crate::runtime::joined::EVENT_TOTAL.set(units::event_total);
    }
}

/// An executable is the one that others join.
#[cfg(not(feature = "shared-library"))]
fn join() {
    fork::register();
    dispositions::start();
    handlers::start();
    sanitizers::start();
    #[cfg(not(feature = "static-executable"))]
    if !is_unwinder_hooked() {
        current::flag_always(crate::layout::Flags::UNHOOKED);
    }
}

/// Whether landings in this link unit come to the hook: not if it was linked with an unwinder of its own without
/// `--wrap`.
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
fn is_unwinder_hooked() -> bool {
    let bound = got!(".weak ", "_Unwind_SetIP");
    let wrapped = got!(".weak ", "__real__Unwind_SetIP");
    bound.is_null() || !wrapped.is_null() || bound == got!(".globl ", "__wrap__Unwind_SetIP")
}

/// A library relies on the executable for what it can't see, and says so if there is none.
#[cfg(feature = "shared-library")]
fn join() {
    if !joined::join(&THIS) {
        fork::register();
        current::flag_always(crate::layout::Flags::UNHOOKED);
    }
}

/// The pattern for file names: that of `COTREE_FILE`, or the one that was built in, or [`DEFAULT`].
///
/// A program that [`is_privileged`] must not write where the caller says, be it by the environment or by the folder
/// that it stands in. It writes only where an absolute pattern was built in, and nothing without one.
///
/// # Safety
/// The environment must be one, or null.
unsafe fn pattern(environment: Environment) -> Option<&'static [u8]> {
    let built_in = unit::file_pattern();
    if is_privileged() {
        return built_in.filter(|pattern| pattern.starts_with(b"/"));
    }
    // SAFETY: the caller vouches.
    let given = unsafe { variable(environment, b"COTREE_FILE=") };
    Some(given.or(built_in).unwrap_or(DEFAULT))
}

/// Notes the test that the program runs in: `COTREE_TEST`, or else what nextest and pytest say.
///
/// # Safety
/// The environment must be one, or null.
unsafe fn note_test(environment: Environment) {
    // SAFETY: the caller vouches.
    let variable = |name| unsafe { variable(environment, name) };
    if let Some(name) = variable(b"COTREE_TEST=") {
        test_name::add(name);
    } else if let Some(name) = variable(b"NEXTEST_TEST_NAME=") {
        if let Some(binary) = variable(b"NEXTEST_BINARY_ID=") {
            test_name::add(binary);
            test_name::add(b" ");
        }
        test_name::add(name);
    } else if let Some(name) = variable(b"PYTEST_CURRENT_TEST=") {
        // The phase of the test stands behind its name, in brackets.
        let end = name.windows(2).rposition(|pair| pair == b" (").unwrap_or(name.len());
        test_name::add(&name[..end]);
    }
}

/// The value of a variable, whose name comes with the sign behind it.
///
/// # Safety
/// The environment must be one, or null.
unsafe fn variable(environment: Environment, name: &[u8]) -> Option<&'static [u8]> {
    let mut at = environment;
    if at.is_null() {
        return None;
    }
    // SAFETY: a NULL-terminated list of C strings.
    unsafe {
        while !(*at).is_null() {
            if let Some(value) = CStr::from_ptr(*at).to_bytes().strip_prefix(name) {
                return Some(value);
            }
            at = at.add(1);
        }
    }
    None
}
