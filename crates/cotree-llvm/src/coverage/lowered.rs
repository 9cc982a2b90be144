//! Counters that rustc has LLVM make code of: additions to memory, which are taken out again.
//!
//! rustc runs LLVM's pass for them before anything else, also where it runs no other. Each counter is then an element
//! of a variable `__profc_NAME`, and `__profd_NAME` says of which function it is.

use super::parts::PARTS;
use crate::ir::{Instruction, Value, Variable};
use crate::module::Module;
use cotree_profile::coverage::name_hash;
use llvm_sys::LLVMOpcode;
use std::ffi::{CStr, CString};

/// What the names of arrays of counters begin with,
const COUNTERS: &str = "__profc_";
/// and those of what is said of functions.
const DATA: &str = "__profd_";

/// Lists of variables that are kept.
const KEPT: [&CStr; 2] = [c"llvm.used", c"llvm.compiler.used"];

/// Variables that are for LLVM's own runtime.
const OF_RUNTIME: [&CStr; 2] = [c"__llvm_profile_filename", c"__llvm_profile_raw_version"];

/// Does the module have counters of this kind?
pub(super) fn has_counters(module: &Module) -> bool {
    module.variables().any(|variable| variable.name().starts_with(COUNTERS))
}

/// Is it an addition to a counter?
pub(super) fn is_counter(instruction: Instruction<'_>) -> bool {
    instruction.opcode() == LLVMOpcode::LLVMAtomicRMW && instruction.operand(0).and_then(element).is_some()
}

/// The parts of an addition to a counter: name, hash, how many counters, no test vectors, which counter.
pub(super) fn parts(module: &Module, addition: Instruction<'_>) -> Option<[String; PARTS]> {
    let (counters, index) = element(addition.operand(0)?)?;
    let by_one = addition.operand(1)?.constant() == Some(1);
    let name = counters.name().strip_prefix(COUNTERS)?.to_owned();
    let data = module.variable(&CString::new(format!("{DATA}{name}")).ok()?)?.initial_value()?;
    let named = data.operand(0)?.constant()? == name_hash(&name);
    let hash = data.operand(1)?.constant()?;
    let count = counters.value_type().array_length()?;
    (by_one && named && index < count)
        .then(|| [name, hash.to_string(), count.to_string(), "0".into(), index.to_string()])
}

/// The array of counters that an address is in, and which of them it is.
fn element(address: Value<'_>) -> Option<(Variable<'_>, u64)> {
    let is_counters = |variable: &Variable<'_>| variable.name().starts_with(COUNTERS);
    if let Some(variable) = address.as_variable() {
        return Some((variable, 0)).filter(|(variable, _)| is_counters(variable));
    }
    let ty = address.constant_element_type()?;
    let variable = address.operand(0)?.as_variable().filter(is_counters)?;
    let last = address.operand(address.operand_count() - 1)?.constant()?;
    let index = match (address.operand_count(), ty.bits()) {
        (2, Some(8)) if last % 8 == 0 => last / 8,
        (2, Some(64)) => last,
        (3, None) if address.operand(1)?.is_zero() => last,
        _ => return None,
    };
    Some((variable, index))
}

/// Deletes the variables of counters that nothing adds to any more.
pub(super) fn delete_variables(module: &mut Module) {
    let names: Vec<String> = module.variables().map(|variable| variable.name()).collect();
    let names: Vec<&String> =
        names.iter().filter(|name| name.starts_with(COUNTERS) || name.starts_with(DATA)).collect();
    if names.is_empty() {
        return;
    }
    for list in KEPT {
        module.retain_in_list(list, |entry| !entry.name().starts_with(DATA));
    }
    // What is said of a function refers to its counters.
    for start in [DATA, COUNTERS] {
        for name in names.iter().filter(|name| name.starts_with(start)) {
            if let Ok(name) = CString::new(name.as_str()) {
                module.delete_variable(&name);
            }
        }
    }
    OF_RUNTIME.into_iter().for_each(|name| module.delete_variable(name));
}
