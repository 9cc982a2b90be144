//! Non-local jumps: `longjmp` and its kin, the compiler's `__builtin_longjmp`, `setcontext`.
//!
//! Jumps are accounted for before they are made. The builtin form is no call: generated code calls
//! [`__cotree_builtin_longjmp`](builtin_longjmp) in place of the jump, and
//! [`__cotree_builtin_setjmp`](super::builtin_setjmp) behind `__builtin_setjmp`. That second call is what returns once
//! more, and counts the −1 itself: nothing but its own return address tells where it is.

use crate::arch::context::Context;
use crate::arch::entries::{entry_at, hook};
use crate::arch::jumps;
use crate::arch::linkage::shown;
use crate::arch::registers::Caller;
use crate::runtime::file::current;
use crate::runtime::hooks::interpose::real;
use crate::runtime::process::jumps::{JumpTarget, PendingJump, account, account_times};
use crate::runtime::stack::marks;
use core::ffi::{c_int, c_void};

hook!("longjmp", longjmp, 2);
hook!("_longjmp", underscore_longjmp, 2);
hook!("siglongjmp", siglongjmp, 2);
hook!("__longjmp_chk", longjmp_chk, 2);
real!(real_longjmp = "longjmp");
real!(real_underscore_longjmp = "_longjmp");
real!(real_siglongjmp = "siglongjmp");
#[cfg(not(feature = "static-executable"))]
real!(real_longjmp_chk = "__longjmp_chk");
#[cfg(feature = "static-executable")]
fn real_longjmp_chk() -> *const c_void {
    // Fortified programs only; a weak reference would not pull it from libc.a, and musl has none.
    real_longjmp()
}

macro_rules! jump {
    ($function:ident, $real:ident) => {
        unsafe extern "C" fn $function(buffer: *const u64, value: c_int, caller: &Caller) {
            // SAFETY: a jmp_buf that setjmp filled; libc's function.
            unsafe { jump(buffer, value, caller, $real()) };
        }
    };
}
jump!(longjmp, real_longjmp);
jump!(underscore_longjmp, real_underscore_longjmp);
jump!(siglongjmp, real_siglongjmp);
jump!(longjmp_chk, real_longjmp_chk);

/// # Safety
/// The buffer must have been filled by `setjmp`, and the function must be of `longjmp`'s kind.
unsafe fn jump(buffer: *const u64, value: c_int, caller: &Caller, real: *const c_void) {
    marks::accounting(|| {
        // SAFETY: the caller vouches.
        unsafe {
            let (sp, pc) = jumps::saved_by_setjmp(buffer);
            let target = JumpTarget { sp, pc, is_call: true };
            account(target, caller);
            jumps::make_jump(buffer.cast(), value, real, PendingJump { target, caller }.at());
        }
    });
}

entry_at!(
    "builtin_longjmp",
    // Shared libraries come here, too.
    shown!("__cotree_builtin_longjmp", "cotree_builtin_longjmp_v1"),
    builtin_longjmp,
    1
);

/// Jumps by a buffer that `__builtin_setjmp` filled.
unsafe extern "C" fn builtin_longjmp(buffer: *const u64, caller: &Caller) {
    // SAFETY: a buffer that `__builtin_setjmp` filled.
    unsafe {
        let (sp, pc) = jumps::saved_by_builtin_setjmp(buffer);
        let target = JumpTarget { sp, pc, is_call: false };
        if !current::active() {
            return jumps::builtin_jump(buffer);
        }
        marks::accounting(|| {
            account(target, caller);
            super::builtin_setjmp::expect();
            let jump = jumps::builtin_jump as unsafe extern "C" fn(*const u64) as *const c_void;
            jumps::make_jump(buffer.cast(), 0, jump, PendingJump { target, caller }.at());
        });
    }
}

hook!("setcontext", setcontext, 1);
// musl has none.
real!(weak real_setcontext = "setcontext");

/// A context saved on this stack is the target of a jump; a fresh one is another coroutine's, and what becomes of this
/// stack can't be known.
unsafe extern "C" fn setcontext(context: *const libc::ucontext_t, caller: &Caller) -> c_int {
    let real = real_setcontext();
    // SAFETY: a context that getcontext or makecontext filled; libc's function.
    marks::accounting(|| unsafe {
        let saved = Context::of(context);
        let target = JumpTarget { sp: saved.sp(), pc: saved.pc(), is_call: true };
        account(target, caller);
        let failed = jumps::make_jump(context.cast(), 0, real, PendingJump { target, caller }.at());
        account_times(target, caller, -1);
        failed
    })
}
