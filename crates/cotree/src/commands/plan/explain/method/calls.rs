//! How the calls of a function are counted.

use super::super::code::Code;
use cotree_core::facts::Callee;
use cotree_core::method::calls::CallPlan;
use std::fmt::Write;

/// One line per counter.
pub(super) fn write(code: Code<'_>, plan: &CallPlan, out: &mut String) -> std::fmt::Result {
    for (number, (call, placed)) in plan.key.counted.iter().zip(&plan.probes).enumerate() {
        let callee = match code.function.calls.get(*call).map(|facts| &facts.callee) {
            Some(Callee::Symbol(symbol)) => symbol,
            Some(Callee::Assembly) => "assembly",
            Some(Callee::Fault) => "a fault",
            Some(Callee::Indirect) | None => "a pointer",
        };
        writeln!(out, "  counter {number}: {}, a call of {callee}", code.place(placed.place))?;
    }
    writeln!(out, "  nothing else is counted")
}
