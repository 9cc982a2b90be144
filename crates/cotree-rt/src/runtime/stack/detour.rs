//! Lets walks get past a libc without unwind tables.
//!
//! musl has none, so a walk that starts in a handler called by `exit` or `abort` can't get through it. So we
//! note the program's last step into libc, and the walk continues there. The same serves a forked child.

use crate::arch::registers::Caller;
use crate::runtime::process::thread;
#[cfg(not(feature = "shared-library"))]
use core::sync::atomic::AtomicBool;
use core::sync::atomic::{AtomicU64, Ordering};

/// A [`Caller`] in a thread's record; all zero: none.
pub struct Place([AtomicU64; Caller::WORDS]);

impl Place {
    #[cfg(not(feature = "shared-library"))]
    fn set(&self, caller: &Caller) {
        for (word, value) in self.0.iter().zip(caller.words()) {
            word.store(value, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Option<Caller> {
        let caller = Caller::from_words(self.0.each_ref().map(|word| word.load(Ordering::Relaxed)));
        (caller.pc != 0).then_some(caller)
    }

    /// Forgets.
    pub fn clear(&self) {
        self.0[Caller::WORDS - 1].store(0, Ordering::Relaxed);
    }
}

/// Whether any thread remembers anything.
#[cfg(not(feature = "shared-library"))]
static USED: AtomicBool = AtomicBool::new(false);

/// This thread steps into libc and will not come back, unless by a jump.
#[cfg(not(feature = "shared-library"))]
pub fn remember(caller: &Caller) {
    USED.store(true, Ordering::Relaxed);
    if let Some((_, record)) = thread::current() {
        record.detour.set(caller);
    }
}

/// Steps into libc by a call that returns.
#[cfg(not(feature = "shared-library"))]
pub fn around<T>(caller: &Caller, call: impl FnOnce() -> T) -> T {
    let before = after(0);
    remember(caller);
    let result = call();
    match before {
        Some(before) => remember(&before),
        None => forget_below(caller.sp),
    }
    result
}

/// The stack below the stack pointer is dead: what was remembered there counts no more.
#[cfg(not(feature = "shared-library"))]
pub fn forget_below(sp: u64) {
    if USED.load(Ordering::Relaxed)
        && let Some((_, record)) = thread::current()
        && record.detour.get().is_some_and(|caller| caller.sp <= sp)
    {
        record.detour.clear();
    }
}

/// Where a walk of this thread's stack that got lost at the stack pointer can go on.
pub fn after(sp: u64) -> Option<Caller> {
    let (_, record) = thread::current()?;
    record.detour.get().filter(|caller| caller.sp > sp)
}

/// Whether nothing of the program is left on this thread's stack: its start routine has ended.
pub fn is_over() -> bool {
    thread::current().is_some_and(|(_, record)| record.state.load(Ordering::Relaxed) == thread::ENDING)
}

#[cfg(not(feature = "shared-library"))]
mod hooks {
    use super::{Caller, remember, thread};
    use crate::arch::entries::hook;
    use crate::arch::linkage::weak;
    use crate::runtime::hooks::interpose::real;
    use crate::runtime::os::call::call;
    use crate::runtime::{os::sys, stack::walk};
    use core::ffi::{c_int, c_void};

    hook!("exit", exit, 1);
    hook!("quick_exit", quick_exit, 1);
    hook!("pthread_exit", pthread_exit, 1);
    real!(real_exit = "exit");
    real!(real_quick_exit = "quick_exit");
    real!(real_pthread_exit = "pthread_exit");
    weak!(glibc_dynamic = "gnu_get_libc_version");
    weak!(glibc_static = "__libc_stack_end");

    unsafe extern "C" fn exit(status: c_int, caller: &Caller) -> ! {
        remember(caller);
        // SAFETY: libc's function.
        unsafe { call!(real_exit() => fn(status => c_int) -> ()) };
        sys::exit_group(status)
    }

    unsafe extern "C" fn quick_exit(status: c_int, caller: &Caller) -> ! {
        remember(caller);
        // SAFETY: libc's function.
        unsafe { call!(real_quick_exit() => fn(status => c_int) -> ()) };
        sys::exit_group(status)
    }

    /// musl runs cleanup handlers and unwinds nothing: all frames die here. glibc unwinds, and the trampoline's handler
    /// counts at the end of that.
    unsafe extern "C" fn pthread_exit(value: *mut c_void, caller: &Caller) {
        if glibc_dynamic().is_none() && glibc_static().is_none() {
            walk::count_all(caller, 1);
            if let Some((_, record)) = thread::current() {
                thread::ends(record);
            }
        }
        // SAFETY: libc's function.
        unsafe { call!(real_pthread_exit() => fn(value => *mut c_void) -> ()) };
    }
}
