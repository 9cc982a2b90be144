//! Hooks `fork`, `_Fork` and `vfork`.

use crate::arch::entries::{hook, vfork_hook};
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::call::call;
use crate::runtime::process::fork::around_fork;
use crate::runtime::process::units;
use crate::runtime::stack::last_step;
use crate::runtime::thread;
use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

hook!("fork", fork, 0);
hook!("_Fork", underscore_fork, 0);
real!(real_fork = "fork");
real!(real_underscore_fork = "_Fork");

/// The handlers do the work; walks of theirs may have to come back to here.
unsafe extern "C" fn fork(caller: &Caller) -> c_int {
    // SAFETY: libc's function.
    last_step::around(caller, || unsafe { call!(real_fork() => fn() -> c_int) })
}

/// The `fork` without handlers.
unsafe extern "C" fn underscore_fork(caller: &Caller) -> c_int {
    let real = real_underscore_fork();
    // SAFETY: libc's function.
    around_fork(caller, 0, || unsafe { call!(real => fn() -> c_int) })
}

unsafe extern "C" fn vfork_begins(caller: &Caller) {
    if let Some((_, record)) = thread::current().filter(|_| current::active()) {
        record.vfork_pc.store(caller.pc, Relaxed);
        record.vfork_sp.store(caller.sp, Relaxed);
        record.vfork_accounted.store(0, Relaxed);
    }
}

/// In the parent, after the child has ended or exec'd.
unsafe extern "C" fn vfork_ends(result: c_int) -> c_int {
    if let Some((_, record)) = thread::current().filter(|_| current::active()) {
        if result > 0 && record.vfork_accounted.load(Relaxed) == 0 {
            units::flag(Flags::FOREIGN_PROCESS);
        }
        record.vfork_sp.store(0, Relaxed);
    }
    if result < 0 {
        // SAFETY: this thread's errno.
        unsafe { *libc::__errno_location() = -result };
        return -1;
    }
    result
}

vfork_hook!(vfork_begins, vfork_ends);
