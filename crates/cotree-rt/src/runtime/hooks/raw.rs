//! Hooks `syscall`, for system calls of the program itself that begin or end processes and threads, or ask for
//! dispositions of signals.
//!
//! Only the link unit's own references come here, not those of shared libraries. An allocator may make system calls
//! while the program starts, so no symbol may have to be looked up here. System calls by assembly go unseen.

use crate::arch::entries::{Answer, Call, call_entry};
use crate::arch::registers::Caller;
use crate::arch::system_calls::{FORK, SYSCALL_BEGINS, VFORK, WRAPPER, is_wrapper};
use crate::layout::{Flags, State};
use crate::runtime::file::current;
use crate::runtime::hooks::end::exit_now;
use crate::runtime::hooks::exec;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::sys;
use crate::runtime::process::handlers;
use crate::runtime::process::{counting, dispositions, end, fork, units, vm_children};
use crate::runtime::stack::marks;
use crate::runtime::thread;
use core::ffi::{c_int, c_long, c_void};
use core::sync::atomic::Ordering::Relaxed;

real!(real_syscall = "syscall");

call_entry!("syscall", syscall);

unsafe extern "C" fn syscall(call: &Call) -> Answer {
    let real = real_syscall();
    if current::active()
        && is_followed(call.number)
        && is_system_call(real, &SYSCALL_BEGINS)
        // SAFETY: the program asked for it.
        && let Some(result) = unsafe { make(call) }
    {
        return Answer { made: 1, value: as_libc_has_it(result) };
    }
    Answer { made: 0, value: real as i64 }
}

fn is_followed(number: c_long) -> bool {
    use libc::{SYS_clone, SYS_clone3, SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_rt_sigaction};
    [SYS_clone, SYS_clone3, SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, FORK, SYS_rt_sigaction, VFORK]
        .contains(&number)
}

/// Whether the function behind is libc's, and not one of the program that happens to have its name (an emulator's
/// `syscall`).
pub fn is_system_call(function: *const c_void, begins: &[u8]) -> bool {
    let at = function as u64;
    if function.is_null() || !sys::readable(at & !7) || !sys::readable((at + WRAPPER as u64) & !7) {
        return false;
    }
    // SAFETY: both ends are readable, and no two pages lie between.
    is_wrapper(unsafe { &*function.cast() }, begins)
}

/// Makes a call of which the profile has to know; None: nothing needs to be done, or nothing can be but to flag it.
///
/// # Safety
/// The program must ask for it.
unsafe fn make(call: &Call) -> Option<sys::Result<usize>> {
    let [first, second, third, fourth, fifth] = call.arguments;
    let caller = &call.caller;
    match call.number {
        // SAFETY: the program asked for its end.
        libc::SYS_exit_group => unsafe { exit_now(first as c_int, caller) },
        libc::SYS_exit => {
            thread_ends(caller);
            None
        }
        number @ (libc::SYS_execve | libc::SYS_execveat) => {
            let arguments = [first, second, third, fourth, fifth, 0];
            // SAFETY: the program's own arguments.
            Some(exec::with_profile_ended(caller, || unsafe { sys::call(number, arguments) }))
        }
        // SAFETY: a child that goes on here, on a copy of this stack.
        FORK => Some(unsafe { forked(caller, FORK, call.arguments) }),
        libc::SYS_clone => {
            // SAFETY: as above.
            child(first as u64, second != 0).then(|| unsafe { forked(caller, libc::SYS_clone, call.arguments) })
        }
        libc::SYS_clone3 => {
            // Flags are the first word, the stack is the sixth of at least eight. Others ask whether the kernel knows
            // the call.
            let words = first as *const u64;
            if second < 64 || !sys::readable(first as u64) || !sys::readable(first as u64 + 40) {
                return None;
            }
            // SAFETY: readable, as the kernel says.
            let (flags, stack) = unsafe { (words.read_unaligned(), words.add(5).read_unaligned()) };
            // SAFETY: as above.
            child(flags, stack != 0).then(|| unsafe { forked(caller, libc::SYS_clone3, call.arguments) })
        }
        // SAFETY: the program asked for it.
        libc::SYS_rt_sigaction => Some(unsafe { set_action(call) }),
        VFORK => {
            units::flag(Flags::FOREIGN_PROCESS);
            None
        }
        _ => None,
    }
}

/// `rt_sigaction` as the program asks for it, with our handlers where they stand for the default.
///
/// # Safety
/// The program must ask for it.
unsafe fn set_action(call: &Call) -> sys::Result<usize> {
    let [first, second, third, fourth, _] = call.arguments;
    let (signal, new, old) = (first as c_int, second as *const [usize; 4], third as *mut [usize; 4]);
    let is_readable = |at: u64| sys::readable(at & !7);
    let asked = (!new.is_null() && is_readable(new as u64) && is_readable(new as u64 + 31))
        // SAFETY: readable, as the kernel says.
        .then(|| unsafe { new.read_unaligned() });
    let (said, before) = (dispositions::said(signal), handlers::known(signal));
    let replaced = asked.map(|[handler, flags, restorer, mask]| {
        [handlers::in_place_of(signal, handler, flags as c_int), flags, restorer, mask]
    });
    let new = replaced.as_ref().map_or(second, |replaced| &raw const *replaced as usize);
    // SAFETY: the program's own arguments, and a copy of one.
    let result = unsafe { sys::call(libc::SYS_rt_sigaction, [first, new, third, fourth, 0, 0]) };
    if result.is_err() {
        handlers::put_back(signal, before);
        return result;
    }
    if !old.is_null() {
        // SAFETY: the kernel has just filled its four words.
        unsafe {
            let mut was = old.read_unaligned();
            was[0] = handlers::behind(signal, before, was[0]);
            if dispositions::stands_for_default(was[0]) {
                was = [libc::SIG_DFL, said.0 as usize, said.2, said.1 as usize];
            }
            old.write_unaligned(was);
        }
    }
    if asked.is_some_and(|asked| asked[0] == libc::SIG_DFL) {
        dispositions::settle(signal);
    }
    result
}

/// A child that comes about with these flags: whether it is as good as forked. What can't be followed is flagged.
fn child(flags: u64, own_stack: bool) -> bool {
    if flags & libc::CLONE_VM as u64 != 0 {
        units::flag(Flags::THREAD_UNREGISTERED);
    } else if own_stack {
        units::flag(Flags::FOREIGN_PROCESS);
    } else {
        return true;
    }
    false
}

/// # Safety
/// The call must return in a child that has a copy of this stack.
unsafe fn forked(caller: &Caller, number: c_long, arguments: [usize; 5]) -> sys::Result<usize> {
    let [first, second, third, fourth, fifth] = arguments;
    // SAFETY: the caller vouches.
    fork::around_fork(caller, Ok(0), || unsafe { sys::call(number, [first, second, third, fourth, fifth, 0]) })
}

/// Nothing of libc's runs any more: the frames of this thread die here.
pub fn thread_ends(caller: &Caller) {
    if vm_children::ended(caller, 1) {
        return;
    }
    // The process ends with its last thread.
    if thread::others().next().is_none() {
        return end::finish(caller, State::FINISHED);
    }
    if let Some((_, record)) = thread::current().filter(|(_, record)| record.state.load(Relaxed) == thread::LIVE) {
        marks::accounting(|| {
            counting::count_all(caller, 1);
            let _held = thread::lock();
            units::thread_ends();
            // The kernel knows it for a moment yet, but nobody is to stop it.
            record.state.store(thread::FREE, Relaxed);
        });
    }
}

fn as_libc_has_it(result: sys::Result<usize>) -> i64 {
    match result {
        Ok(value) => value as i64,
        Err(error) => {
            // SAFETY: this thread's errno.
            unsafe { *libc::__errno_location() = error.0 };
            -1
        }
    }
}
