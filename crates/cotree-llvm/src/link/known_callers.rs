//! Finds functions of which all callers are known, so that their entries may follow from their callers' counts.
//!
//! All calls of such a function are visible. It is internal to its module, or the linker says that only bitcode of this
//! link refers to it. Nothing takes its address, and no assembly names it. It has no name that LLVM calls on its own,
//! as it does `memcpy`. The calls themselves show the rest ([`cotree_core::unit::call_points`]). Later changes to calls
//! by the optimiser do not matter. Counts describe the code at this point: a call that is inlined, or deleted with a
//! function that no longer has an effect, was made as often as its block ran.

use super::prepared::Prepared;
use cotree_core::facts::{Function, Linkage, linker_name};
use cotree_lto::protocol::{ModuleInput, Resolution, SymbolInput};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Per function of the unit, in order: is it certain that only calls by name in these modules can call it?
///
/// Without a linker (`modules` is `None`) only internal functions are certain. `foreign` are names that the user's
/// linker options redefine.
pub(crate) fn known_callers(prepared: &[Prepared], modules: Option<&[ModuleInput]>, foreign: &[String]) -> Vec<bool> {
    let named = named(prepared, modules, foreign);
    let known = |function: &Function| {
        let name = linker_name(&function.symbol);
        let local = match function.linkage {
            Linkage::Internal => true,
            Linkage::External => modules.is_some(),
            Linkage::Copy => false,
        };
        let measured = function.untouched.is_none();
        local && measured && !function.address_taken && !named.contains(name) && !is_library_name(name)
    };
    prepared.iter().flat_map(|p| &p.extracted.facts.functions).map(known).collect()
}

/// Per function of the unit, in order: does a call by its name in these modules reach it for certain?
///
/// In an executable nothing takes the place of functions that others see; in a `shared` library the linker must say
/// that nothing outside of it refers to them. LLVM does as it likes with calls of functions that it
/// knows. Where the compiler calls a hook before a function's first instruction, the hook may call that function.
pub(crate) fn reached_by_name(
    prepared: &[Prepared],
    modules: Option<&[ModuleInput]>,
    foreign: &[String],
    shared: bool,
) -> Vec<bool> {
    let named = named(prepared, modules, foreign);
    let visible = |symbol: &&SymbolInput| {
        matches!(symbol.resolution, Resolution::Prevailing | Resolution::PrevailingExported) && shared
    };
    let symbols = modules.into_iter().flatten().flat_map(|module| &module.symbols);
    let replaceable: HashSet<&str> = symbols.filter(visible).map(|symbol| linker_name(&symbol.ir_name)).collect();
    let hooked: HashSet<String> = prepared
        .iter()
        .flat_map(|p| p.module.functions())
        .filter(|function| HOOKS.iter().any(|hook| function.text_attribute(hook).is_some()))
        .map(|function| linker_name(&function.name()).to_owned())
        .collect();
    let reached = |function: &Function| {
        let name = linker_name(&function.symbol);
        let certain = match function.linkage {
            Linkage::Internal => true,
            Linkage::External => modules.is_some() && !replaceable.contains(name),
            Linkage::Copy => false,
        };
        certain
            && function.untouched.is_none()
            && ![named.contains(name), hooked.contains(name), is_library_name(name)].contains(&true)
    };
    prepared.iter().flat_map(|p| &p.extracted.facts.functions).map(reached).collect()
}

/// The names that assembly or linker options may give another meaning.
fn named<'a>(prepared: &'a [Prepared], modules: Option<&'a [ModuleInput]>, foreign: &'a [String]) -> HashSet<&'a str> {
    let assembly = prepared.iter().flat_map(|p| &p.extracted.named_in_assembly).map(String::as_str);
    let symbols = modules.into_iter().flatten().flat_map(|m| &m.symbols).filter(|s| s.ir_name.is_empty());
    assembly.chain(symbols.map(|s| s.name.as_str())).chain(foreign.iter().map(String::as_str)).collect()
}

/// Attributes of functions in which the code generator calls a hook before the first instruction.
const HOOKS: [&str; 4] =
    ["instrument-function-entry-inlined", "fentry-call", "function-instrument", "xray-instruction-threshold"];

/// Functions that our runtime replaces, besides those that LLVM knows.
const HOOKED: [&str; 15] = [
    "_Exit",
    "_Fork",
    "daemon",
    "dlclose",
    "execveat",
    "fexecve",
    "getrandom",
    "longjmp",
    "pthread_create",
    "pthread_exit",
    "quick_exit",
    "setcontext",
    "siglongjmp",
    "thrd_create",
    "vfork",
];

/// Names of functions that LLVM may call although the program does not, or instead of what the program calls: the
/// functions of the C library that it knows, and all that belong to compilers.
///
/// C reserves all names that begin with an underscore and a capital letter. Many programs have such names nonetheless
/// (`_PyObject_Free`), and so do mangled ones. Of these the compilers' are known by their beginnings.
fn is_library_name(name: &str) -> bool {
    let of_compiler = match name.strip_prefix('_') {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_uppercase()) => {
            ["Unwind_", "Block_", "IO_"].iter().any(|start| rest.starts_with(start))
                || ["Zn", "Zd"].iter().any(|start| operator(rest, start))
        }
        Some(_) => true,
        None => false,
    };
    static KNOWN: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("library_names.txt").split_whitespace().chain(HOOKED).collect());
    of_compiler || KNOWN.contains(name)
}

/// Is it a mangled operator for memory (`_Znw…`, `_Zna…`, `_Zdl…`, `_Zda…`)?
fn operator(rest: &str, start: &str) -> bool {
    rest.strip_prefix(start).is_some_and(|kind| kind.starts_with(['w', 'a', 'l']))
}

#[cfg(test)]
mod tests;
