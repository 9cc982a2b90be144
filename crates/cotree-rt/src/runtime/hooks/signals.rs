//! Hooks the functions that set and ask for dispositions of signals: where our handler stands for the default
//! (`process::dispositions`), the program sees the default.
//!
//! The C library's own functions make the change. What they say of the disposition before is put right, and if the
//! program has gone back to the default, our handler comes back.

use crate::arch::entries::hook;
use crate::arch::registers::Caller;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::call::call;
use crate::runtime::process::dispositions;
use crate::runtime::process::handlers;
use core::ffi::c_int;

hook!("sigaction", sigaction, 3);
hook!("__sigaction", underscore_sigaction, 3);
hook!("signal", signal, 2);
hook!("bsd_signal", bsd_signal, 2);
hook!("ssignal", ssignal, 2);
hook!("sysv_signal", sysv_signal, 2);
hook!("__sysv_signal", underscore_sysv_signal, 2);
hook!("sigset", sigset, 2);
real!(real_sigaction = "sigaction");
real!(weak real_underscore_sigaction = "__sigaction");
real!(real_signal = "signal");
real!(weak real_bsd_signal = "bsd_signal");
real!(weak real_ssignal = "ssignal");
real!(weak real_sysv_signal = "sysv_signal");
real!(weak real_underscore_sysv_signal = "__sysv_signal");
real!(weak real_sigset = "sigset");

type Action = libc::sigaction;

macro_rules! action {
    ($function:ident, $real:ident) => {
        unsafe extern "C" fn $function(
            signal: c_int,
            new: *const Action,
            old: *mut Action,
            _caller: &Caller,
        ) -> c_int {
            // SAFETY: null or the program's structures, which may be one and the same; libc's function.
            unsafe {
                let is_default = new.as_ref().is_some_and(|new| new.sa_sigaction == libc::SIG_DFL);
                let said = dispositions::said(signal);
                let before = handlers::known(signal);
                let replaced = new.as_ref().map(|new| {
                    let mut replaced = *new;
                    replaced.sa_sigaction = handlers::in_place_of(signal, new.sa_sigaction, new.sa_flags);
                    replaced
                });
                let installed = replaced.as_ref().map_or(0, |new| new.sa_sigaction);
                let new = replaced.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
                let result = call!($real() => fn(signal => c_int, new => *const Action, old => *mut Action) -> c_int);
                if result != 0 {
                    handlers::put_back(signal, before);
                } else {
                    handlers::settle(signal, installed);
                    if let Some(old) = old.as_mut() {
                        old.sa_sigaction = handlers::behind(signal, before, old.sa_sigaction);
                    }
                    if let Some(old) = old.as_mut().filter(|old| dispositions::stands_for_default(old.sa_sigaction)) {
                        old.sa_sigaction = libc::SIG_DFL;
                        old.sa_flags = said.0;
                        (&raw mut old.sa_restorer).cast::<usize>().write(said.2);
                        (&raw mut old.sa_mask).cast::<u64>().write(said.1);
                    }
                    if is_default {
                        dispositions::settle(signal);
                    }
                }
                result
            }
        }
    };
}
action!(sigaction, real_sigaction);
action!(underscore_sigaction, real_underscore_sigaction);

macro_rules! handler {
    ($function:ident, $real:ident, $flags:expr) => {
        unsafe extern "C" fn $function(signal: c_int, handler: usize, _caller: &Caller) -> usize {
            let known = handlers::known(signal);
            let installed = handlers::in_place_of(signal, handler, $flags);
            // SAFETY: libc's function.
            let before = unsafe { call!($real() => fn(signal => c_int, installed => usize) -> usize) };
            if before == libc::SIG_ERR {
                handlers::put_back(signal, known);
            } else {
                handlers::settle(signal, installed);
            }
            let before = handlers::behind(signal, known, before);
            if before != libc::SIG_ERR && handler == libc::SIG_DFL {
                dispositions::settle(signal);
            }
            if dispositions::stands_for_default(before) { libc::SIG_DFL } else { before }
        }
    };
}
handler!(signal, real_signal, 0);
handler!(bsd_signal, real_bsd_signal, 0);
handler!(ssignal, real_ssignal, 0);
handler!(sysv_signal, real_sysv_signal, libc::SA_RESETHAND);
handler!(underscore_sysv_signal, real_underscore_sysv_signal, libc::SA_RESETHAND);
handler!(sigset, real_sigset, 0);
