//! Accounts for jumps: the frames that die are counted at their calls, and so is the target's frame. The target's call
//! that returns once more is counted −1, so the sum over the target's function stays right.

use crate::arch::jumps;
use crate::arch::registers::Caller;
use crate::layout::Flags;
use crate::runtime::os::own_stack;
use crate::runtime::process::counting::{Passed, check_accounting};
use crate::runtime::process::quick::{self, TargetFrame};
use crate::runtime::process::units;
use crate::runtime::stack::walk::Walk;
use crate::runtime::stack::{last_step, unwind};
use core::ffi::c_void;

/// Where a jump goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct JumpTarget {
    /// The stack pointer there.
    pub sp: u64,
    /// The address where the program goes on.
    pub pc: u64,
    /// That is the return address of a call, which returns once more.
    pub is_call: bool,
}

/// A jump that has been accounted for and is under way.
#[repr(C)]
pub struct PendingJump<'a> {
    pub target: JumpTarget,
    pub caller: &'a Caller,
}

impl PendingJump<'_> {
    /// Where it is.
    pub fn at(&self) -> *const c_void {
        core::ptr::from_ref(self).cast()
    }
}

/// A frame in the middle of a jump ends (`times` 1, or −1: it comes back) that stood at this stack pointer.
/// (`siglongjmp` and `setcontext` restore the signal mask first, and the handler of a signal that was waiting did not
/// return.) The jump does not take place: what was accounted for is taken back.
pub fn ended(sp: u64, times: i64) {
    // SAFETY: the frame of `make_jump` is still there, and so is that of its caller, which has the jump.
    let PendingJump { target, caller } = unsafe { &*jumps::pending_jump_at(sp).cast::<PendingJump>() };
    units::jump_is_unsure();
    account_times(*target, caller, -times);
}

/// Accounts for a jump.
#[inline]
pub fn account(target: JumpTarget, caller: &Caller) {
    account_times(target, caller, 1);
    last_step::forget_below(target.sp);
}

/// Accounts for a jump `times` times; −1 takes it back. False if there is no such frame.
#[inline]
pub fn account_times(target: JumpTarget, caller: &Caller, times: i64) -> bool {
    let accounted = match quick::with_registers() {
        Some(false) => account_quickly::<false>(target, caller, times),
        Some(true) => account_with_registers(target, caller, times),
        None => false,
    };
    accounted || own_stack::run(|| account_for_any(target, caller, times))
}

#[inline(never)]
fn account_with_registers(target: JumpTarget, caller: &Caller, times: i64) -> bool {
    account_quickly::<true>(target, caller, times)
}

/// Accounts for a jump, if all frames are of the usual kind.
#[inline(always)]
fn account_quickly<const REGISTERS: bool>(target: JumpTarget, caller: &Caller, times: i64) -> bool {
    let JumpTarget { sp, pc, is_call } = target;
    let Some(frame) = TargetFrame::<REGISTERS>::count(sp, 0, times, caller) else { return false };
    let found = frame.sp() == sp || holds(frame.pc(), pc);
    if found {
        frame.add(0, times);
        if is_call {
            // No path register: a path begins with the block of a `setjmp` call.
            frame.add_call(pc, -times);
        }
    } else {
        frame.take_back(times, caller);
    }
    found
}

/// Accounts for a jump, whatever frames there are.
#[cold]
#[inline(never)]
fn account_for_any(target: JumpTarget, caller: &Caller, times: i64) -> bool {
    let mut walk = Walk::new(caller);
    let mut frames = Passed::new(&walk);
    if !pass_to(target.sp, target.pc, &mut walk, &mut frames) {
        units::flag(Flags::FOREIGN_JUMP);
        units::jump_is_unsure();
        return false;
    }
    check_accounting(&walk);
    frames.count(caller, times);
    if target.is_call {
        units::frame(target.pc, 0, -times, None);
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
