//! Exceptions and forced unwinding (`pthread_exit`, cancellation).
//!
//! The throw itself is not hooked. A personality routine that is about to run a landing pad, of a handler or of a
//! cleanup, calls `_Unwind_SetIP`. At that moment the whole dead stack is still there, between that call and the frame
//! with the landing pad. Its activations are counted at their calls. The entry of that frame is tagged
//! `AT_LANDING_PAD`, because of the functions inlined there only the inner ones are left. After a cleanup the generated
//! code calls the unwinder again, and before that `__cotree_resuming`.

use crate::arch::entries::hook;
use crate::arch::registers::Caller;
use crate::layout::{AT_LANDING_PAD, Flags};
use crate::runtime::hooks::interpose::{behind, real};
use crate::runtime::os::call::call;
use crate::runtime::os::own_stack;
use crate::runtime::process::counting::{Passed, check_accounting};
use crate::runtime::process::quick::{self, TargetFrame};
use crate::runtime::process::units;
use crate::runtime::stack::marks;
use crate::runtime::stack::walk::Walk;
use core::ffi::c_void;

hook!("_Unwind_SetIP", set_ip, 2);
// Programs without exceptions are linked without an unwinder.
real!(weak real_set_ip = "_Unwind_SetIP");
behind!(weak real_get_ip = "_Unwind_GetIP");
behind!(weak real_get_cfa = "_Unwind_GetCFA");

unsafe extern "C" fn set_ip(context: *mut c_void, value: u64, caller: &Caller) {
    // SAFETY: the unwinder's functions with the personality's context.
    unsafe {
        let pc = call!(real_get_ip() => fn(context => *mut c_void) -> u64);
        let sp = match real_get_cfa() {
            none if none.is_null() => None,
            function => Some(call!(function => fn(context => *mut c_void) -> u64)),
        };
        marks::find_unwinder(|| [raise(), go_on(), raise_again(), force()].map(|function| function as u64));
        marks::accounting(|| account(sp, pc, context as u64, caller));
        call!(real_set_ip() => fn(context => *mut c_void, value => u64) -> ());
    }
}

behind!(weak raise = "_Unwind_RaiseException");
behind!(weak go_on = "_Unwind_Resume");
behind!(weak raise_again = "_Unwind_Resume_or_Rethrow");
behind!(weak force = "_Unwind_ForcedUnwind");

/// The frame with that stack pointer goes on at a landing pad, coming from the call that would have returned to `pc`.
/// LLVM's unwinder may be linked without the function that tells the stack pointer: then it is the innermost frame in
/// that call.
///
/// The personality routine goes on, and may be the program's own code (Rust's is, with fat LTO). It and the unwinder,
/// in whose frame the context lies, come first.
fn account(sp: Option<u64>, pc: u64, context: u64, caller: &Caller) {
    let accounted = match (sp, quick::with_registers()) {
        (Some(sp), Some(false)) => account_quickly::<false>(sp, pc, context, caller),
        // What finds path registers takes more of the stack than an exception may.
        (Some(sp), Some(true)) => own_stack::run(|| account_quickly::<true>(sp, pc, context, caller)),
        _ => false,
    };
    if !accounted {
        own_stack::run(|| account_for_any(sp, pc, context, caller));
    }
}

/// Accounts for an exception that reaches a landing pad, if all frames are of the usual kind.
#[inline(always)]
fn account_quickly<const REGISTERS: bool>(sp: u64, pc: u64, context: u64, caller: &Caller) -> bool {
    let Some(target) = TargetFrame::<REGISTERS>::count(sp, context, 1, caller) else { return false };
    if target.sp() == sp && target.pc() == pc {
        target.add(AT_LANDING_PAD, 1);
        return true;
    }
    target.take_back(1, caller);
    // Accounted for before, if it is the frame.
    target.sp() == sp
}

/// Accounts for an exception that reaches a landing pad, whatever frames there are.
#[cold]
#[inline(never)]
fn account_for_any(sp: Option<u64>, pc: u64, context: u64, caller: &Caller) {
    let mut walk = Walk::new(caller);
    let mut below = Passed::new(&walk);
    let mut unwinding = true;
    while let Some(frame) = walk.advance() {
        unwinding &= frame.sp <= context;
        if unwinding {
            below.pass_over();
            continue;
        }
        if sp.map_or(frame.pc == pc, |sp| frame.sp == sp) {
            // Another address than the frame's own: this landing pad was accounted for before.
            if frame.pc == pc {
                check_accounting(&walk);
                below.count(caller, 1);
                units::frame(pc, AT_LANDING_PAD, 1, walk.registers());
            }
            return;
        }
        below.push(frame, &walk);
    }
    units::flag(Flags::WALK_INCOMPLETE);
}
