//! Static constructors and destructors in `.init_array` and `.fini_array`.
//!
//! Through the C API, LLVM's code generator offers only the older `.ctors` scheme, which mold does not know. So
//! we lay out the lists here, in the form that today's linkers expect.

use crate::ir::Value;
use crate::module::Module;
use std::ffi::{CStr, CString};

/// The priority of constructors that ask for none.
const DEFAULT_PRIORITY: u64 = 65535;

/// Turns `llvm.global_ctors` and `llvm.global_dtors` into arrays of function pointers, in order. It must run last
/// before code generation, because no pass knows these arrays.
pub(crate) fn lay_out(module: &mut Module) {
    for (list, section) in [(c"llvm.global_ctors", ".init_array"), (c"llvm.global_dtors", ".fini_array")] {
        for structor in structors(module, list) {
            let section = match structor.priority {
                DEFAULT_PRIORITY => section.into(),
                priority => format!("{section}.{priority:05}"),
            };
            add(module, &section, &structor);
        }
        module.delete_variable(list);
    }
}

/// A constructor or destructor.
struct Structor<'m> {
    priority: u64,
    function: Value<'m>,
    /// The global that it initialises or destroys, or null.
    key: Value<'m>,
}

/// The entries of a list, in the order in which they run.
fn structors<'m>(module: &'m Module, list: &CStr) -> Vec<Structor<'m>> {
    let entry = |entry: Value<'m>| {
        let [priority, function, key] = [entry.operand(0)?, entry.operand(1)?, entry.operand(2)?];
        // A null entry does nothing, and does not end the list.
        (!function.is_zero()).then_some(Structor { priority: priority.constant()?, function, key })
    };
    let array = module.variable(list).and_then(|list| list.initial_value());
    let mut structors: Vec<Structor<'m>> = array.into_iter().flat_map(Value::operands).filter_map(entry).collect();
    structors.sort_by_key(|structor| structor.priority);
    structors
}

fn add(module: &Module, section: &str, structor: &Structor<'_>) {
    let section = CString::new(section).expect("no NUL in our own names");
    let slot = module.private_variable(structor.function, 0);
    slot.set_section(&section);
    slot.set_alignment(8);
    // The linker drops it with the global that it initialises.
    let key = structor.key;
    if let Some(key) = key.as_function().map(|key| *key).or_else(|| key.as_variable().map(|key| *key)) {
        slot.join_comdat_of(key);
    }
}
