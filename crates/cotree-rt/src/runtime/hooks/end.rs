//! Hooks the ends of the process that no handler of libc's precedes, and those from which a walk may not get
//! back through libc.

use crate::arch::entries::hook;
use crate::arch::linkage::weak;
use crate::arch::registers::Caller;
use crate::layout::State;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::call::call;
use crate::runtime::os::sys;
use crate::runtime::process::end::finish;
use crate::runtime::process::{counting, dispositions, units};
use crate::runtime::stack::last_step;
use crate::runtime::thread;
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `_exit` and its like: no handlers run, so all is done here.
pub unsafe extern "C" fn exit_now(status: c_int, caller: &Caller) -> ! {
    finish(caller, State::FINISHED);
    sys::exit_group(status)
}

hook!("_exit", exit_now, 1);
hook!("_Exit", exit_now, 1);
hook!("abort", abort, 0);
hook!("__assert_fail", assert_fail, 4);
real!(real_abort = "abort");
real!(real_assert_fail = "__assert_fail");

/// As libc's: a handler runs first, and may leave by a jump or an exit, which are followed like any other. Only
/// when nothing can stop the signal any more is the profile completed.
unsafe extern "C" fn abort(caller: &Caller) -> ! {
    if dispositions::disposition(libc::SIGABRT) > libc::SIG_IGN {
        let mask = sys::set_signal_mask(u64::MAX);
        sys::set_signal_mask(mask & !(1 << (libc::SIGABRT - 1)));
        last_step::remember(caller);
        // libc's own, so that the interrupted frame is not in this image.
        // SAFETY: the program asked for it.
        unsafe { libc::raise(libc::SIGABRT) };
    }
    finish(caller, State::ABORTED);
    // SAFETY: the default action for a signal; libc's function.
    unsafe {
        sys::set_disposition(libc::SIGABRT, &[libc::SIG_DFL, 0, 0, 0]);
        call!(real_abort() => fn() -> ());
    }
    sys::exit_group(134)
}

/// libc's own `abort` inside can't be seen. With a handler in place the profile stays as after a kill, unless the
/// handler leaves by a jump or an exit.
unsafe extern "C" fn assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    caller: &Caller,
) -> ! {
    if dispositions::disposition(libc::SIGABRT) <= libc::SIG_IGN {
        finish(caller, State::ABORTED);
    }
    // SAFETY: libc's function with the caller's arguments.
    unsafe {
        call!(real_assert_fail() => fn(text => *const c_char, file => *const c_char, line => c_uint,
            function => *const c_char) -> ());
    }
    sys::exit_group(134)
}

/// libc's would leave through its own `_exit`, unseen.
unsafe extern "C" fn daemon(stay: c_int, keep_streams: c_int, caller: &Caller) -> c_int {
    // SAFETY: plain libc calls; the paths are C strings.
    unsafe {
        match libc::fork() {
            -1 => return -1,
            0 => {}
            _ => exit_now(0, caller),
        }
        if libc::setsid() == -1 {
            return -1;
        }
        if stay == 0 && libc::chdir(c"/".as_ptr()) == -1 {
            return -1;
        }
        if keep_streams == 0 {
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            if null == -1 {
                return -1;
            }
            for stream in 0..3 {
                libc::dup2(null, stream);
            }
            if null > 2 {
                libc::close(null);
            }
        }
    }
    0
}
hook!("daemon", daemon, 2);

hook!("exit", exit, 1);
hook!("quick_exit", quick_exit, 1);
hook!("pthread_exit", pthread_exit, 1);
real!(real_exit = "exit");
real!(real_quick_exit = "quick_exit");
real!(real_pthread_exit = "pthread_exit");
weak!(glibc_dynamic = "gnu_get_libc_version");
weak!(glibc_static = "__libc_stack_end");

unsafe extern "C" fn exit(status: c_int, caller: &Caller) -> ! {
    last_step::remember(caller);
    // SAFETY: libc's function.
    unsafe { call!(real_exit() => fn(status => c_int) -> ()) };
    sys::exit_group(status)
}

unsafe extern "C" fn quick_exit(status: c_int, caller: &Caller) -> ! {
    last_step::remember(caller);
    // SAFETY: libc's function.
    unsafe { call!(real_quick_exit() => fn(status => c_int) -> ()) };
    sys::exit_group(status)
}

/// musl runs cleanup handlers and unwinds nothing: all frames die here. glibc unwinds, and the trampoline's handler
/// counts at the end of that.
unsafe extern "C" fn pthread_exit(value: *mut c_void, caller: &Caller) {
    if glibc_dynamic().is_none() && glibc_static().is_none() {
        counting::count_all(caller, 1);
        if let Some((_, record)) = thread::current() {
            units::end_thread(record);
        }
    }
    // SAFETY: libc's function.
    unsafe { call!(real_pthread_exit() => fn(value => *mut c_void) -> ()) };
}
