//! Functions by which harnesses of benchmarks take the time stay functions, whatever is optimised together.

use crate::ir::At;
use crate::module::Module;
use cotree_core::facts::harness::CRITERION;
use cotree_profile::source_names::demangle;

/// Keeps them from being inlined.
pub(super) fn keep_apart(module: &Module) {
    // Hardly any module has them, and demangling takes long.
    let is_of_harness = |symbol: &str| symbol.contains("criterion") && CRITERION.contains(&demangle(symbol).as_str());
    for function in module.functions().filter(|function| !function.is_declaration() && is_of_harness(&function.name()))
    {
        function.remove_attribute(At::Function, "alwaysinline");
        function.add_attribute(At::Function, module.attribute("noinline"));
    }
}
