//! The post-link pipeline, and objects.

use crate::apply;
use crate::constructors;
use crate::error::Error;
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, value_name};
use crate::module::{Module, buffer_bytes, owned_message};
use crate::walk;
use cotree_profile::binary::FUNCS_SECTION;
use cotree_rt::layout::FUNCTION_MAGIC;
use llvm_sys::LLVMLinkage;
use llvm_sys::prelude::*;
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
    /// The map of this link tells of the functions. Records of others would be taken for its own by a later link.
    pub mapped: bool,
}

/// An object with the machine functions that it defines, in the order of their records in `.cotree.funcs`.
pub struct Object {
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Linker symbols of the machine functions.
    pub functions: Vec<String>,
}

/// Optimises the module and makes an object of it. Records in `.cotree.funcs` carry the function's index in
/// [`Object::functions`] and `module_number`.
///
/// # Errors
/// LLVM's own.
pub fn compile(module: &mut Module, target: &Target, module_number: u32) -> Result<Object, Error> {
    let machine = Machine::new(module, target)?;
    if target.level != Level::O0 {
        keep_carried_in_registers();
    }
    let level = match target.level {
        Level::O0 => "O0",
        Level::O1 => "O1",
        Level::O2 => "O2",
        Level::O3 => "O3",
        Level::Os => "Os",
        Level::Oz => "Oz",
    };
    let pipeline = match (target.level, target.whole_pipeline) {
        (Level::O0, _) | (_, true) => format!("default<{level}>"),
        _ => format!("thinlto<{level}>"),
    };
    machine.run(module, &pipeline)?;
    constructors::lay_out(module);
    // SAFETY: the module is valid between passes.
    let functions = unsafe { record_functions(module, target, module_number) };
    let bytes = machine.emit(module)?;
    Ok(Object { bytes, functions })
}

struct Machine(LLVMTargetMachineRef);

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
            let error = LLVMRunPasses(module.raw, passes.as_ptr(), self.0, options);
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

    fn emit(&self, module: &mut Module) -> Result<Vec<u8>, Error> {
        let mut message = ptr::null_mut();
        let mut buffer = ptr::null_mut();
        // SAFETY: out-pointers; the buffer is ours to dispose of.
        let outcome = unsafe {
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.0,
                module.raw,
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

/// Gives every function a section of its own (as `-ffunction-sections` does: the linker can drop it alone, and its call
/// addresses are told apart) and, if it is in the map, a record in `.cotree.funcs` that lives and dies with it.
///
/// # Safety
/// The module must be valid.
unsafe fn record_functions(module: &Module, target: &Target, module_number: u32) -> Vec<String> {
    let mut names = Vec::new();
    let section = CString::new(FUNCS_SECTION).expect("no NUL in our own names");
    // SAFETY: all values and types are of the module's context; nothing is removed while the list is walked.
    unsafe {
        let int32 = LLVMInt32TypeInContext(module.context);
        let pointer = LLVMPointerTypeInContext(module.context, 0);
        let mut fields = [pointer, int32, int32];
        let record = LLVMStructTypeInContext(module.context, fields.as_mut_ptr(), 3, 0);
        let associated = LLVMGetMDKindIDInContext(module.context, c"associated".as_ptr(), 10);
        for function in walk::functions(module) {
            let emitted = LLVMIsDeclaration(function) == 0
                && !matches!(LLVMGetLinkage(function), LLVMLinkage::LLVMAvailableExternallyLinkage);
            if emitted {
                own_section(function, &value_name(function));
            }
            if emitted && target.mapped {
                let name = value_name(function);
                let number = u64::try_from(names.len()).unwrap_or(u64::MAX);
                if apply::drop_empty_bundles(module, function) {
                    number_in_front(module, function, number);
                }
                // By a local name: a symbol that others may preempt would lead to its PLT entry in a shared library.
                let here = LLVMAddAlias2(module.raw, LLVMGlobalGetValueType(function), 0, function, c"".as_ptr());
                LLVMSetLinkage(here, LLVMLinkage::LLVMPrivateLinkage);
                let mut values =
                    [here, LLVMConstInt(int32, number, 0), LLVMConstInt(int32, u64::from(module_number), 0)];
                let global = LLVMAddGlobal(module.raw, record, c"".as_ptr());
                LLVMSetInitializer(global, LLVMConstStructInContext(module.context, values.as_mut_ptr(), 3, 0));
                LLVMSetGlobalConstant(global, 1);
                LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
                LLVMSetSection(global, section.as_ptr());
                LLVMSetAlignment(global, 8);
                let comdat = LLVMGetComdat(function);
                if !comdat.is_null() {
                    LLVMSetComdat(global, comdat);
                }
                let mut owner = [LLVMValueAsMetadata(function)];
                LLVMGlobalSetMetadata(global, associated, LLVMMDNodeInContext2(module.context, owner.as_mut_ptr(), 1));
                names.push(name);
            }
        }
    }
    names
}

/// Puts the function's number before its first instruction, where the runtime finds it by the unwind tables. A function
/// whose author has put something there goes without: its path registers are not known.
///
/// # Safety
/// `function` must be a definition of the module.
unsafe fn number_in_front(module: &Module, function: LLVMValueRef, number: u64) {
    // SAFETY: as the caller promises; constants of the module's context.
    unsafe {
        if LLVMHasPrefixData(function) != 0 {
            return;
        }
        let int32 = LLVMInt32TypeInContext(module.context);
        let magic = LLVMConstInt(LLVMInt64TypeInContext(module.context), FUNCTION_MAGIC, 0);
        let mut fields = [magic, LLVMConstInt(int32, number, 0), LLVMConstInt(int32, 0, 0)];
        let prefix = LLVMConstStructInContext(module.context, fields.as_mut_ptr(), 3, 0);
        LLVMSetPrefixData(function, prefix);
    }
}

/// # Safety
/// `function` must be a definition.
unsafe fn own_section(function: LLVMValueRef, name: &str) {
    // SAFETY: as the caller promises.
    unsafe {
        let known = LLVMGetSection(function);
        if !known.is_null() && !CStr::from_ptr(known).is_empty() {
            return;
        }
        let cold = !LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind("cold")).is_null();
        let prefix = if cold { ".text.unlikely" } else { ".text" };
        if let Ok(section) = CString::new(format!("{prefix}.{name}")) {
            LLVMSetSection(function, section.as_ptr());
        }
    }
}
