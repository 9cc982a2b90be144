//! Non-local jumps: `longjmp` and its kin, the compiler's `__builtin_longjmp`, `setcontext`.
//!
//! The frames that die are counted at their calls, and so is the target's frame. The target's `setjmp` call, which
//! returns once more, is counted −1, so the sum over the target's function stays right.
//!
//! The builtin form is no call. Generated code calls [`__cotree_builtin_longjmp`](builtin_longjmp) in place of the
//! jump, and [`__cotree_builtin_setjmp`](super::landed) behind `__builtin_setjmp`. That second call is what returns
//! once more, and counts the −1 itself: nothing but its own return address tells where it is.

use crate::layout::Flags;
use crate::runtime::file::profile;
use crate::runtime::hooks::interpose::{hook, real};
use crate::runtime::hooks::linkage::{Caller, entry_at};
use crate::runtime::os::own_stack;
use crate::runtime::process::units;
use crate::runtime::stack::quick::{self, Target};
use crate::runtime::stack::walk::{Passed, Walk};
use crate::runtime::stack::{detour, marks, unwind};
use core::ffi::{c_int, c_void};

hook!("longjmp", longjmp, "rdx");
hook!("_longjmp", underscore_longjmp, "rdx");
hook!("siglongjmp", siglongjmp, "rdx");
hook!("__longjmp_chk", longjmp_chk, "rdx");
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
            let (sp, pc) = target(buffer);
            let landing = Landing { sp, pc, is_call: true };
            account(landing, caller);
            cotree_rt_leap(buffer.cast(), value, real, &Leap { landing, caller });
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

entry_at!(
    "builtin_longjmp",
    // Shared libraries come here, too.
    ".globl __cotree_builtin_longjmp, cotree_builtin_longjmp_v1\n\
     .hidden __cotree_builtin_longjmp\n\
     .type __cotree_builtin_longjmp,@function\n\
     .type cotree_builtin_longjmp_v1,@function\n\
     __cotree_builtin_longjmp:\n\
     cotree_builtin_longjmp_v1:",
    builtin_longjmp,
    "rsi"
);

/// A buffer that `__builtin_setjmp` filled: frame pointer, address, stack pointer.
unsafe extern "C" fn builtin_longjmp(buffer: *const u64, caller: &Caller) {
    // SAFETY: the buffer has three words at least; `cotree_rt_builtin_jump` takes it.
    unsafe {
        let landing = Landing { sp: buffer.add(2).read(), pc: buffer.add(1).read(), is_call: false };
        if !profile::active() {
            return cotree_rt_builtin_jump(buffer);
        }
        marks::accounting(|| {
            account(landing, caller);
            super::landed::expect();
            let jump = cotree_rt_builtin_jump as unsafe extern "C" fn(*const u64) as *const c_void;
            cotree_rt_leap(buffer.cast(), 0, jump, &Leap { landing, caller });
        });
    }
}

unsafe extern "C" {
    /// Calls libc's function, which returns only if it fails, with the jump in the frame that it leaves behind.
    fn cotree_rt_leap(place: *const c_void, value: c_int, function: *const c_void, leap: &Leap) -> c_int;
    static cotree_rt_leaping: u8;
    /// What the compiler makes of `__builtin_longjmp`.
    fn cotree_rt_builtin_jump(buffer: *const u64);
}
core::arch::global_asm!(
    ".pushsection .text.cotree.leap,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_leap, cotree_rt_leaping",
    ".globl cotree_rt_leap, cotree_rt_leaping",
    ".type cotree_rt_leap,@function",
    "cotree_rt_leap:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov [rsp], rcx",
    "call rdx",
    "cotree_rt_leaping:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_leap, .-cotree_rt_leap",
    ".hidden cotree_rt_builtin_jump",
    ".globl cotree_rt_builtin_jump",
    ".type cotree_rt_builtin_jump,@function",
    "cotree_rt_builtin_jump:",
    ".cfi_startproc",
    "mov rbp, [rdi]",
    "mov rax, [rdi+8]",
    "mov rsp, [rdi+16]",
    "jmp rax",
    ".cfi_endproc",
    ".size cotree_rt_builtin_jump, .-cotree_rt_builtin_jump",
    ".popsection",
);

/// Whether the frame is that of a jump which has been accounted for.
pub fn is_leaping(pc: u64) -> bool {
    pc == &raw const cotree_rt_leaping as u64
}

/// A frame ends (`times` 1, or −1: it comes back) that stood at this code address with this stack pointer. If it was in
/// the middle of a jump (`siglongjmp` and `setcontext` restore the signal mask first, and the handler of a signal that
/// was waiting did not return), that jump does not take place: what was accounted for is taken back.
pub fn ended(pc: u64, sp: u64, times: i64) {
    if is_leaping(pc) {
        // SAFETY: the frame of `cotree_rt_leap` is still there, and so is that of its caller, which has the jump.
        let Leap { landing, caller } = unsafe { &**(sp as *const *const Leap) };
        units::jump_is_unsure();
        account_times(*landing, caller, -times);
    }
}

/// Stack pointer and return address of the `setjmp` call. Both libcs keep them in the seventh and eighth words; glibc
/// mangles them with the thread's pointer guard; musl does not, and then both look like addresses, which of mangled
/// ones not one pair in ten billion does.
///
/// # Safety
/// The buffer must have been filled by `setjmp`.
pub unsafe fn target(buffer: *const u64) -> (u64, u64) {
    // SAFETY: the caller vouches.
    let (sp, pc) = unsafe { (buffer.add(6).read(), buffer.add(7).read()) };
    if sp >> 47 == 0 && pc >> 47 == 0 {
        return (sp, pc);
    }
    let guard: u64;
    // SAFETY: glibc's thread control block has the guard there.
    unsafe { core::arch::asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, pure, readonly)) };
    (sp.rotate_right(17) ^ guard, pc.rotate_right(17) ^ guard)
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

hook!("setcontext", setcontext, "rsi");
// musl has none.
real!(weak real_setcontext = "setcontext");

/// A context saved on this stack is the target of a jump; a fresh one is another coroutine's, and what becomes of this
/// stack can't be known.
unsafe extern "C" fn setcontext(context: *const libc::ucontext_t, caller: &Caller) -> c_int {
    let real = real_setcontext();
    // SAFETY: a context that getcontext or makecontext filled; libc's function.
    marks::accounting(|| unsafe {
        let registers = &(*context).uc_mcontext.gregs;
        let (sp, pc) = (registers[libc::REG_RSP as usize] as u64, registers[libc::REG_RIP as usize] as u64);
        let landing = Landing { sp, pc, is_call: true };
        account(landing, caller);
        let failed = cotree_rt_leap(context.cast(), 0, real, &Leap { landing, caller });
        account_times(landing, caller, -1);
        failed
    })
}
