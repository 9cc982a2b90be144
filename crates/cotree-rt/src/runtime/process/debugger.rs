//! What a debugger asks of a process that it has stopped (`cotree gdb`): a copy of the profile, with the stack of the
//! thread that it looks at.
//!
//! The debugger writes a [`Request`] into the process and has the thread call the function whose address stands there.
//! All other threads stand still meanwhile, so nothing may wait for them.

use super::snapshot;
use crate::arch::context::Context;
use crate::arch::linkage::zeros;
use crate::arch::registers::AllRegisters;
use crate::runtime::file::current;
use crate::runtime::os::own_stack;
use crate::runtime::stack::walk::Top;
use crate::runtime::{slabs, unit};
use core::ffi::{CStr, c_int};

/// What the debugger reads and writes.
#[repr(C)]
struct Request {
    /// The address of [`copy`]; 0 before the profile begins.
    copy: usize,
    /// The thread's registers by DWARF number.
    registers: AllRegisters,
    /// The address of the instruction that comes next.
    pc: u64,
    /// Where to write the copy, with a zero behind it.
    path: [u8; MOST_PATH],
}

const MOST_PATH: usize = 4096;
const _: () = assert!(size_of::<Request>() == 4240);

zeros!("cotree_debugger_v1", 4240);

unsafe extern "C" {
    static mut cotree_debugger_v1: Request;
}

/// The answers, besides `errno` as a negative number.
const WRITTEN: c_int = 0;
const NO_PROFILE: c_int = 1;
const BUSY: c_int = 2;
const TRACED: c_int = 3;

/// Lets debuggers ask from now on.
pub fn start() {
    // SAFETY: before the program runs; nobody else writes it.
    unsafe { (&raw mut cotree_debugger_v1.copy).write_volatile(copy as extern "C" fn() -> c_int as usize) };
}

/// Writes the copy that the debugger has asked for.
extern "C" fn copy() -> c_int {
    if !current::active() || !current::is_written() {
        return NO_PROFILE;
    }
    // A trace knows nothing of a thread that goes on where it was interrupted.
    if unit::is_traced() {
        return TRACED;
    }
    // The thread, or another one, may have been stopped while it held the lock.
    if slabs::lock_soon().is_none() {
        return BUSY;
    }
    let request = &raw const cotree_debugger_v1;
    // SAFETY: the debugger has filled it, and everyone else stands still.
    let (registers, pc) = unsafe { ((&raw const (*request).registers).read_volatile(), (*request).pc) };
    // SAFETY: as above; the last byte is never written.
    let path = unsafe { CStr::from_ptr((&raw const (*request).path).cast()) };
    let context = Context::new(&registers, pc);
    match own_stack::run(|| snapshot::write(Some(path), Top::Interrupted(&context))) {
        Ok(()) => WRITTEN,
        Err(error) => -error.0,
    }
}
