//! The public interface (`cotree.h`): `cotree_dump` writes a profile of the counts so far, `cotree_reset` starts anew.

use super::units;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::file::naming::Path;
use crate::runtime::file::{current, names};
use crate::runtime::os::files;
use crate::runtime::os::own_stack;
use crate::runtime::os::say::decimal;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::process::counting;
use crate::runtime::profile::copy;
use crate::runtime::stack::walk::Top;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::thread;
#[cfg(feature = "shared-library")]
use crate::runtime::unit;
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

// Each link unit has its own: a library that calls them speaks of itself, whatever the executable has.
entry!("cotree_dump", dump, 1);
entry!("cotree_reset", reset, 0);

/// Written; no profile is being made; an error, as `errno` says.
const WRITTEN: c_int = 0;
const NO_PROFILE: c_int = 1;
const FAILED: c_int = -1;

unsafe extern "C" fn dump(path: *const c_char, caller: &Caller) -> c_int {
    if !current::active() || !current::is_written() {
        return NO_PROFILE;
    }
    // SAFETY: null or a C string, as the interface says.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    match own_stack::run(|| write(path, Top::Caller(caller))) {
        Ok(()) => WRITTEN,
        Err(error) => {
            // SAFETY: this thread's errno.
            unsafe { *libc::__errno_location() = error.0 };
            FAILED
        }
    }
}

/// `NAME.snapshot-N.cotree` beside `NAME.cotree`, with the first number that is free.
fn default_name(name: &mut Path) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let base = names::final_name();
    loop {
        name.clear();
        name.push(base.strip_suffix(b".cotree").unwrap_or(base));
        name.push(b".snapshot-");
        name.push(decimal(NUMBER.fetch_add(1, Relaxed), &mut [0; 20]));
        name.push(b".cotree");
        if !name.c_str().is_some_and(sys::exists) {
            return;
        }
    }
}

/// Writes a copy of the profile, with the frames of the stack below that top.
pub(super) fn write(path: Option<&CStr>, top: Top<'_>) -> sys::Result<()> {
    // Not on the stack: this may run in a signal handler.
    let scratch = sys::map_anonymous(2 * size_of::<Path>())?;
    // SAFETY: fresh zeros, which are empty texts.
    let (name, temporary) = unsafe { (&mut *scratch.cast::<Path>(), &mut *scratch.cast::<Path>().add(1)) };
    match path {
        Some(path) => name.push(path.to_bytes()),
        None => default_name(name),
    }
    let result = write_named(name, temporary, top);
    // SAFETY: mapped above, used no more.
    unsafe { sys::unmap(scratch, 2 * size_of::<Path>()) };
    result
}

const TOO_LONG: Errno = Errno(libc::ENAMETOOLONG);

fn write_named(name: &Path, temporary: &mut Path, top: Top<'_>) -> sys::Result<()> {
    let target = name.c_str().ok_or(TOO_LONG)?;
    names::may_be_replaced(target)?;
    let fd = create_temporary(name, temporary)?;
    let temporary = temporary.c_str().ok_or(TOO_LONG)?;
    let result = copy::write(fd, top);
    sys::close(fd);
    result.and_then(|()| sys::rename(temporary, target)).inspect_err(|_| sys::unlink(temporary))
}

/// Creates `NAME.PID.tmp`, or `NAME.PID-N.tmp` where that is taken: others may write to the folder, and whatever they
/// put there is not written to.
fn create_temporary(name: &Path, temporary: &mut Path) -> sys::Result<c_int> {
    const MOST_ATTEMPTS: u64 = 1000;
    let mut attempt = 1;
    loop {
        let mut digits = [0; 20];
        temporary.clear();
        temporary.push(name.bytes());
        temporary.push(b".");
        temporary.push(decimal(current::process() as u64, &mut digits));
        if attempt > 1 {
            temporary.push(b"-");
            temporary.push(decimal(attempt, &mut digits));
        }
        temporary.push(b".tmp");
        match files::create_new(temporary.c_str().ok_or(TOO_LONG)?) {
            Err(Errno(libc::EEXIST)) if attempt < MOST_ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

/// The counts begin here: the frames of this stack come to life without a call.
pub(super) unsafe extern "C" fn reset(caller: &Caller) {
    if current::active() {
        units::clear();
        if has_other_threads() {
            units::flag(Flags::RESET_AMONG_THREADS);
        }
        counting::count_all(caller, -1);
    }
}

#[cfg(not(feature = "shared-library"))]
fn has_other_threads() -> bool {
    thread::others().next().is_some()
}

/// A library does not know who is there.
#[cfg(feature = "shared-library")]
fn has_other_threads() -> bool {
    unit::threaded()
}
