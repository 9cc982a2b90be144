//! `__cotree_resuming`: the generated code calls it before each `resume`.

use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::runtime::record::registers::Registers;
use crate::runtime::record::{self, Frames};
use crate::runtime::stack::{marks, unwind};

entry!("__cotree_resuming", resuming, 0);

unsafe extern "C" {
    fn __cotree_resuming();
}

/// Whether the code address is in there: then the frame's caller was interrupted between its last known call and its
/// end.
pub fn is_announcing(pc: u64) -> bool {
    let start = __cotree_resuming as unsafe extern "C" fn() as usize as u64;
    // The entry has no more than so many bytes.
    (start..start + 128).contains(&pc) && unwind::function_range(pc).is_some_and(|range| range.0 == start)
}

/// The activation is abandoned at the marker: the `_Unwind_Resume` that follows does not return, and is no known call.
/// Counting it here and now needs no memory of it later, whoever walks the stack next and wherever the exception goes.
unsafe extern "C" fn resuming(caller: &Caller) {
    marks::accounting(|| {
        let Some(frames) = Frames::get() else { return };
        if record::wants_registers() {
            frames.record(caller.pc, 0, 1, Some(&Registers::of(caller)));
        } else {
            frames.record(caller.pc, 0, 1, None);
        }
    });
}
