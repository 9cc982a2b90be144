//! LLVM's optimiser and code generator.

use super::target::{Level, Target};
use crate::error::Error;
use crate::ffi::*;
use crate::lower;
use crate::module::{Module, buffer_bytes, owned_message};
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMRelocMode, LLVMTargetMachineRef,
};
use std::ffi::{CStr, CString};
use std::ptr;

/// A code generator.
pub(super) struct Machine(LLVMTargetMachineRef);

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: made in `new`, disposed of once.
        unsafe { LLVMDisposeTargetMachine(self.0) };
    }
}

impl Machine {
    pub(super) fn new(module: &Module, target: &Target) -> Result<Self, Error> {
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

    pub(super) fn run(&self, module: &mut Module, pipeline: &str) -> Result<(), Error> {
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

    /// The code generator may run out of registers because of the values that calls carry
    /// ([`keep_carried_in_registers`]). The functions that its error names then carry these on the stack.
    pub(super) fn emit_carrying(&self, module: &mut Module, mut carrying: Vec<String>) -> Result<Vec<u8>, Error> {
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
}

/// Takes the notes off the calls of functions of these names.
pub(super) fn drop_bundles<'a>(module: &mut Module, functions: impl IntoIterator<Item = &'a String>) {
    for name in functions {
        let Ok(name) = CString::new(name.as_str()) else { continue };
        if let Some(function) = module.function(&name) {
            lower::drop_bundles(module, function);
        }
    }
    module.sweep();
}

/// Has the calls of functions of these names note what is on the stack.
pub(super) fn carry_on_stack<'a>(module: &mut Module, functions: impl IntoIterator<Item = &'a String>) {
    for name in functions {
        let Ok(name) = CString::new(name.as_str()) else { continue };
        if let Some(function) = module.function(&name) {
            lower::carry_on_stack(module, function);
        }
    }
    module.sweep();
}
