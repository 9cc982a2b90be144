//! Code that Rust's test harness puts into a test program: its `main`, which has the place of the crate's first line,
//! and a closure around each test. Nobody has written these.

use cotree_core::facts::{Callee, Function};
use cotree_profile::source_names::rust_name;

/// Functions of the harness that only such code calls, by the beginnings of their names.
const CALLEES: [&str; 3] = ["test::test_main_static", "test::test_main", "test::assert_test_result"];

/// Is the function code of the harness?
#[must_use]
pub fn is_of_harness(function: &Function) -> bool {
    function.calls.iter().any(|call| match &call.callee {
        Callee::Symbol(symbol) => {
            rust_name(symbol).is_some_and(|name| CALLEES.iter().any(|callee| name.starts_with(callee)))
        }
        _ => false,
    })
}
