//! The public interface (`cotree.h`): `cotree_dump` writes a profile of the counts so far, `cotree_reset` starts anew.

use super::units;
use crate::runtime::file::naming::Path;
use crate::runtime::file::{copy, names, profile};
use crate::runtime::hooks::linkage::{Caller, entry};
use crate::runtime::os::own_stack;
use crate::runtime::os::say::decimal;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::stack::walk;
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

// Each link unit has its own: a library that calls them speaks of itself, whatever the executable has.
entry!("cotree_dump", dump, "rsi");
entry!("cotree_reset", reset, "rdi");

/// Written; no profile is being made; an error, as `errno` says.
const WRITTEN: c_int = 0;
const NO_PROFILE: c_int = 1;
const FAILED: c_int = -1;

unsafe extern "C" fn dump(path: *const c_char, caller: &Caller) -> c_int {
    if !profile::active() {
        return NO_PROFILE;
    }
    // SAFETY: null or a C string, as the interface says.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    match own_stack::run(|| write(path, caller)) {
        Ok(()) => WRITTEN,
        Err(error) => {
            // SAFETY: this thread's errno.
            unsafe { *libc::__errno_location() = error.0 };
            FAILED
        }
    }
}

/// `NAME.snapshot-N.cotree` beside `NAME.cotree`.
fn default_name(name: &mut Path) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let base = names::final_name();
    name.push(base.strip_suffix(b".cotree").unwrap_or(base));
    name.push(b".snapshot-");
    name.push(decimal(NUMBER.fetch_add(1, Relaxed), &mut [0; 20]));
    name.push(b".cotree");
}

fn write(path: Option<&CStr>, caller: &Caller) -> sys::Result<()> {
    let too_long = Errno(libc::ENAMETOOLONG);
    // Not on the stack: this may run in a signal handler.
    let scratch = sys::map_anonymous(2 * size_of::<Path>())?;
    // SAFETY: fresh zeros, which are empty texts.
    let (name, temporary) = unsafe { (&mut *scratch.cast::<Path>(), &mut *scratch.cast::<Path>().add(1)) };
    match path {
        Some(path) => name.push(path.to_bytes()),
        None => default_name(name),
    }
    temporary.push(name.bytes());
    temporary.push(b".");
    temporary.push(decimal(profile::process() as u64, &mut [0; 20]));
    temporary.push(b".tmp");
    let result = write_named(name.c_str().ok_or(too_long), temporary.c_str().ok_or(too_long), caller);
    // SAFETY: mapped above, used no more.
    unsafe { sys::unmap(scratch, 2 * size_of::<Path>()) };
    result
}

fn write_named(name: sys::Result<&CStr>, temporary: sys::Result<&CStr>, caller: &Caller) -> sys::Result<()> {
    let (name, temporary) = (name?, temporary?);
    let fd = sys::open(temporary, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC, 0o644)?;
    let result = copy::write(fd, caller);
    sys::close(fd);
    result.and_then(|()| sys::rename(temporary, name)).inspect_err(|_| sys::unlink(temporary))
}

/// The counts begin here: the frames of this stack come to life without a call.
unsafe extern "C" fn reset(caller: &Caller) {
    if profile::active() {
        units::clear();
        walk::count_all(caller, -1);
    }
}
