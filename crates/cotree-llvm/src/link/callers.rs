//! Finds out who may call a function, which its own module alone does not show.

use super::prepared::Prepared;
use cotree_core::facts::{Call, Function, Untouched, linker_name};
use cotree_lto::protocol::{ModuleInput, Resolution};
use std::collections::{HashMap, HashSet};

/// Completes `address_taken` over the link unit: a function that is hidden in the linked file may have its address
/// taken by another module, or be known to native objects.
pub(crate) fn complete(prepared: &mut [Prepared], modules: &[ModuleInput]) {
    let taken: HashSet<String> = prepared.iter_mut().flat_map(|p| p.extracted.taken_elsewhere.drain()).collect();
    for (Prepared { extracted, .. }, module) in prepared.iter_mut().zip(modules) {
        let outside: HashSet<&str> = module
            .symbols
            .iter()
            .filter(|s| matches!(s.resolution, Resolution::Prevailing | Resolution::PrevailingExported))
            .map(|s| linker_name(&s.ir_name))
            .collect();
        for function in &mut extracted.facts.functions {
            let symbol = linker_name(&function.symbol);
            function.address_taken |= taken.contains(symbol) || outside.contains(symbol);
        }
    }
}

/// Which functions may be the first of ours on a thread's stack, one flag per function of the unit: those that code of
/// others may call, and those that functions without probes call. Not rustc's shims to the allocator: of
/// native code only Rust's library calls it, which starts no threads but by `pthread_create` and has no functions that
/// other code could call.
pub(crate) fn foreign(prepared: &[Prepared]) -> Vec<bool> {
    let functions = || prepared.iter().flat_map(|p| &p.extracted.facts.functions);
    let called: HashSet<&str> = functions()
        .filter(|facts| facts.untouched.is_some())
        .flat_map(|facts| facts.calls.iter().filter_map(Call::callee_name))
        .collect();
    let known = |facts: &Function| facts.address_taken && !is_allocator_shim(linker_name(&facts.symbol));
    functions().map(|facts| known(facts) || called.contains(linker_name(&facts.symbol))).collect()
}

/// Is it `__rust_alloc` or one of its like, which are in a crate `__rustc` that has nothing else?
fn is_allocator_shim(symbol: &str) -> bool {
    symbol.starts_with("_RNvC") && symbol.contains("_7___rustc")
}

/// Which functions may run while the program is still being relocated, because resolvers of ifuncs call them:
/// thread-local variables have no values then.
pub(crate) fn resolving(prepared: &[Prepared]) -> Vec<bool> {
    reachable(prepared, |function| function.untouched == Some(Untouched::IfuncResolver))
}

/// The functions that the roots may reach by calls, one flag per function of the unit.
pub(crate) fn reachable(prepared: &[Prepared], is_root: impl Fn(&Function) -> bool) -> Vec<bool> {
    let functions: Vec<&Function> = prepared.iter().flat_map(|p| &p.extracted.facts.functions).collect();
    let mut marked = vec![false; functions.len()];
    let mut work: Vec<usize> = (0..functions.len()).filter(|&n| is_root(functions[n])).collect();
    if work.is_empty() {
        return marked;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, facts) in functions.iter().enumerate() {
        by_name.entry(linker_name(&facts.symbol)).or_default().push(number);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    while let Some(number) = work.pop() {
        if std::mem::replace(&mut marked[number], true) {
            continue;
        }
        for name in functions[number].calls.iter().filter_map(Call::callee_name) {
            if seen.insert(name) {
                work.extend(by_name.get(name).into_iter().flatten());
            }
        }
    }
    marked
}
