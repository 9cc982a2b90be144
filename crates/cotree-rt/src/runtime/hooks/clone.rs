//! Hooks libc's `clone`.
//!
//! A child that gets a copy of the memory and a stack of its own is as good as forked: it has a profile of its own from
//! the beginning, and whether it calls `exec` at once (as death tests of test frameworks do) or does some work, its
//! parent's counts are its parent's. It comes into being below a trampoline, with signals blocked until it has its
//! profile. Its stack is empty, so nothing is revived.
//!
//! Children that share memory or thread-local storage with their parents can't be followed, unless these wait for them.

use crate::arch::entries::entry;
use crate::arch::entries::{Answer, Call, call_entry};
use crate::arch::registers::Caller;
use crate::arch::system_calls::CLONE_BEGINS;
use crate::arch::trampolines;
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::hooks::interpose::real;
use crate::runtime::hooks::raw;
use crate::runtime::hooks::raw::is_system_call;
use crate::runtime::os::call::call;
use crate::runtime::os::sys;
use crate::runtime::process::{fork, units, vm_children};
use crate::runtime::thread;
use crate::runtime::thread::Thread;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

real!(real_clone = "clone");
call_entry!("clone", clone);
entry!("cotree_rt_clone_ends", ends, 1);

type Start = unsafe extern "C" fn(*mut c_void) -> c_int;

unsafe extern "C" fn clone(call: &Call) -> Answer {
    let real = real_clone();
    if current::active() && is_system_call(real, &CLONE_BEGINS) {
        let flags = call.arguments[1] as c_int;
        if flags & (libc::CLONE_VM | libc::CLONE_SETTLS) == 0
            && let Some((_, record)) = thread::current()
        {
            // SAFETY: the program asked for it.
            let value = unsafe { copied(call, record, real) };
            return Answer { made: 1, value: value.into() };
        }
        if flags & libc::CLONE_VM == 0 {
            units::flag(Flags::FOREIGN_PROCESS);
        } else if flags & libc::CLONE_VFORK == 0 {
            units::flag(Flags::THREAD_UNREGISTERED);
        } else {
            vm_children::begins();
        }
    }
    Answer { made: 0, value: real as i64 }
}

/// Makes a child with a copy of the memory, that of this thread's record, too.
///
/// # Safety
/// `real` must be libc's `clone`, and the program ask for this call.
unsafe fn copied(call: &Call, record: &Thread, real: *const c_void) -> c_int {
    let [stack, flags, argument, parent_id, thread_pointer] = call.arguments;
    // If the flags ask for it.
    let child_id = call.seventh();
    let signals = sys::set_signal_mask(u64::MAX);
    record.fork_signals.store(signals, Relaxed);
    // Those of a thread that runs have been used.
    record.start.store(call.number as usize, Relaxed);
    record.argument.store(argument, Relaxed);
    let own = core::ptr::from_ref(record).cast_mut().cast();
    // SAFETY: libc's function with the program's arguments, but for the start of the child, which gets these from the
    // record.
    let result = unsafe {
        call!(real => fn(trampolines::child as Start => Start, stack => usize, flags as c_int => c_int, own => *mut c_void,
            parent_id => usize, thread_pointer => usize, child_id => usize) -> c_int)
    };
    sys::set_signal_mask(signals);
    result
}

/// The child begins, before any code of the program.
pub unsafe extern "C" fn begins(record: &Thread) {
    fork::begin_on_empty_stack();
    sys::set_signal_mask(record.fork_signals.load(Relaxed));
}

/// The child's function has returned; libc then makes the system call that ends the thread.
unsafe extern "C" fn ends(status: c_int, caller: &Caller) -> c_int {
    raw::thread_ends(caller);
    status
}
