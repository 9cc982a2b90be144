//! The `exec` family: a successful call ends the profile and never returns. So the profile is completed before the
//! call, and this is undone if the call fails.

use crate::arch::entries::{VARIADIC_REGISTERS, hook, variadic_hook};
use crate::arch::registers::Caller;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::call::call;
use crate::runtime::os::sys;
use crate::runtime::process::{end, units, vm_children};
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

type Text = *const c_char;
type List = *const *const c_char;

unsafe extern "C" {
    static environ: List;
}

hook!("execve", execve, 3);
hook!("execv", execv, 2);
hook!("execvp", execvp, 2);
hook!("execvpe", execvpe, 3);
hook!("fexecve", fexecve, 3);
hook!("execveat", execveat, 5);
real!(real_execvp = "execvp");
real!(real_execvpe = "execvpe");
real!(real_fexecve = "fexecve");

/// Runs the call between completing the profile and taking that back.
///
/// A libc may come by here again, from inside `execvp`. The mark is the process, for a `vfork` child leaves it behind
/// in its parent's memory.
pub fn with_profile_ended<T>(caller: &Caller, exec: impl FnOnce() -> T) -> T {
    static INSIDE: AtomicI32 = AtomicI32::new(0);
    let process = sys::process_id();
    if INSIDE.swap(process, Relaxed) == process {
        return exec();
    }
    let result = with_profile_ended_once(caller, exec);
    INSIDE.store(0, Relaxed);
    result
}

fn with_profile_ended_once<T>(caller: &Caller, exec: impl FnOnce() -> T) -> T {
    if vm_children::ended(caller, 1) {
        let result = exec();
        vm_children::ended(caller, -1);
        return result;
    }
    let flags = units::SavedFlags::take();
    let suspended = end::suspend(caller);
    let result = exec();
    if suspended {
        end::resume(caller, &flags);
    }
    result
}

unsafe extern "C" fn execve(path: Text, arguments: List, environment: List, caller: &Caller) -> c_int {
    with_profile_ended(caller, || {
        // SAFETY: the program's own arguments; errno is this thread's.
        unsafe {
            let error = sys::execve(path, arguments, environment);
            *libc::__errno_location() = error.0;
        }
        -1
    })
}

unsafe extern "C" fn execv(path: Text, arguments: List, caller: &Caller) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { execve(path, arguments, environ, caller) }
}

unsafe extern "C" fn execvp(file: Text, arguments: List, caller: &Caller) -> c_int {
    // SAFETY: libc's function with the program's arguments.
    with_profile_ended(caller, || unsafe { call!(real_execvp() => fn(file => Text, arguments => List) -> c_int) })
}

unsafe extern "C" fn execvpe(file: Text, arguments: List, environment: List, caller: &Caller) -> c_int {
    with_profile_ended(caller, || {
        // SAFETY: libc's function with the program's arguments.
        unsafe { call!(real_execvpe() => fn(file => Text, arguments => List, environment => List) -> c_int) }
    })
}

unsafe extern "C" fn fexecve(fd: c_int, arguments: List, environment: List, caller: &Caller) -> c_int {
    with_profile_ended(caller, || {
        // SAFETY: libc's function with the program's arguments.
        unsafe { call!(real_fexecve() => fn(fd => c_int, arguments => List, environment => List) -> c_int) }
    })
}

unsafe extern "C" fn execveat(
    folder: c_int,
    path: Text,
    arguments: List,
    environment: List,
    flags: c_int,
    caller: &Caller,
) -> c_int {
    with_profile_ended(caller, || {
        let words = [folder as usize, path as usize, arguments as usize, environment as usize, flags as usize, 0];
        // SAFETY: the program's own arguments; errno is this thread's.
        unsafe {
            if let Err(error) = sys::call(libc::SYS_execveat, words) {
                *libc::__errno_location() = error.0;
            }
        }
        -1
    })
}

variadic_hook!("execl", execl);
variadic_hook!("execlp", execlp);
variadic_hook!("execle", execle);

/// The arguments after the first: some in registers, the rest on the stack.
struct Variadic {
    registers: *const Text,
    stack: *const Text,
}

impl Variadic {
    /// # Safety
    /// The list must have that many.
    unsafe fn get(&self, index: usize) -> Text {
        // SAFETY: the caller vouches.
        unsafe {
            if index < VARIADIC_REGISTERS {
                self.registers.add(index).read()
            } else {
                self.stack.add(index - VARIADIC_REGISTERS).read()
            }
        }
    }

    /// As an array in fresh memory, with the index of its NULL.
    ///
    /// # Safety
    /// The list must end with NULL.
    unsafe fn list(&self) -> Option<(List, usize)> {
        let mut count = 0;
        // SAFETY: NULL-terminated; the memory has room for all and the NULL.
        unsafe {
            while !self.get(count).is_null() {
                count += 1;
            }
            let list = sys::map_anonymous((count + 1) * 8).ok()?.cast::<Text>();
            for index in 0..count {
                list.add(index).write(self.get(index));
            }
            Some((list.cast_const(), count))
        }
    }

    /// Gives back the memory of a list.
    fn free(list: List, count: usize) {
        // SAFETY: made by `list`.
        unsafe { sys::unmap(list.cast_mut().cast(), (count + 1) * 8) };
    }
}

fn out_of_memory() -> c_int {
    // SAFETY: this thread's errno.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    -1
}

unsafe extern "C" fn execl(path: Text, registers: *const Text, stack: *const Text, caller: &Caller) -> c_int {
    // SAFETY: the program's own arguments, ended by NULL.
    unsafe {
        let Some((list, count)) = (Variadic { registers, stack }).list() else { return out_of_memory() };
        let result = execve(path, list, environ, caller);
        Variadic::free(list, count);
        result
    }
}

unsafe extern "C" fn execlp(file: Text, registers: *const Text, stack: *const Text, caller: &Caller) -> c_int {
    // SAFETY: as above.
    unsafe {
        let Some((list, count)) = (Variadic { registers, stack }).list() else { return out_of_memory() };
        let result = execvp(file, list, caller);
        Variadic::free(list, count);
        result
    }
}

unsafe extern "C" fn execle(path: Text, registers: *const Text, stack: *const Text, caller: &Caller) -> c_int {
    let arguments = Variadic { registers, stack };
    // SAFETY: as above; the environment follows the NULL.
    unsafe {
        let Some((list, count)) = arguments.list() else { return out_of_memory() };
        let result = execve(path, list, arguments.get(count + 1).cast(), caller);
        Variadic::free(list, count);
        result
    }
}
