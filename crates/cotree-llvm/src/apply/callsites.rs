//! Numbers on call sites, so that a machine return address leads back to its call, through inlining.
//!
//! The number sits in the discriminator of the call's debug location, in the encoding of LLVM's pseudo probes. The code
//! generator writes it with the call's address and inlining chain into `.pseudo_probe`; nothing is executed for it. Where
//! the program has no debug information, we make just enough of it: a compile unit that emits nothing.

use crate::extract::Extracted;
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, enum_attribute};
use crate::module::Module;
use crate::walk;
use cotree_core::facts::{Call, Callee, Function};
use llvm_sys::debuginfo::{LLVMDIFlagZero, LLVMDWARFEmissionKind, LLVMDWARFSourceLanguage};
use llvm_sys::prelude::*;
use llvm_sys::{LLVMModuleFlagBehavior, LLVMOpcode, LLVMVisibility};
use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;

/// Unwind tables that are right at every instruction (`llvm::UWTableKind::Async`).
const ASYNCHRONOUS: u64 = 2;
/// Probe types of the encoding.
const INDIRECT_CALL: u32 = 1;
const DIRECT_CALL: u32 = 2;

/// The discriminator of pseudo probe `number`: tag 7 in bits 0–2, the number in 3–18, a distribution factor of 100 % in
/// 19–25 and the type in 26–28.
fn discriminator(number: u16, kind: u32) -> u32 {
    7 | u32::from(number) << 3 | 100 << 19 | kind << 26
}

/// Numbers the call sites of a module, and puts a marker call before each `resume`. Gives the calls of each function's
/// sites.
pub(super) fn number(module: &Module, extracted: &Extracted) -> Vec<Vec<LLVMValueRef>> {
    // SAFETY: the builder belongs to the module and is finalised before it is disposed of.
    unsafe {
        let debug = Debug::new(module);
        let mut calls = vec![Vec::new(); extracted.handles.len()];
        let functions = extracted.facts.functions.iter().zip(&extracted.handles);
        for ((function, handles), calls) in functions.zip(&mut calls) {
            let handles = handles.open(module);
            let code = handles.function.raw();
            // Dying stacks are walked by unwind tables, whatever the compiler was told about them.
            let tables = LLVMCreateEnumAttribute(module.context, attribute_kind("uwtable"), ASYNCHRONOUS);
            LLVMAddAttributeAtIndex(code, FUNCTION_INDEX, tables);
            let subprogram = debug.subprogram(function, code);
            give_locations(&debug, code, &subprogram);
            let subprogram = subprogram.scope;
            if function.untouched.is_some() && function.sites().all(|site| site.probe == 0) {
                continue;
            }
            for (site, instruction) in function.calls.iter().zip(&handles.calls).filter(|(call, _)| call.is_site) {
                let instruction = instruction.raw();
                let call = if site.resume_marker { marker(module, instruction) } else { instruction };
                LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, enum_attribute(module, "nomerge"));
                debug.number(call, site, subprogram);
                calls.push(call);
            }
        }
        calls
    }
}

/// Every call needs a location once functions have subprograms: the verifier and the inliner want it.
///
/// # Safety
/// `function` must be a definition with this subprogram.
unsafe fn give_locations(debug: &Debug<'_>, function: LLVMValueRef, subprogram: &Subprogram) {
    // SAFETY: walking the instructions of a valid function.
    unsafe {
        let root = debug.location(0, 0, subprogram.scope, ptr::null_mut());
        let mut moved = HashMap::new();
        for instruction in walk::instructions_of(function) {
            let opcode = LLVMGetInstructionOpcode(instruction);
            let location = LLVMInstructionGetDebugLoc(instruction);
            let call = matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr);
            if location.is_null() && call {
                LLVMInstructionSetDebugLoc(instruction, root);
            } else if !location.is_null() && subprogram.made {
                LLVMInstructionSetDebugLoc(instruction, debug.inlined_below(location, root, &mut moved));
            }
        }
    }
}

/// A call of `__cotree_resuming` before a `resume`.
///
/// # Safety
/// `resume` must be an instruction of the module.
unsafe fn marker(module: &Module, resume: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a declaration without parameters, called with none.
    unsafe {
        let void = LLVMVoidTypeInContext(module.context);
        let ty = LLVMFunctionType(void, ptr::null_mut(), 0, 0);
        let mut callee = LLVMGetNamedFunction(module.raw, c"__cotree_resuming".as_ptr());
        if callee.is_null() {
            callee = LLVMAddFunction(module.raw, c"__cotree_resuming".as_ptr(), ty);
            LLVMSetVisibility(callee, LLVMVisibility::LLVMHiddenVisibility);
            for attribute in ["cold", "nounwind", "willreturn"] {
                LLVMAddAttributeAtIndex(callee, FUNCTION_INDEX, enum_attribute(module, attribute));
            }
        }
        let builder = LLVMCreateBuilderInContext(module.context);
        LLVMPositionBuilderBefore(builder, resume);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(resume));
        let call = LLVMBuildCall2(builder, ty, callee, ptr::null_mut(), 0, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        call
    }
}

/// A function's subprogram.
struct Subprogram {
    scope: LLVMMetadataRef,
    /// We made it: locations in the function are of what was inlined into it.
    made: bool,
}

/// Debug information under construction.
struct Debug<'a> {
    module: &'a Module,
    builder: LLVMDIBuilderRef,
    file: LLVMMetadataRef,
    /// Type of the subprograms that we make; with it comes a compile unit that emits nothing.
    subroutine: std::cell::OnceCell<LLVMMetadataRef>,
}

impl Drop for Debug<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, finalised and disposed of once.
        unsafe {
            LLVMDIBuilderFinalize(self.builder);
            LLVMDisposeDIBuilder(self.builder);
        }
    }
}

impl<'a> Debug<'a> {
    /// # Safety
    /// The module must be valid.
    unsafe fn new(module: &'a Module) -> Self {
        // SAFETY: all metadata is of the module's context.
        unsafe {
            let builder = LLVMCreateDIBuilder(module.raw);
            let file = LLVMDIBuilderCreateFile(builder, c"cotree".as_ptr(), 6, c"".as_ptr(), 0);
            let flag = b"Debug Info Version";
            if LLVMGetModuleFlag(module.raw, flag.as_ptr().cast(), flag.len()).is_null() {
                let version =
                    LLVMConstInt(LLVMInt32TypeInContext(module.context), u64::from(LLVMDebugMetadataVersion()), 0);
                LLVMAddModuleFlag(
                    module.raw,
                    LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorWarning,
                    flag.as_ptr().cast(),
                    flag.len(),
                    LLVMValueAsMetadata(version),
                );
            }
            // The code generator writes call addresses only for modules that describe their probes.
            let int64 = LLVMInt64TypeInContext(module.context);
            let zero = LLVMValueAsMetadata(LLVMConstInt(int64, 0, 0));
            let mut fields = [zero, zero, LLVMMDStringInContext2(module.context, c"cotree".as_ptr(), 6)];
            let description = LLVMMDNodeInContext2(module.context, fields.as_mut_ptr(), fields.len());
            LLVMAddNamedMetadataOperand(
                module.raw,
                c"llvm.pseudo_probe_desc".as_ptr(),
                LLVMMetadataAsValue(module.context, description),
            );
            Self { module, builder, file, subroutine: std::cell::OnceCell::new() }
        }
    }

    /// The function's subprogram, made if it has none.
    ///
    /// # Safety
    /// `value` must be the function.
    unsafe fn subprogram(&self, function: &Function, value: LLVMValueRef) -> Subprogram {
        // SAFETY: as the caller promises.
        unsafe {
            let known = LLVMGetSubprogram(value);
            if !known.is_null() {
                return Subprogram { scope: known, made: false };
            }
            let subroutine = *self.subroutine.get_or_init(|| self.silent_unit());
            let name = CString::new(function.symbol.as_str()).unwrap_or_default();
            let len = name.as_bytes().len();
            let made = LLVMDIBuilderCreateFunction(
                self.builder,
                self.file,
                name.as_ptr(),
                len,
                name.as_ptr(),
                len,
                self.file,
                0,
                subroutine,
                0,
                1,
                0,
                LLVMDIFlagZero,
                0,
            );
            LLVMSetSubprogram(value, made);
            Subprogram { scope: made, made: true }
        }
    }

    fn silent_unit(&self) -> LLVMMetadataRef {
        let producer = "cotree";
        // SAFETY: strings with their lengths, metadata of this builder.
        unsafe {
            LLVMDIBuilderCreateCompileUnit(
                self.builder,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageC99,
                self.file,
                producer.as_ptr().cast(),
                producer.len(),
                0,
                c"".as_ptr(),
                0,
                0,
                c"".as_ptr(),
                0,
                LLVMDWARFEmissionKind::LLVMDWARFEmissionKindNone,
                0,
                0,
                0,
                c"".as_ptr(),
                0,
                c"".as_ptr(),
                0,
            );
            LLVMDIBuilderCreateSubroutineType(self.builder, self.file, ptr::null_mut(), 0, LLVMDIFlagZero)
        }
    }

    /// # Safety
    /// `scope` must be a local scope, `inlined_at` null or a location.
    unsafe fn location(
        &self,
        line: u32,
        column: u32,
        scope: LLVMMetadataRef,
        inlined_at: LLVMMetadataRef,
    ) -> LLVMMetadataRef {
        // SAFETY: as the caller promises.
        unsafe { LLVMDIBuilderCreateDebugLocation(self.module.context, line, column, scope, inlined_at) }
    }

    /// The location with `root` as the outermost place that it is inlined at. A function without a subprogram may hold
    /// code of functions that have one (a Rust program's C `main` does).
    ///
    /// # Safety
    /// Both must be locations.
    unsafe fn inlined_below(
        &self,
        location: LLVMMetadataRef,
        root: LLVMMetadataRef,
        moved: &mut HashMap<LLVMMetadataRef, LLVMMetadataRef>,
    ) -> LLVMMetadataRef {
        let mut chain = Vec::new();
        let mut at = location;
        // SAFETY: walking from a location to where it is inlined, and back.
        unsafe {
            while !at.is_null() && !moved.contains_key(&at) {
                chain.push(at);
                at = LLVMDILocationGetInlinedAt(at);
            }
            let mut outer = moved.get(&at).copied().unwrap_or(root);
            for at in chain.into_iter().rev() {
                let (line, column) = (LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at));
                outer = self.location(line, column, LLVMDILocationGetScope(at), outer);
                moved.insert(at, outer);
            }
            outer
        }
    }

    /// Puts the site's number on the call, leaving line and inlining as they are.
    ///
    /// # Safety
    /// `call` must be a call in a function with this subprogram.
    unsafe fn number(&self, call: LLVMValueRef, site: &Call, subprogram: LLVMMetadataRef) {
        if site.probe == 0 {
            return;
        }
        let kind = if site.callee == Callee::Indirect { INDIRECT_CALL } else { DIRECT_CALL };
        // SAFETY: as the caller promises.
        unsafe {
            let old = LLVMInstructionGetDebugLoc(call);
            let (line, column, scope, inlined_at) = if old.is_null() {
                (0, 0, subprogram, ptr::null_mut())
            } else {
                (
                    LLVMDILocationGetLine(old),
                    LLVMDILocationGetColumn(old),
                    LLVMDILocationGetScope(old),
                    LLVMDILocationGetInlinedAt(old),
                )
            };
            let scope_file = LLVMDIScopeGetFile(scope);
            let file = if scope_file.is_null() { self.file } else { scope_file };
            let numbered =
                LLVMDIBuilderCreateLexicalBlockFile(self.builder, scope, file, discriminator(site.probe, kind));
            LLVMInstructionSetDebugLoc(call, self.location(line, column, numbered, inlined_at));
        }
    }
}
