//! Non-local jumps: `longjmp` and its kin, the compiler's `__builtin_longjmp`, `setcontext`.
//!
//! The frames that die are counted at their calls, and so is the target's frame. The target's `setjmp` call, which
//! returns once more, is counted −1, so the sum over the target's function stays right.
//!
//! The builtin form is no call. Generated code calls [`__cotree_builtin_longjmp`](builtin_longjmp) in place of the
//! jump, and [`__cotree_builtin_setjmp`](super::landed) behind `__builtin_setjmp`. That second call is what returns
//! once more, and counts the −1 itself: nothing but its own return address tells where it is.

use crate::arch::context::Context;
use crate::arch::entries::entry_at;
use crate::arch::entries::hook;
use crate::arch::jumps;
use crate::arch::linkage::shown;
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::file::profile;
use crate::runtime::hooks::interpose::real;
use crate::runtime::os::own_stack;
use crate::runtime::process::units;
use crate::runtime::stack::quick::{self, Target};
use crate::runtime::stack::walk::{Passed, Walk};
use crate::runtime::stack::{detour, marks, unwind};
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
            let landing = Landing { sp, pc, is_call: true };
            account(landing, caller);
            jumps::leap(buffer.cast(), value, real, Leap { landing, caller }.at());
        }
    });
}

/// Where a jump goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Landing {
    /// The stack pointer there.
    pub sp: u64,
    /// The address where the program goes on.
    pub pc: u64,
    /// That is the return address of a call, which returns once more.
    pub is_call: bool,
}

/// A jump that has been accounted for and is under way.
#[repr(C)]
struct Leap<'a> {
    landing: Landing,
    caller: &'a Caller,
}

impl Leap<'_> {
    /// Where it is.
    fn at(&self) -> *const c_void {
        core::ptr::from_ref(self).cast()
    }
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
        let landing = Landing { sp, pc, is_call: false };
        if !profile::active() {
            return jumps::builtin_jump(buffer);
        }
        marks::accounting(|| {
            account(landing, caller);
            super::landed::expect();
            let jump = jumps::builtin_jump as unsafe extern "C" fn(*const u64) as *const c_void;
            jumps::leap(buffer.cast(), 0, jump, Leap { landing, caller }.at());
        });
    }
}

/// A frame ends (`times` 1, or −1: it comes back) that stood at this code address with this stack pointer. If it was in
/// the middle of a jump (`siglongjmp` and `setcontext` restore the signal mask first, and the handler of a signal that
/// was waiting did not return), that jump does not take place: what was accounted for is taken back.
pub fn ended(pc: u64, sp: u64, times: i64) {
    if jumps::is_leaping(pc) {
        // SAFETY: the frame of `leap` is still there, and so is that of its caller, which has the jump.
        let Leap { landing, caller } = unsafe { &*jumps::leap_at(sp).cast::<Leap>() };
        units::jump_is_unsure();
        account_times(*landing, caller, -times);
    }
}

/// Accounts for a jump.
#[inline]
pub fn account(landing: Landing, caller: &Caller) {
    account_times(landing, caller, 1);
    detour::forget_below(landing.sp);
}

/// Accounts for a jump `times` times; −1 takes it back. False if there is no such frame.
#[inline]
pub fn account_times(landing: Landing, caller: &Caller, times: i64) -> bool {
    let accounted = match quick::with_registers() {
        Some(false) => account_quickly::<false>(landing, caller, times),
        Some(true) => account_with_registers(landing, caller, times),
        None => false,
    };
    accounted || own_stack::run(|| account_for_any(landing, caller, times))
}

#[inline(never)]
fn account_with_registers(landing: Landing, caller: &Caller, times: i64) -> bool {
    account_quickly::<true>(landing, caller, times)
}

/// Accounts for a jump, if all frames are of the usual kind.
#[inline(always)]
fn account_quickly<const REGISTERS: bool>(landing: Landing, caller: &Caller, times: i64) -> bool {
    let Landing { sp, pc, is_call } = landing;
    let Some(target) = Target::<REGISTERS>::count(sp, 0, times, caller) else { return false };
    let found = target.sp() == sp || holds(target.pc(), pc);
    if found {
        target.add(0, times);
        if is_call {
            // No path register: a path begins with the block of a `setjmp` call.
            target.add_call(pc, -times);
        }
    } else {
        target.take_back(times, caller);
    }
    found
}

/// Accounts for a jump, whatever frames there are.
#[cold]
#[inline(never)]
fn account_for_any(landing: Landing, caller: &Caller, times: i64) -> bool {
    let mut walk = Walk::new(caller);
    let mut frames = Passed::new(&walk);
    if !pass_to(landing.sp, landing.pc, &mut walk, &mut frames) {
        units::flag(Flags::FOREIGN_JUMP);
        units::jump_is_unsure();
        return false;
    }
    walk.check_accounting();
    frames.count(caller, times);
    if landing.is_call {
        units::frame(landing.pc, 0, -times, None);
    }
    true
}

/// Whether the function with one return address has the other one, too.
fn holds(one: u64, other: u64) -> bool {
    unwind::function_range(one - 1).is_some_and(|(start, end)| start < other && other <= end)
}

/// Passes the frames that the jump ends, the target's included; false if that is not found.
fn pass_to(sp: u64, pc: u64, walk: &mut Walk, passed: &mut Passed) -> bool {
    while let Some(frame) = walk.advance() {
        passed.push(frame, walk);
        if frame.sp == sp {
            return true;
        }
        if frame.sp < sp && sp < frame.cfa && frame.cfa != u64::MAX {
            // The target's frame, unless it was larger at setjmp than it is now and this is a callee in the part that
            // it gave back: then the function of the next one holds the setjmp call.
            if !holds(frame.pc, pc)
                && let Some(next) = walk.next().filter(|next| holds(next.pc, pc))
            {
                passed.push(next, walk);
            }
            return true;
        }
    }
    false
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
        let landing = Landing { sp: saved.sp(), pc: saved.pc(), is_call: true };
        account(landing, caller);
        let failed = jumps::leap(context.cast(), 0, real, Leap { landing, caller }.at());
        account_times(landing, caller, -1);
        failed
    })
}
