//! Applies the linker's decisions about symbols to a module.
//!
//! Modules are compiled one by one, so a symbol that only bitcode sees is *internal* only if no other module refers to
//! it, and *hidden* otherwise. Definitions that lost become `available_externally` (they may still be inlined, and
//! their copies carry counters of their own) or plain declarations.

use crate::ir::{Alias, At, Global, Value};
use crate::module::Module;
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMVisibility};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};

/// The linker's verdict on one symbol of a module, as this crate needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing to do: undefined, or defined here and visible to native code or the outside.
    Keep,
    /// Defined here, and only bitcode modules of this link refer to it.
    OnlyBitcode,
    /// The definition here lost against another.
    Lost,
}

/// One symbol of a module.
#[derive(Clone, Debug)]
pub(super) struct SymbolVerdict {
    /// The IR name.
    pub(super) ir_name: String,
    /// The verdict.
    pub(super) verdict: Verdict,
    /// Another module of the link refers to it.
    pub(super) referenced_elsewhere: bool,
}

/// Applies the verdicts to the module's linkage, visibility and comdats.
pub(super) fn apply(module: &mut Module, symbols: &[SymbolVerdict]) {
    apply_to_globals(module, symbols);
    // Who has the definition constructs it: the constructor here went with the definition that lost.
    let is_defined = |key: Value<'_>| {
        let function = key.as_function().map(|function| *function);
        let global = function.or_else(|| key.as_variable().map(|variable| *variable));
        global.is_none_or(|global| {
            !global.is_declaration() && global.linkage() != LLVMLinkage::LLVMAvailableExternallyLinkage
        })
    };
    for list in [c"llvm.global_ctors", c"llvm.global_dtors"] {
        module.retain_in_list(list, |entry| entry.operand(2).is_none_or(is_defined));
    }
}

fn apply_to_globals(module: &Module, symbols: &[SymbolVerdict]) {
    let pinned = pinned(module);
    let (mut lost, mut seen) = (Vec::new(), HashSet::new());
    for symbol in symbols {
        let Ok(name) = CString::new(symbol.ir_name.as_str()) else { continue };
        let Some(global) = module.global(&name).filter(|global| !global.is_declaration()) else { continue };
        match symbol.verdict {
            Verdict::Keep => keep(global),
            Verdict::OnlyBitcode if pinned.contains(&symbol.ir_name) || in_a_set(global) => keep(global),
            Verdict::OnlyBitcode => narrow(global, symbol.referenced_elsewhere),
            Verdict::Lost if seen.insert(global) => lost.push((global, name)),
            Verdict::Lost => {} // by assembly of the module, too
        }
    }
    // Aliases first: what they leave behind has fewer names.
    let (aliases, others): (Vec<_>, Vec<_>) = lost.into_iter().partition(|(global, _)| global.is_alias());
    let mut names = if aliases.is_empty() && others.is_empty() { HashMap::new() } else { aliases_of(module) };
    for (global, name) in aliases.into_iter().chain(others) {
        drop_definition(module, global, &name, &mut names);
    }
}

/// Makes definitions internal that only other modules of the link referred to, which are now joined to this one.
pub(super) fn internalise<'a>(module: &Module, names: impl Iterator<Item = &'a str>) {
    let pinned = pinned(module);
    for name in names.filter(|name| !pinned.contains(*name)) {
        let Ok(name) = CString::new(name) else { continue };
        let Some(global) = module.global(&name).filter(|global| !global.is_declaration() && !in_a_set(*global)) else {
            continue;
        };
        let elsewhere = matches!(global.linkage(), LLVMLinkage::LLVMAvailableExternallyLinkage);
        if !elsewhere && !global.is_local() {
            narrow(global, false);
        }
    }
}

/// The prevailing copy of an inline function must be emitted even if this module does not use it.
fn keep(global: Global<'_>) {
    match global.linkage() {
        LLVMLinkage::LLVMLinkOnceODRLinkage => global.set_linkage(LLVMLinkage::LLVMWeakODRLinkage),
        LLVMLinkage::LLVMLinkOnceAnyLinkage => global.set_linkage(LLVMLinkage::LLVMWeakAnyLinkage),
        _ => {}
    }
}

fn narrow(global: Global<'_>, referenced_elsewhere: bool) {
    // A common symbol cannot be internal, so it stays common and hidden.
    let common = matches!(global.linkage(), LLVMLinkage::LLVMCommonLinkage);
    if referenced_elsewhere || common {
        keep(global);
        global.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
    } else {
        // Local symbols have default visibility and do not decide over a comdat.
        global.set_visibility(LLVMVisibility::LLVMDefaultVisibility);
        global.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        global.leave_comdat();
    }
}

/// Removes a definition that lost. Linkages and comdats are set in an order that never leaves an invalid combination.
fn drop_definition<'m>(module: &'m Module, global: Global<'m>, name: &CStr, names: &mut Aliases<'m>) {
    let same_everywhere =
        matches!(global.linkage(), LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMWeakODRLinkage);
    let aliases = names.remove(&global.into()).unwrap_or_default();
    if let Some(alias) = global.as_alias() {
        let target = alias.target();
        declare_in_place_of(module, global, &aliases, target, name);
        let left = names.entry(target).or_default();
        left.retain(|&other| other != alias);
        left.extend(aliases);
        // The C API can't delete aliases. Nothing uses the rest of it, and its target may become a declaration.
        alias.set_visibility(LLVMVisibility::LLVMDefaultVisibility);
        alias.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
        let address_space = alias.ty().address_space().unwrap_or_default();
        alias.set_target(module.private_variable(module.int8().zero(), address_space));
    } else if !aliases.is_empty() {
        // Its other names still refer to this definition.
        global.leave_comdat();
        declare_in_place_of(module, global, &aliases, global.into(), name);
        global.set_name(&format!("{}.1", name.to_string_lossy()));
        global.set_visibility(LLVMVisibility::LLVMDefaultVisibility);
        global.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    } else if let Some(function) = global.as_function() {
        function.leave_comdat();
        function.set_linkage(LLVMLinkage::LLVMAvailableExternallyLinkage);
        if !same_everywhere {
            // Another body will run, so the optimiser must not look into this one.
            function.add_attribute(At::Function, module.attribute("noinline"));
            function.add_attribute(At::Function, module.attribute("optnone"));
            for attribute in ["alwaysinline", "optsize", "minsize"] {
                function.remove_attribute(At::Function, attribute);
            }
        }
    } else if let Some(variable) = global.as_variable() {
        variable.leave_comdat();
        if same_everywhere && variable.is_read_only() {
            variable.set_linkage(LLVMLinkage::LLVMAvailableExternallyLinkage);
        } else {
            variable.undefine();
            variable.set_linkage(LLVMLinkage::LLVMExternalLinkage);
        }
    }
}

/// Gives the name of a definition to a declaration, and its uses, but for those by its aliases: these stand for
/// `target` then.
fn declare_in_place_of<'m>(
    module: &'m Module,
    global: Global<'m>,
    aliases: &[Alias<'m>],
    target: Value<'m>,
    name: &CStr,
) {
    let visibility = global.visibility();
    global.set_name("");
    let object = target.behind_aliases();
    let declaration = module.declare_like(name, global);
    if let (Some(declared), Some(defined)) = (declaration.as_function(), object.as_function()) {
        // Some have names of their own in objects.
        declared.set_convention(defined.convention());
    }
    if let (Some(declared), Some(defined)) = (declaration.as_variable(), object.as_variable())
        && defined.is_thread_local()
    {
        declared.set_thread_local(LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
    }
    declaration.set_visibility(visibility);
    global.replace_uses(declaration);
    // LLVM lets an alias stand for a declaration until it is looked at.
    for alias in aliases {
        alias.set_target(target);
    }
}

/// The aliases that stand for each value.
type Aliases<'m> = HashMap<Value<'m>, Vec<Alias<'m>>>;

/// All aliases of the module, by what they stand for.
fn aliases_of(module: &Module) -> Aliases<'_> {
    let mut aliases = Aliases::new();
    for alias in module.aliases() {
        aliases.entry(alias.target()).or_default().push(alias);
    }
    aliases
}

/// Is it in a section whose name is a C identifier? The linker defines `__start_NAME` and `__stop_NAME` for those, and
/// programs walk everything in between: all of it is used, although nothing names it.
fn in_a_set(global: Global<'_>) -> bool {
    global.section().is_some_and(|name| {
        let name = name.as_bytes();
        name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') && !name[0].is_ascii_digit()
    })
}

/// Names in `llvm.used` and `llvm.compiler.used`: assembly or the author relies on them.
pub(super) fn pinned(module: &Module) -> HashSet<String> {
    let lists = [c"llvm.used", c"llvm.compiler.used"];
    let arrays = lists.iter().filter_map(|list| module.variable(list)?.initial_value());
    arrays.flat_map(Value::operands).map(Value::name).collect()
}
