//! Runs the post-link pipeline and emits objects.

use super::{constructors, crash};
use crate::error::Error;
use crate::ffi::*;
use crate::ir::{At, Function};
use crate::lower;
use crate::module::{Module, buffer_bytes, owned_message};
use cotree_profile::binary::FUNCS_SECTION;
use cotree_rt::layout::FUNCTION_MAGIC;
use llvm_sys::LLVMLinkage;
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode, LLVMTargetMachineRef,
};
use std::ffi::{CStr, CString};
use std::ptr;

/// An `-O` level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `-O0`
    O0,
    /// `-O1`
    O1,
    /// `-O2`
    O2,
    /// `-O3`
    O3,
    /// `-Os`
    Os,
    /// `-Oz`
    Oz,
}

impl Level {
    /// As pipelines are named.
    fn name(self) -> &'static str {
        match self {
            Level::O0 => "O0",
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
            Level::Oz => "Oz",
        }
    }
}

/// What the code generator needs to know besides the IR.
#[derive(Clone, Debug)]
pub struct Target {
    /// The optimisation level.
    pub level: Level,
    /// The processor, where functions do not name their own.
    pub cpu: String,
    /// Code may be loaded anywhere.
    pub position_independent: bool,
    /// The bitcode comes without the compiler's own simplification: run the whole pipeline.
    pub whole_pipeline: bool,
    /// The bitcode holds all that is compiled together: the rest of the pipeline is the one of full link-time
    /// optimisation.
    pub across_modules: bool,
    /// The map of this link describes the functions. Without it they get no records, which a later link would take for
    /// its own.
    pub mapped: bool,
    /// Values that calls carry are on the stack, in all functions.
    pub carry_on_stack: bool,
    /// LLVM has crashed: find the functions whose calls can't carry anything, by attempts in forked children. No other
    /// thread of the process may run.
    pub careful: bool,
}

impl Target {
    /// Position-independent code of a program for any x86-64, optimised by the compiler already.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Self {
            level,
            cpu: "x86-64".into(),
            position_independent: true,
            whole_pipeline: false,
            across_modules: false,
            mapped: true,
            carry_on_stack: false,
            careful: false,
        }
    }
}

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

pub(super) fn drop_bundles<'a>(module: &mut Module, functions: impl IntoIterator<Item = &'a String>) {
    for name in functions {
        let Ok(name) = CString::new(name.as_str()) else { continue };
        if let Some(function) = module.function(&name) {
            lower::drop_bundles(module, function);
        }
    }
    module.sweep();
}

fn carry_on_stack<'a>(module: &mut Module, functions: impl IntoIterator<Item = &'a String>) {
    for name in functions {
        let Ok(name) = CString::new(name.as_str()) else { continue };
        if let Some(function) = module.function(&name) {
            lower::carry_on_stack(module, function);
        }
    }
    module.sweep();
}

pub(super) struct Machine(LLVMTargetMachineRef);

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: made in `new`, disposed of once.
        unsafe { LLVMDisposeTargetMachine(self.0) };
    }
}

impl Machine {
    fn new(module: &Module, target: &Target) -> Result<Self, Error> {
        let failed =
            |reason: String| Error::Llvm { module: module.name.clone(), step: "set up the code generator", reason };
        let triple = CString::new(module.triple()).map_err(|e| failed(e.to_string()))?;
        let cpu = CString::new(target.cpu.as_str()).map_err(|e| failed(e.to_string()))?;
        let level = match target.level {
            Level::O0 => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            Level::O1 => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            Level::O3 => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
            Level::O2 | Level::Os | Level::Oz => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        };
        let reloc =
            if target.position_independent { LLVMRelocMode::LLVMRelocPIC } else { LLVMRelocMode::LLVMRelocStatic };
        // SAFETY: NUL-terminated strings; out-pointers of the right types.
        unsafe {
            let mut found = ptr::null_mut();
            let mut message = ptr::null_mut();
            if LLVMGetTargetFromTriple(triple.as_ptr(), &raw mut found, &raw mut message) != 0 {
                return Err(failed(owned_message(message)));
            }
            let machine = LLVMCreateTargetMachine(
                found,
                triple.as_ptr(),
                cpu.as_ptr(),
                c"".as_ptr(),
                level,
                reloc,
                LLVMCodeModel::LLVMCodeModelDefault,
            );
            if machine.is_null() {
                return Err(failed(format!("no code generator for {}", module.triple())));
            }
            Ok(Self(machine))
        }
    }

    fn run(&self, module: &mut Module, pipeline: &str) -> Result<(), Error> {
        let passes = CString::new(pipeline).expect("pipelines are our own");
        // SAFETY: options live through the run; an error is taken over with its message.
        let error = unsafe {
            let options = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
            LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
            LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
            let error = LLVMRunPasses(module.raw_to_change(), passes.as_ptr(), self.0, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                None
            } else {
                let message = LLVMGetErrorMessage(error);
                let text = CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(message);
                Some(text)
            }
        };
        let mut reasons: Vec<String> = error.into_iter().collect();
        reasons.extend(module.take_errors());
        if reasons.is_empty() {
            return Ok(());
        }
        Err(Error::Llvm { module: module.name.clone(), step: "optimise", reason: reasons.join("; ") })
    }

    /// The code generator may run out of registers because of the values that calls carry
    /// ([`keep_carried_in_registers`]). The functions that its error names then carry these on the stack.
    fn emit_carrying(&self, module: &mut Module, mut carrying: Vec<String>) -> Result<Vec<u8>, Error> {
        if carrying.is_empty() {
            return self.emit(module);
        }
        let before = module.to_bitcode();
        let mut on_stack = Vec::new();
        loop {
            let failed = match self.emit(module) {
                Err(Error::Llvm { module, step, reason }) => (module, step, reason),
                outcome => return outcome,
            };
            let named = |name: &mut String| failed.2.contains(&format!("'{name}'"));
            let known = on_stack.len();
            on_stack.extend(carrying.extract_if(.., named));
            if on_stack.len() == known {
                let (module, step, reason) = failed;
                return Err(Error::Llvm { module, step, reason });
            }
            // The failed attempt has changed the module.
            *module = Module::parse(&module.name, &before)?;
            carry_on_stack(module, &on_stack);
        }
    }

    pub(super) fn emit(&self, module: &mut Module) -> Result<Vec<u8>, Error> {
        let mut message = ptr::null_mut();
        let mut buffer = ptr::null_mut();
        // SAFETY: out-pointers; the buffer is ours to dispose of.
        let outcome = unsafe {
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.0,
                module.raw_to_change(),
                LLVMCodeGenFileType::LLVMObjectFile,
                &raw mut message,
                &raw mut buffer,
            ) != 0;
            if failed {
                Err(owned_message(message))
            } else {
                let bytes = buffer_bytes(buffer).to_vec();
                LLVMDisposeMemoryBuffer(buffer);
                Ok(bytes)
            }
        };
        let errors = module.take_errors();
        match outcome {
            Ok(bytes) if errors.is_empty() => Ok(bytes),
            Ok(_) => Err(Error::Llvm { module: module.name.clone(), step: "generate code", reason: errors.join("; ") }),
            Err(reason) => Err(Error::Llvm { module: module.name.clone(), step: "generate code", reason }),
        }
    }
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
