//! Checks that the compiler puts in: Rust's of overflow, of bounds, of divisors and of pointers. Such a branch leads to
//! a function of `core` that panics.

use cotree_core::facts::{Callee, Function};
use cotree_core::ids::Block;
use cotree_profile::source_names::rust_name;

/// Functions of `core` that only such checks call, by the beginnings of their names.
const PANICS: [&str; 9] = [
    "core::panicking::panic_bounds_check",
    "core::panicking::panic_const::",
    "core::panicking::panic_misaligned_pointer_dereference",
    "core::panicking::panic_null_pointer_dereference",
    "core::panicking::panic_invalid_enum_construction",
    "core::slice::index::slice_index_fail",
    "core::slice::index::slice_start_index_len_fail",
    "core::slice::index::slice_end_index_len_fail",
    "core::slice::index::slice_index_order_fail",
];

/// Per block: does it begin the panic of a check?
#[must_use]
pub fn failing_blocks(function: &Function) -> Vec<bool> {
    let mut failing = vec![false; function.blocks.len()];
    for call in &function.calls {
        if let Callee::Symbol(symbol) = &call.callee
            && rust_name(symbol).is_some_and(|name| PANICS.iter().any(|panic| name.starts_with(panic)))
        {
            failing[call.block.index()] = true;
        }
    }
    failing
}

/// Is a branch from one block to these a check?
#[must_use]
pub fn is_check(failing: &[bool], targets: impl Iterator<Item = Block>) -> bool {
    let mut targets = targets.map(|block| failing.get(block.index()).copied().unwrap_or(false));
    targets.any(|fails| fails)
}
