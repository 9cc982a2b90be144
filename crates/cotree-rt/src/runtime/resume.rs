//! `__cotree_resuming`: the generated code calls it before each `resume`.

use super::early;
use super::linkage::{Caller, entry};
use super::unit;

entry!("__cotree_resuming", resuming, "rdi");

/// The activation is abandoned at the marker: the `_Unwind_Resume` that follows does not return, and is no known call.
/// Counting it here and now needs no memory of it later, whoever walks the stack next and wherever the exception goes.
unsafe extern "C" fn resuming(caller: &Caller) {
    if let Some(address) = unit::link_address(caller.pc) {
        early::count(address, 1);
    }
}
