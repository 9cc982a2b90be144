//! Runs the post-link pipeline and emits objects.

use super::machine::{Machine, carry_on_stack, drop_bundles};
use super::target::{Level, Target};
use super::{constructors, crash};
use crate::error::Error;
use crate::ffi::keep_carried_in_registers;
use crate::ir::{At, Function};
use crate::lower;
use crate::module::Module;
use cotree_profile::binary::FUNCS_SECTION;
use cotree_rt::layout::FUNCTION_MAGIC;
use llvm_sys::LLVMLinkage;
use std::ffi::CString;

/// An object with the machine functions that it defines, in the order of their records in `.cotree.funcs`.
pub struct Object {
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Linker symbols of the machine functions.
    pub functions: Vec<String>,
    /// The functions whose calls carry nothing because LLVM crashes over it.
    pub without_notes: Vec<String>,
}

/// Runs what the compiler leaves to be done before modules are joined, on bitcode that comes without its
/// simplification.
///
/// # Errors
/// LLVM's own.
pub(crate) fn simplify(module: &mut Module, target: &Target) -> Result<(), Error> {
    if target.level == Level::O0 {
        return Ok(());
    }
    Machine::new(module, target)?.run(module, &format!("lto-pre-link<{}>", target.level.name()))
}

/// What clang does before it counts for its own PGO (`addPreInlinerPasses` and the passes before it): small functions
/// are inlined, and become as small as they are. Each copy then has counts of its own, and what is counted costs less.
const INLINE_SMALL: &str = "inferattrs,coro-early,function(lower-expect,simplifycfg,sroa,early-cse),\
    cgscc(inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>))";

/// The attribute with which LLVM's inliner takes another threshold for the calls of a function.
const THRESHOLD: &str = "function-inline-threshold";

/// Up to which cost functions are small: as `-preinline-threshold` in LLVM.
const SMALL: &str = "75";

/// Inlines the small functions of a module that is not optimised yet.
///
/// # Errors
/// LLVM's own.
pub(crate) fn inline_small(module: &mut Module, target: &Target) -> Result<(), Error> {
    let marked: Vec<(String, LLVMLinkage)> = module
        .functions()
        .filter(|function| !function.is_declaration() && function.text_attribute(THRESHOLD).is_none())
        .map(|function| {
            function.add_attribute(At::Function, module.text_attribute(THRESHOLD, SMALL));
            let linkage = function.linkage();
            function.set_linkage(lasting(linkage));
            (function.name(), linkage)
        })
        .collect();
    Machine::new(module, target)?.run(module, INLINE_SMALL)?;
    for (name, linkage) in marked {
        // Functions that only the module sees are gone if they have no callers left.
        let Ok(name) = CString::new(name) else { continue };
        if let Some(function) = module.function(&name) {
            function.remove_text_attribute(THRESHOLD);
            function.set_linkage(linkage);
        }
    }
    Ok(())
}

/// The linkage of a function that stays when it has no callers left. The linker may have chosen this module's copy.
fn lasting(linkage: LLVMLinkage) -> LLVMLinkage {
    match linkage {
        LLVMLinkage::LLVMLinkOnceAnyLinkage => LLVMLinkage::LLVMWeakAnyLinkage,
        LLVMLinkage::LLVMLinkOnceODRLinkage => LLVMLinkage::LLVMWeakODRLinkage,
        other => other,
    }
}

/// Splits the coroutines of a module into functions, which the compiler has left to the link.
///
/// # Errors
/// LLVM's own.
pub(crate) fn split_coroutines(module: &mut Module, target: &Target) -> Result<(), Error> {
    Machine::new(module, target)?.run(module, "cgscc(coro-split),coro-cleanup")
}

/// Moves local variables of a module from memory into registers. No block, edge or call changes.
///
/// # Errors
/// LLVM's own.
pub(crate) fn promote_variables(module: &mut Module, target: &Target) -> Result<(), Error> {
    Machine::new(module, target)?.run(module, "function(mem2reg)")
}

/// Unrolls loops of a small, constant number of turns. The compiler would have done so before its last simplifications,
/// but was told to leave it until the probes are in.
const UNROLL: &str = "function(loop(loop-unroll-full))";

/// Optimises the module and makes an object of it. Records in `.cotree.funcs` carry the function's index in
/// [`Object::functions`] and its origin, which `origin_of` knows by its symbol.
///
/// # Errors
/// LLVM's own.
pub fn compile(module: &mut Module, target: &Target, origin_of: &dyn Fn(&str) -> u32) -> Result<Object, Error> {
    let machine = Machine::new(module, target)?;
    if target.level != Level::O0 {
        keep_carried_in_registers();
    }
    let level = target.level.name();
    let pipeline = match (target.level, target.across_modules, target.whole_pipeline) {
        (Level::O0, ..) => format!("default<{level}>"),
        // The other pipelines have that pass.
        (_, false, true) => format!("pgo-icall-prom,default<{level}>"),
        (_, true, true) => format!("lto<{level}>"),
        (_, true, false) => format!("{UNROLL},lto<{level}>"),
        (_, false, false) => format!("{UNROLL},thinlto<{level}>"),
    };
    machine.run(module, &pipeline)?;
    constructors::lay_out(module);
    let Recorded { functions, mut carrying } = record_functions(module, target, origin_of);
    module.sweep();
    let without_notes = if target.careful { crash::suspects(&machine, module, &carrying)? } else { Vec::new() };
    carrying.retain(|name| !without_notes.contains(name));
    drop_bundles(module, &without_notes);
    let bytes = if target.carry_on_stack {
        carry_on_stack(module, &carrying);
        machine.emit(module)?
    } else {
        machine.emit_carrying(module, carrying)?
    };
    Ok(Object { bytes, functions, without_notes })
}

/// The functions of a module that the objects identify later.
struct Recorded {
    /// As in [`Object::functions`].
    functions: Vec<String>,
    /// The functions whose calls carry values.
    carrying: Vec<String>,
}

/// Gives every function a section of its own, as `-ffunction-sections` does: the linker can drop it alone, and its call
/// addresses are unambiguous. A function in the map also gets a record in `.cotree.funcs`, which the linker keeps or
/// drops with it.
fn record_functions(module: &Module, target: &Target, origin_of: &dyn Fn(&str) -> u32) -> Recorded {
    let (mut names, mut carrying) = (Vec::new(), Vec::new());
    let section = CString::new(FUNCS_SECTION).expect("no NUL in our own names");
    let associated = module.metadata_kind("associated");
    let is_emitted = |function: &Function<'_>| {
        !function.is_declaration() && function.linkage() != LLVMLinkage::LLVMAvailableExternallyLinkage
    };
    for function in module.functions().filter(is_emitted) {
        let name = function.name();
        own_section(function, &name);
        if !target.mapped {
            continue;
        }
        let number = u64::try_from(names.len()).unwrap_or(u64::MAX);
        if lower::drop_empty_bundles(module, function) {
            number_in_front(module, function, number);
            carrying.push(name.clone());
        }
        // Refer to it by a local name: a symbol that may be preempted would lead to its PLT entry in a shared library.
        let here = module.private_alias(*function);
        let numbers = [number, origin_of(&name).into()].map(|number| module.int32().constant(number));
        let record = module.private_variable(module.structure(&[here.into(), numbers[0], numbers[1]]), 0);
        record.make_read_only();
        record.set_section(&section);
        record.set_alignment(8);
        record.join_comdat_of(*function);
        record.set_metadata(associated, module.node(&[function.as_metadata()]));
        names.push(name);
    }
    Recorded { functions: names, carrying }
}

/// Puts the function's number before its first instruction, where the runtime finds it by the unwind tables. If the
/// author has put something there, the function gets no number, and its path registers are unknown.
fn number_in_front<'m>(module: &'m Module, function: Function<'m>, number: u64) {
    if !function.has_prefix() {
        let magic = module.int64().constant(FUNCTION_MAGIC);
        let numbers = [number, 0].map(|number| module.int32().constant(number));
        function.set_prefix(module.structure(&[magic, numbers[0], numbers[1]]));
    }
}

/// Gives the function the section that `-ffunction-sections` would, unless its author has named one.
fn own_section(function: Function<'_>, name: &str) {
    if function.section().is_some() {
        return;
    }
    let has = |name| function.has_attribute(At::Function, name);
    let prefix = match (has("hot"), has("cold")) {
        (true, _) => ".text.hot",
        (_, true) => ".text.unlikely",
        _ => ".text",
    };
    if let Ok(section) = CString::new(format!("{prefix}.{name}")) {
        function.set_section(&section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where LLVM can't compile it with values in registers at calls, it is compiled with these on the stack.
    #[test]
    fn running_out_of_registers_is_no_failure() {
        let text = include_str!("../../tests/out_of_registers.ll");
        let parse = || Module::parse_text("out_of_registers", text).expect("valid IR");
        let target = Target::new(Level::O2);
        let mut module = parse();
        keep_carried_in_registers();
        let machine = Machine::new(&module, &target).expect("a code generator");
        let failed = machine.emit(&mut parse()).err().map(|e| e.to_string());
        assert!(failed.as_ref().is_none_or(|e| e.contains("ran out of registers")), "{failed:?}");
        assert_eq!(machine.emit_carrying(&mut parse(), vec!["callee".into()]).is_err(), failed.is_some());

        let object = machine.emit_carrying(&mut module, vec!["caller".into(), "callee".into()]);
        assert!(object.is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")));
        let stores = module.to_text().matches("store volatile i64").count();
        assert_eq!(stores > 0, failed.is_some(), "{stores}");
    }
}
