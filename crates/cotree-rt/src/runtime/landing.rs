//! Exceptions and forced unwinding (`pthread_exit`, cancellation).
//!
//! Nothing is hooked on the throw itself. A personality routine that wants to run a landing pad, be it a handler or a
//! cleanup, calls `_Unwind_SetIP` right before: the whole dead stack is still there, between that call and the frame
//! that lands. Its activations are counted at their calls; the landing one is tagged `LANDED`, because of the functions
//! inlined there only the inner ones are left. After a cleanup the unwinder is called again, which the generated code
//! announces by `__cotree_resuming`.

use super::linkage::{Caller, behind, call, entry, hook_name, real};
use super::walk::{self, Walk};
use super::process;
use crate::layout::{Flags, LANDED};
use core::ffi::c_void;

entry!(hook_name!("_Unwind_SetIP"), ".globl", set_ip, "rdx");
real!(real_set_ip = "_Unwind_SetIP");
behind!(real_get_ip = "_Unwind_GetIP");
behind!(real_get_cfa = "_Unwind_GetCFA");

unsafe extern "C" fn set_ip(context: *mut c_void, value: u64, caller: &Caller) {
    // SAFETY: the unwinder's functions with the personality's context.
    unsafe {
        let sp = call!(real_get_cfa() => fn(context => *mut c_void) -> u64);
        let pc = call!(real_get_ip() => fn(context => *mut c_void) -> u64);
        account(sp, pc, caller);
        call!(real_set_ip() => fn(context => *mut c_void, value => u64) -> ());
    }
}

/// The frame with that stack pointer lands, coming from the call that would have returned to `pc`.
fn account(sp: u64, pc: u64, caller: &Caller) {
    for (below, frame) in Walk::new(caller).enumerate() {
        if frame.sp == sp {
            // Another address than the frame's own: this landing was announced before.
            if frame.pc == pc {
                walk::count_first(caller, below, 1);
                process::count(pc, LANDED, 1);
            }
            return;
        }
    }
    process::flag(Flags::WALK_INCOMPLETE);
}
