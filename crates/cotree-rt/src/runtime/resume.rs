//! `__cotree_resuming`: the generated code calls it before each `resume`.

use super::linkage::{Caller, entry};
use super::registers::{self, Registers};
use super::{early, paths, unit};
use crate::layout::{ABANDONED, VALUE_SHIFT};

entry!("__cotree_resuming", resuming, "rdi");

/// The activation is abandoned at the marker: the `_Unwind_Resume` that follows does not return, and is no known call.
/// Counting it here and now needs no memory of it later, whoever walks the stack next and wherever the exception goes.
unsafe extern "C" fn resuming(caller: &Caller) {
    if let Some(address) = unit::link_address(caller.pc) {
        early::count(address, 1);
        registers::for_each(caller.pc, &Registers::of(caller), |number, value| {
            paths::count(ABANDONED | number << VALUE_SHIFT | address, value, 1);
        });
    }
}
