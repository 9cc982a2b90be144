//! Telling a module what the linker decided about its symbols.
//!
//! Modules are compiled one by one, so a symbol that only bitcode sees is *internal* only if no other module refers to
//! it, and *hidden* otherwise. Definitions that lost become `available_externally` (they may still be inlined, and their
//! copies carry counters of their own) or plain declarations.

use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMTypeKind, LLVMVisibility};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::ptr;

/// The linker's verdict on one symbol of a module, as this crate needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to do: undefined, or defined here and visible to native code or the outside.
    Keep,
    /// Defined here, and only bitcode modules of this link refer to it.
    OnlyBitcode,
    /// The definition here lost against another.
    Lost,
}

/// One symbol of a module.
#[derive(Clone, Debug)]
pub struct SymbolVerdict {
    /// The IR name.
    pub ir_name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Another module of the link refers to it.
    pub referenced_elsewhere: bool,
}

/// What kind of value a name stands for.
#[derive(Clone, Copy)]
enum Global {
    Function(LLVMValueRef),
    Variable(LLVMValueRef),
    Alias(LLVMValueRef),
}

impl Global {
    /// What the module has of that name.
    fn named(module: &Module, name: &CStr) -> Option<Self> {
        // SAFETY: lookups by a NUL-terminated name in a valid module.
        let [function, variable, alias] = unsafe {
            [
                LLVMGetNamedFunction(module.raw, name.as_ptr()),
                LLVMGetNamedGlobal(module.raw, name.as_ptr()),
                LLVMGetNamedGlobalAlias(module.raw, name.as_ptr(), name.count_bytes()),
            ]
        };
        if !function.is_null() {
            Some(Self::Function(function))
        } else if !variable.is_null() {
            Some(Self::Variable(variable))
        } else if !alias.is_null() {
            Some(Self::Alias(alias))
        } else {
            None // an ifunc, or a symbol of module assembly: they stay as they are
        }
    }

    fn value(self) -> LLVMValueRef {
        match self {
            Self::Function(value) | Self::Variable(value) | Self::Alias(value) => value,
        }
    }
}

/// Applies the verdicts to the module's linkage, visibility and comdats.
pub fn apply(module: &Module, symbols: &[SymbolVerdict]) {
    let pinned = pinned(module);
    let (mut lost, mut seen) = (Vec::new(), HashSet::new());
    for symbol in symbols {
        let Ok(name) = CString::new(symbol.ir_name.as_str()) else { continue };
        let Some(global) = Global::named(module, &name) else { continue };
        let value = global.value();
        // SAFETY: `value` is a global of the module.
        let (defined, linkage) = unsafe { (LLVMIsDeclaration(value) == 0, LLVMGetLinkage(value)) };
        if !defined {
            continue;
        }
        match symbol.verdict {
            Verdict::Keep => keep(value, linkage),
            // SAFETY: `value` is a global of the module.
            Verdict::OnlyBitcode if pinned.contains(&symbol.ir_name) || unsafe { in_a_set(value) } => {
                keep(value, linkage)
            }
            Verdict::OnlyBitcode => narrow(value, linkage, symbol.referenced_elsewhere),
            Verdict::Lost if seen.insert(value) => lost.push((global, linkage, name)),
            Verdict::Lost => {} // by assembly of the module, too
        }
    }
    // Aliases first: what they leave behind has fewer names.
    let (aliases, others): (Vec<_>, Vec<_>) = lost.into_iter().partition(|(g, ..)| matches!(g, Global::Alias(_)));
    let mut names = if aliases.is_empty() && others.is_empty() { HashMap::new() } else { aliases_of(module) };
    for (global, linkage, name) in aliases.into_iter().chain(others) {
        drop_definition(module, global, linkage, &name, &mut names);
    }
}

/// The prevailing copy of an inline function must be emitted even if this module does not use it.
fn keep(value: LLVMValueRef, linkage: LLVMLinkage) {
    // SAFETY: `value` is a global definition.
    unsafe {
        match linkage {
            LLVMLinkage::LLVMLinkOnceODRLinkage => LLVMSetLinkage(value, LLVMLinkage::LLVMWeakODRLinkage),
            LLVMLinkage::LLVMLinkOnceAnyLinkage => LLVMSetLinkage(value, LLVMLinkage::LLVMWeakAnyLinkage),
            _ => {}
        }
    }
}

fn narrow(value: LLVMValueRef, linkage: LLVMLinkage, referenced_elsewhere: bool) {
    // SAFETY: `value` is a global definition; a common symbol cannot be internal, so it stays common and hidden.
    unsafe {
        let common = matches!(linkage, LLVMLinkage::LLVMCommonLinkage);
        if referenced_elsewhere || common {
            keep(value, linkage);
            LLVMSetVisibility(value, LLVMVisibility::LLVMHiddenVisibility);
        } else {
            // Local symbols have default visibility and do not decide over a comdat.
            LLVMSetVisibility(value, LLVMVisibility::LLVMDefaultVisibility);
            LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
            if LLVMIsAGlobalAlias(value).is_null() {
                LLVMSetComdat(value, ptr::null_mut());
            }
        }
    }
}

fn drop_definition(module: &Module, global: Global, linkage: LLVMLinkage, name: &CStr, names: &mut Aliases) {
    let same_everywhere = matches!(linkage, LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMWeakODRLinkage);
    // SAFETY: all values belong to the module; linkages and comdats are set in an order that never leaves an invalid
    // combination for a later pass.
    unsafe {
        let aliases = names.remove(&global.value()).unwrap_or_default();
        match global {
            Global::Function(value) | Global::Variable(value) if !aliases.is_empty() => {
                // By its other names it is this very definition still.
                LLVMSetComdat(value, ptr::null_mut());
                declare_in_place_of(module, value, &aliases, value, name);
                let own = [name.to_bytes(), b".1"].concat();
                LLVMSetValueName2(value, own.as_ptr().cast(), own.len());
                LLVMSetVisibility(value, LLVMVisibility::LLVMDefaultVisibility);
                LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
            }
            Global::Function(function) => {
                LLVMSetComdat(function, ptr::null_mut());
                LLVMSetLinkage(function, LLVMLinkage::LLVMAvailableExternallyLinkage);
                if !same_everywhere {
                    // Another body will run: nobody may look into this one.
                    add_function_attribute(module, function, "noinline");
                    add_function_attribute(module, function, "optnone");
                    remove_function_attributes(module, function, &["alwaysinline", "optsize", "minsize"]);
                }
            }
            Global::Variable(variable) => {
                LLVMSetComdat(variable, ptr::null_mut());
                if same_everywhere && LLVMIsGlobalConstant(variable) != 0 {
                    LLVMSetLinkage(variable, LLVMLinkage::LLVMAvailableExternallyLinkage);
                } else {
                    LLVMSetInitializer(variable, ptr::null_mut());
                    LLVMSetLinkage(variable, LLVMLinkage::LLVMExternalLinkage);
                }
            }
            Global::Alias(alias) => {
                let target = LLVMAliasGetAliasee(alias);
                declare_in_place_of(module, alias, &aliases, target, name);
                let left = names.entry(target).or_default();
                left.retain(|&other| other != alias);
                left.extend(aliases);
                // The interface in C deletes no aliases. What is left of it is of nobody's use, and its target may become a declaration.
                let nothing = LLVMAddGlobal(module.raw, LLVMInt8TypeInContext(module.context), c"".as_ptr());
                LLVMSetInitializer(nothing, LLVMConstNull(LLVMInt8TypeInContext(module.context)));
                LLVMSetLinkage(nothing, LLVMLinkage::LLVMPrivateLinkage);
                LLVMSetVisibility(alias, LLVMVisibility::LLVMDefaultVisibility);
                LLVMSetLinkage(alias, LLVMLinkage::LLVMPrivateLinkage);
                LLVMAliasSetAliasee(alias, nothing);
            }
        }
    }
}

/// Gives the name of a definition to a declaration, and its uses, but for those by other names of it: `aliases` stand for `target` then.
///
/// # Safety
/// All values must be of the module, and `aliases` those of `value`.
unsafe fn declare_in_place_of(
    module: &Module,
    value: LLVMValueRef,
    aliases: &[LLVMValueRef],
    target: LLVMValueRef,
    name: &CStr,
) {
    // SAFETY: the caller's promise. LLVM lets an alias stand for a declaration until it is looked at.
    unsafe {
        let ty = LLVMGlobalGetValueType(value);
        let visibility = LLVMGetVisibility(value);
        LLVMSetValueName2(value, c"".as_ptr(), 0);
        let object = aliased(target);
        let declaration = if matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMFunctionTypeKind) {
            let declaration = LLVMAddFunction(module.raw, name.as_ptr(), ty);
            if !LLVMIsAFunction(object).is_null() {
                // Some have names of their own in objects.
                LLVMSetFunctionCallConv(declaration, LLVMGetFunctionCallConv(object));
            }
            declaration
        } else {
            let declaration = LLVMAddGlobal(module.raw, ty, name.as_ptr());
            if !LLVMIsAGlobalVariable(object).is_null() && LLVMIsThreadLocal(object) != 0 {
                LLVMSetThreadLocalMode(declaration, LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
            }
            declaration
        };
        LLVMSetVisibility(declaration, visibility);
        LLVMReplaceAllUsesWith(value, declaration);
        for &alias in aliases {
            LLVMAliasSetAliasee(alias, target);
        }
    }
}

/// What is behind all aliases of a value.
///
/// # Safety
/// `value` must be valid.
unsafe fn aliased(mut value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: what an alias stands for is valid, and no alias stands for itself.
    unsafe {
        while !LLVMIsAGlobalAlias(value).is_null() {
            value = LLVMAliasGetAliasee(value);
        }
    }
    value
}

/// The aliases that stand for each value.
type Aliases = HashMap<LLVMValueRef, Vec<LLVMValueRef>>;

/// All aliases of the module, by what they stand for.
fn aliases_of(module: &Module) -> Aliases {
    let mut aliases = Aliases::new();
    // SAFETY: each alias is of the module, until LLVM returns null.
    unsafe {
        let mut alias = LLVMGetFirstGlobalAlias(module.raw);
        while !alias.is_null() {
            aliases.entry(LLVMAliasGetAliasee(alias)).or_default().push(alias);
            alias = LLVMGetNextGlobalAlias(alias);
        }
    }
    aliases
}

/// Is it in a section whose name is a C identifier? The linker defines `__start_NAME` and `__stop_NAME` for those, and
/// programs walk what lies between: everything in it is used, though nobody names it.
///
/// # Safety
/// `value` must be a global.
unsafe fn in_a_set(value: LLVMValueRef) -> bool {
    // SAFETY: aliases have no section of their own; for others LLVM returns null or a string.
    unsafe {
        if !LLVMIsAGlobalAlias(value).is_null() {
            return false;
        }
        let section = LLVMGetSection(value);
        if section.is_null() {
            return false;
        }
        let name = CStr::from_ptr(section).to_bytes();
        !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') && !name[0].is_ascii_digit()
    }
}

/// Names in `llvm.used` and `llvm.compiler.used`: somebody (assembly, the author) counts on them as they are.
fn pinned(module: &Module) -> HashSet<String> {
    let mut names = HashSet::new();
    for list in [c"llvm.used", c"llvm.compiler.used"] {
        // SAFETY: both lists are arrays of pointers to globals; anything else is skipped.
        unsafe {
            let variable = LLVMGetNamedGlobal(module.raw, list.as_ptr());
            if variable.is_null() {
                continue;
            }
            let array = LLVMGetInitializer(variable);
            if array.is_null() {
                continue;
            }
            let count = u32::try_from(LLVMGetNumOperands(array)).unwrap_or(0);
            names.extend((0..count).map(|i| value_name(LLVMGetOperand(array, i))));
        }
    }
    names
}

/// The name of a value; empty if it has none.
///
/// # Safety
/// `value` must be valid.
pub(crate) unsafe fn value_name(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: LLVM returns a pointer into its own storage with the length.
    unsafe {
        let start = LLVMGetValueName2(value, &raw mut len);
        if start.is_null() || len == 0 {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len)).into_owned()
    }
}

/// Index of a function's own attributes (not its return value's or parameters').
pub(crate) const FUNCTION_INDEX: u32 = u32::MAX;

/// # Safety
/// `function` must be a function of the module.
pub(crate) unsafe fn add_function_attribute(module: &Module, function: LLVMValueRef, name: &str) {
    // SAFETY: an enum attribute without a value is valid on any function.
    unsafe {
        LLVMAddAttributeAtIndex(function, FUNCTION_INDEX, enum_attribute(module, name));
    }
}

/// # Safety
/// `function` must be a function of the module.
pub(crate) unsafe fn remove_function_attributes(_module: &Module, function: LLVMValueRef, names: &[&str]) {
    for name in names {
        // SAFETY: removing an attribute that is not there does nothing.
        unsafe { LLVMRemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(name)) };
    }
}

/// The number of an enum attribute.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: LLVM reads `len` bytes.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// An enum attribute without a value.
pub(crate) fn enum_attribute(module: &Module, name: &str) -> LLVMAttributeRef {
    // SAFETY: the kind is valid for this LLVM, or 0, which no caller asks for.
    unsafe { LLVMCreateEnumAttribute(module.context, attribute_kind(name), 0) }
}
