//! `__cotree_resuming`: the generated code calls it before each `resume`.

use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::arch::registers::FrameRegisters;
use crate::runtime::record::Frames;
use crate::runtime::stack::marks;
use crate::runtime::unit;

entry!("__cotree_resuming", resuming, 0);

/// The activation is abandoned at the marker: the `_Unwind_Resume` that follows does not return, and is no known call.
/// Counting it here and now needs no memory of it later, whoever walks the stack next and wherever the exception goes.
unsafe extern "C" fn resuming(caller: &Caller) {
    marks::accounting(|| {
        let Some(frames) = Frames::get() else { return };
        // Outermost activations need none: generated code ends them where it resumes.
        if unit::notes_registers() {
            frames.record(caller.pc, 0, 1, Some(&FrameRegisters::of(caller)));
        } else {
            frames.record(caller.pc, 0, 1, None);
        }
    });
}
