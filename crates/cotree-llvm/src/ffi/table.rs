//! The functions of LLVM's C API that we use, resolved from the library that [`super::load`] found.
//!
//! Nothing links against LLVM: each function is a pointer in a table that is filled once. A misspelt or missing symbol
//! is an error at load time, before any work has begun.

use super::load::Library;
use crate::error::Error;
use llvm_sys::analysis::LLVMVerifierFailureAction;
use llvm_sys::debuginfo::*;
use llvm_sys::error::*;
use llvm_sys::error_handling::LLVMFatalErrorHandler;
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMTargetDataRef;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::*;
use std::ffi::{c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

static TABLE: OnceLock<Table> = OnceLock::new();

macro_rules! table {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        #[allow(non_snake_case)]
        struct Table { $($name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)* }

        /// Fills the table from a loaded library; later calls do nothing.
        ///
        /// # Errors
        /// A symbol is missing: the library is not the LLVM that we were written for.
        pub(super) fn fill(library: &Library) -> Result<(), Error> {
            if TABLE.get().is_some() {
                return Ok(());
            }
            // SAFETY: the signatures are those of llvm-sys for the same major version, which `load` has checked; the
            // library stays loaded for the life of the process.
            let table = unsafe { Table { $($name: library.symbol(stringify!($name))?,)* } };
            let _ = TABLE.set(table);
            Ok(())
        }

        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            pub unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
                let table = TABLE.get().expect("LLVM is loaded before its functions are called");
                // SAFETY: passed on to the caller: the contract is that of the C function of this name.
                unsafe { (table.$name)($($arg),*) }
            }
        )*
    };
}

table! {
    fn LLVMIsAConstantExpr(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetConstOpcode(constant_val: LLVMValueRef) -> LLVMOpcode;
    fn LLVMBlockAddress(f: LLVMValueRef, bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetAsString(c: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn LLVMIsConstantString(c: LLVMValueRef) -> LLVMBool;
    fn LLVMIsAConstantDataArray(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMInstallFatalErrorHandler(handler: LLVMFatalErrorHandler);
    fn LLVMGetReturnType(function_ty: LLVMTypeRef) -> LLVMTypeRef;
    fn LLVMCountStructElementTypes(struct_ty: LLVMTypeRef) -> c_uint;
    fn LLVMStructGetTypeAtIndex(struct_ty: LLVMTypeRef, i: c_uint) -> LLVMTypeRef;
    fn LLVMGetElementType(ty: LLVMTypeRef) -> LLVMTypeRef;
    fn LLVMGetArrayLength2(array_ty: LLVMTypeRef) -> u64;
    fn LLVMGetVectorSize(vector_ty: LLVMTypeRef) -> c_uint;
    fn LLVMContextCreate() -> LLVMContextRef;
    fn LLVMGetSourceFileName(m: LLVMModuleRef, len: *mut usize) -> *const c_char;
    fn LLVMContextDispose(c: LLVMContextRef);
    fn LLVMContextSetDiagnosticHandler(c: LLVMContextRef, handler: LLVMDiagnosticHandler, diagnostic_context: *mut c_void);
    fn LLVMGetDiagInfoDescription(di: LLVMDiagnosticInfoRef) -> *mut c_char;
    fn LLVMGetDiagInfoSeverity(di: LLVMDiagnosticInfoRef) -> LLVMDiagnosticSeverity;
    fn LLVMPrintValueToString(val: LLVMValueRef) -> *mut c_char;
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMCreateMemoryBufferWithMemoryRange(input_data: *const c_char, input_data_length: usize, buffer_name: *const c_char, requires_null_terminator: LLVMBool) -> LLVMMemoryBufferRef;
    fn LLVMDisposeMemoryBuffer(mem_buf: LLVMMemoryBufferRef);
    fn LLVMGetBufferStart(mem_buf: LLVMMemoryBufferRef) -> *const c_char;
    fn LLVMGetBufferSize(mem_buf: LLVMMemoryBufferRef) -> usize;
    fn LLVMParseBitcodeInContext2(context_ref: LLVMContextRef, mem_buf: LLVMMemoryBufferRef, out_module: *mut LLVMModuleRef) -> LLVMBool;
    fn LLVMDisposeModule(m: LLVMModuleRef);
    fn LLVMLinkModules2(dest: LLVMModuleRef, src: LLVMModuleRef) -> LLVMBool;
    fn LLVMGetDataLayoutStr(m: LLVMModuleRef) -> *const c_char;
    fn LLVMGetFirstGlobal(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextGlobal(global_var: LLVMValueRef) -> LLVMValueRef;
    fn LLVMVerifyModule(m: LLVMModuleRef, action: LLVMVerifierFailureAction, out_message: *mut *mut c_char) -> LLVMBool;
    fn LLVMWriteBitcodeToMemoryBuffer(m: LLVMModuleRef) -> LLVMMemoryBufferRef;
    fn LLVMPrintModuleToString(m: LLVMModuleRef) -> *mut c_char;
    fn LLVMGetTarget(m: LLVMModuleRef) -> *const c_char;
    fn LLVMGetFirstFunction(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextFunction(function: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNamedFunction(m: LLVMModuleRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetNamedGlobal(m: LLVMModuleRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetNamedGlobalAlias(m: LLVMModuleRef, name: *const c_char, name_len: usize) -> LLVMValueRef;
    fn LLVMGetFirstGlobalIFunc(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextGlobalIFunc(i_func: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetGlobalIFuncResolver(i_func: LLVMValueRef) -> LLVMValueRef;
    fn LLVMAddFunction(m: LLVMModuleRef, name: *const c_char, function_ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMAddGlobal(m: LLVMModuleRef, ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMAddGlobalInAddressSpace(m: LLVMModuleRef, ty: LLVMTypeRef, name: *const c_char, address_space: c_uint) -> LLVMValueRef;
    fn LLVMDeleteGlobal(global_var: LLVMValueRef);
    fn LLVMSetInitializer(global_var: LLVMValueRef, constant_val: LLVMValueRef);
    fn LLVMGetInitializer(global_var: LLVMValueRef) -> LLVMValueRef;
    fn LLVMSetGlobalConstant(global_var: LLVMValueRef, is_constant: LLVMBool);
    fn LLVMIsGlobalConstant(global_var: LLVMValueRef) -> LLVMBool;
    fn LLVMIsThreadLocal(global_var: LLVMValueRef) -> LLVMBool;
    fn LLVMSetThreadLocalMode(global_var: LLVMValueRef, mode: LLVMThreadLocalMode);
    fn LLVMGetValueName2(val: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn LLVMSetValueName2(val: LLVMValueRef, name: *const c_char, name_len: usize);
    fn LLVMGetLinkage(global: LLVMValueRef) -> LLVMLinkage;
    fn LLVMSetLinkage(global: LLVMValueRef, linkage: LLVMLinkage);
    fn LLVMGetVisibility(global: LLVMValueRef) -> LLVMVisibility;
    fn LLVMSetVisibility(global: LLVMValueRef, viz: LLVMVisibility);
    fn LLVMIsDeclaration(global: LLVMValueRef) -> LLVMBool;
    fn LLVMGetSection(global: LLVMValueRef) -> *const c_char;
    fn LLVMSetSection(global: LLVMValueRef, section: *const c_char);
    fn LLVMSetAlignment(v: LLVMValueRef, bytes: c_uint);
    fn LLVMSetOrdering(memory_access_inst: LLVMValueRef, ordering: LLVMAtomicOrdering);
    fn LLVMGetComdat(v: LLVMValueRef) -> LLVMComdatRef;
    fn LLVMSetComdat(v: LLVMValueRef, c: LLVMComdatRef);
    fn LLVMGlobalGetValueType(global: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMTypeOf(val: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMReplaceAllUsesWith(old_val: LLVMValueRef, new_val: LLVMValueRef);
    fn LLVMAliasGetAliasee(alias: LLVMValueRef) -> LLVMValueRef;
    fn LLVMAliasSetAliasee(alias: LLVMValueRef, aliasee: LLVMValueRef);
    fn LLVMGetFirstGlobalAlias(m: LLVMModuleRef) -> LLVMValueRef;
    fn LLVMGetNextGlobalAlias(alias: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGlobalSetMetadata(global: LLVMValueRef, kind: c_uint, md: LLVMMetadataRef);
    fn LLVMGetFirstBasicBlock(function: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMGetNextBasicBlock(bb: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    fn LLVMGetBasicBlockTerminator(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetFirstInstruction(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetNextInstruction(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetPreviousInstruction(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetInstructionOpcode(inst: LLVMValueRef) -> LLVMOpcode;
    fn LLVMGetInstructionParent(inst: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMInsertBasicBlockInContext(c: LLVMContextRef, bb: LLVMBasicBlockRef, name: *const c_char) -> LLVMBasicBlockRef;
    fn LLVMBasicBlockAsValue(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMGetNumSuccessors(term: LLVMValueRef) -> c_uint;
    fn LLVMGetSuccessor(term: LLVMValueRef, i: c_uint) -> LLVMBasicBlockRef;
    fn LLVMSetSuccessor(term: LLVMValueRef, i: c_uint, block: LLVMBasicBlockRef);
    fn LLVMGetNumOperands(val: LLVMValueRef) -> c_int;
    fn LLVMGetOperand(val: LLVMValueRef, index: c_uint) -> LLVMValueRef;
    fn LLVMCountIncoming(phi_node: LLVMValueRef) -> c_uint;
    fn LLVMGetIncomingValue(phi_node: LLVMValueRef, index: c_uint) -> LLVMValueRef;
    fn LLVMGetIncomingBlock(phi_node: LLVMValueRef, index: c_uint) -> LLVMBasicBlockRef;
    fn LLVMAddIncoming(phi_node: LLVMValueRef, incoming_values: *mut LLVMValueRef, incoming_blocks: *mut LLVMBasicBlockRef, count: c_uint);
    fn LLVMBuildPhi(arg1: LLVMBuilderRef, ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetFastMathFlags(f_p_math_inst: LLVMValueRef) -> LLVMFastMathFlags;
    fn LLVMSetFastMathFlags(f_p_math_inst: LLVMValueRef, f_m_f: LLVMFastMathFlags);
    fn LLVMCanValueUseFastMathFlags(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetCalledValue(instr: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetTailCallKind(call_inst: LLVMValueRef) -> LLVMTailCallKind;
    fn LLVMIsAInlineAsm(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAFunction(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAConstantInt(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAGlobalAlias(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetIntrinsicID(function: LLVMValueRef) -> c_uint;
    fn LLVMConstIntGetSExtValue(constant_val: LLVMValueRef) -> c_longlong;
    fn LLVMGetIntTypeWidth(integer_ty: LLVMTypeRef) -> c_uint;
    fn LLVMGetFirstUse(val: LLVMValueRef) -> LLVMUseRef;
    fn LLVMGetNextUse(u: LLVMUseRef) -> LLVMUseRef;
    fn LLVMGetUser(u: LLVMUseRef) -> LLVMValueRef;
    fn LLVMGetEnumAttributeKindForName(name: *const c_char, s_len: usize) -> c_uint;
    fn LLVMCreateEnumAttribute(c: LLVMContextRef, kind_i_d: c_uint, val: u64) -> LLVMAttributeRef;
    fn LLVMAddAttributeAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, a: LLVMAttributeRef);
    fn LLVMGetEnumAttributeAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, kind_i_d: c_uint) -> LLVMAttributeRef;
    fn LLVMRemoveEnumAttributeAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, kind_i_d: c_uint);
    fn LLVMAddCallSiteAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, a: LLVMAttributeRef);
    fn LLVMGetCallSiteEnumAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, kind_i_d: c_uint) -> LLVMAttributeRef;
    fn LLVMRemoveCallSiteEnumAttribute(c: LLVMValueRef, idx: LLVMAttributeIndex, kind_i_d: c_uint);
    fn LLVMCreateBuilderInContext(c: LLVMContextRef) -> LLVMBuilderRef;
    fn LLVMDisposeBuilder(builder: LLVMBuilderRef);
    fn LLVMPositionBuilderBefore(builder: LLVMBuilderRef, instr: LLVMValueRef);
    fn LLVMPositionBuilderAtEnd(builder: LLVMBuilderRef, block: LLVMBasicBlockRef);
    fn LLVMSetCurrentDebugLocation2(builder: LLVMBuilderRef, loc: LLVMMetadataRef);
    fn LLVMBuildBr(arg1: LLVMBuilderRef, dest: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMBuildLoad2(arg1: LLVMBuilderRef, ty: LLVMTypeRef, pointer_val: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildStore(arg1: LLVMBuilderRef, val: LLVMValueRef, ptr: LLVMValueRef) -> LLVMValueRef;
    fn LLVMBuildAdd(arg1: LLVMBuilderRef, l_h_s: LLVMValueRef, r_h_s: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildICmp(arg1: LLVMBuilderRef, op: LLVMIntPredicate, l_h_s: LLVMValueRef, r_h_s: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMConstNull(ty: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMBuildSelect(arg1: LLVMBuilderRef, if_: LLVMValueRef, then: LLVMValueRef, else_: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildBitCast(arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildExtractElement(arg1: LLVMBuilderRef, vec_val: LLVMValueRef, index: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildZExt(arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildTrunc(arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildInBoundsGEP2(b: LLVMBuilderRef, ty: LLVMTypeRef, pointer: LLVMValueRef, indices: *mut LLVMValueRef, num_indices: c_uint, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildGEP2(b: LLVMBuilderRef, ty: LLVMTypeRef, pointer: LLVMValueRef, indices: *mut LLVMValueRef, num_indices: c_uint, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildIntToPtr(arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMConstInt(int_ty: LLVMTypeRef, n: c_ulonglong, sign_extend: LLVMBool) -> LLVMValueRef;
    fn LLVMConstAddrSpaceCast(constant_val: LLVMValueRef, to_type: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMGetPointerAddressSpace(pointer_ty: LLVMTypeRef) -> c_uint;
    fn LLVMGetInlineAsmAsmString(inline_asm_val: LLVMValueRef, len: *mut usize) -> *const c_char;
    fn LLVMAppendModuleInlineAsm(m: LLVMModuleRef, asm: *const c_char, len: usize);
    fn LLVMGetModuleInlineAsm(m: LLVMModuleRef, len: *mut usize) -> *const c_char;
    fn LLVMInt1TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMInt8TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMConstInBoundsGEP2(ty: LLVMTypeRef, constant_val: LLVMValueRef, constant_indices: *mut LLVMValueRef, num_indices: c_uint) -> LLVMValueRef;
    fn LLVMConstGEP2(ty: LLVMTypeRef, constant_val: LLVMValueRef, constant_indices: *mut LLVMValueRef, num_indices: c_uint) -> LLVMValueRef;
    fn LLVMConstPtrToInt(constant_val: LLVMValueRef, to_type: LLVMTypeRef) -> LLVMValueRef;
    fn LLVMConstStructInContext(c: LLVMContextRef, constant_vals: *mut LLVMValueRef, count: c_uint, packed: LLVMBool) -> LLVMValueRef;
    fn LLVMInt32TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMInt64TypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMPointerTypeInContext(c: LLVMContextRef, address_space: c_uint) -> LLVMTypeRef;
    fn LLVMVoidTypeInContext(c: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMConstArray2(element_type: LLVMTypeRef, constant_vals: *mut LLVMValueRef, length: u64) -> LLVMValueRef;
    fn LLVMArrayType2(element_type: LLVMTypeRef, element_count: u64) -> LLVMTypeRef;
    fn LLVMFunctionType(return_type: LLVMTypeRef, param_types: *mut LLVMTypeRef, param_count: c_uint, is_var_arg: LLVMBool) -> LLVMTypeRef;
    fn LLVMGetMDKindIDInContext(c: LLVMContextRef, name: *const c_char, s_len: c_uint) -> c_uint;
    fn LLVMMDNodeInContext2(c: LLVMContextRef, m_ds: *mut LLVMMetadataRef, count: usize) -> LLVMMetadataRef;
    fn LLVMMDStringInContext2(c: LLVMContextRef, str: *const c_char, s_len: usize) -> LLVMMetadataRef;
    fn LLVMValueAsMetadata(val: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMMetadataAsValue(c: LLVMContextRef, md: LLVMMetadataRef) -> LLVMValueRef;
    fn LLVMGetMDString(v: LLVMValueRef, len: *mut c_uint) -> *const c_char;
    fn LLVMGetMetadata(val: LLVMValueRef, kind_i_d: c_uint) -> LLVMValueRef;
    fn LLVMGetFCmpPredicate(inst: LLVMValueRef) -> LLVMRealPredicate;
    fn LLVMGetMDNodeNumOperands(v: LLVMValueRef) -> c_uint;
    fn LLVMGetMDNodeOperands(v: LLVMValueRef, dest: *mut LLVMValueRef);
    fn LLVMSetMetadata(val: LLVMValueRef, kind_i_d: c_uint, node: LLVMValueRef);
    fn LLVMGetMetadataKind(metadata: LLVMMetadataRef) -> LLVMMetadataKind;
    fn LLVMGetNamedMetadataNumOperands(m: LLVMModuleRef, name: *const c_char) -> c_uint;
    fn LLVMGetNamedMetadataOperands(m: LLVMModuleRef, name: *const c_char, dest: *mut LLVMValueRef);
    fn LLVMAddNamedMetadataOperand(m: LLVMModuleRef, name: *const c_char, val: LLVMValueRef);
    fn LLVMAddModuleFlag(m: LLVMModuleRef, behavior: LLVMModuleFlagBehavior, key: *const c_char, key_len: usize, val: LLVMMetadataRef);
    fn LLVMGetModuleFlag(m: LLVMModuleRef, key: *const c_char, key_len: usize) -> LLVMMetadataRef;
    fn LLVMInstructionGetDebugLoc(inst: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMInstructionSetDebugLoc(inst: LLVMValueRef, loc: LLVMMetadataRef);
    fn LLVMDILocationGetLine(location: LLVMMetadataRef) -> c_uint;
    fn LLVMDILocationGetColumn(location: LLVMMetadataRef) -> c_uint;
    fn LLVMDILocationGetScope(location: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDILocationGetInlinedAt(location: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDIScopeGetFile(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDIFileGetDirectory(file: LLVMMetadataRef, len: *mut c_uint) -> *const c_char;
    fn LLVMDIFileGetFilename(file: LLVMMetadataRef, len: *mut c_uint) -> *const c_char;
    fn LLVMGetSubprogram(func: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMSetSubprogram(func: LLVMValueRef, sp: LLVMMetadataRef);
    fn LLVMDISubprogramGetLine(subprogram: LLVMMetadataRef) -> c_uint;
    fn LLVMCreateDIBuilder(m: LLVMModuleRef) -> LLVMDIBuilderRef;
    fn LLVMDisposeDIBuilder(builder: LLVMDIBuilderRef);
    fn LLVMDIBuilderFinalize(builder: LLVMDIBuilderRef);
    fn LLVMDIBuilderCreateFile(builder: LLVMDIBuilderRef, filename: *const c_char, filename_len: usize, directory: *const c_char, directory_len: usize) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateCompileUnit(builder: LLVMDIBuilderRef, lang: LLVMDWARFSourceLanguage, file_ref: LLVMMetadataRef, producer: *const c_char, producer_len: usize, is_optimized: LLVMBool, flags: *const c_char, flags_len: usize, runtime_ver: c_uint, split_name: *const c_char, split_name_len: usize, kind: LLVMDWARFEmissionKind, d_w_o_id: c_uint, split_debug_inlining: LLVMBool, debug_info_for_profiling: LLVMBool, sys_root: *const c_char, sys_root_len: usize, s_d_k: *const c_char, s_d_k_len: usize) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateFunction(builder: LLVMDIBuilderRef, scope: LLVMMetadataRef, name: *const c_char, name_len: usize, linkage_name: *const c_char, linkage_name_len: usize, file: LLVMMetadataRef, line_no: c_uint, ty: LLVMMetadataRef, is_local_to_unit: LLVMBool, is_definition: LLVMBool, scope_line: c_uint, flags: LLVMDIFlags, is_optimized: LLVMBool) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateSubroutineType(builder: LLVMDIBuilderRef, file: LLVMMetadataRef, parameter_types: *mut LLVMMetadataRef, num_parameter_types: c_uint, flags: LLVMDIFlags) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateLexicalBlockFile(builder: LLVMDIBuilderRef, scope: LLVMMetadataRef, file: LLVMMetadataRef, discriminator: c_uint) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateBasicType(builder: LLVMDIBuilderRef, name: *const c_char, name_len: usize, size_in_bits: u64, encoding: LLVMDWARFTypeEncoding, flags: LLVMDIFlags) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateAutoVariable(builder: LLVMDIBuilderRef, scope: LLVMMetadataRef, name: *const c_char, name_len: usize, file: LLVMMetadataRef, line_no: c_uint, ty: LLVMMetadataRef, always_preserve: LLVMBool, flags: LLVMDIFlags, align_in_bits: u32) -> LLVMMetadataRef;
    fn LLVMDIBuilderCreateExpression(builder: LLVMDIBuilderRef, addr: *mut u64, length: usize) -> LLVMMetadataRef;
    fn LLVMDIBuilderInsertDeclareRecordBefore(builder: LLVMDIBuilderRef, storage: LLVMValueRef, var_info: LLVMMetadataRef, expr: LLVMMetadataRef, debug_loc: LLVMMetadataRef, instr: LLVMValueRef) -> LLVMDbgRecordRef;
    fn LLVMDIBuilderInsertDbgValueRecordBefore(builder: LLVMDIBuilderRef, val: LLVMValueRef, var_info: LLVMMetadataRef, expr: LLVMMetadataRef, debug_loc: LLVMMetadataRef, instr: LLVMValueRef) -> LLVMDbgRecordRef;
    fn LLVMDIBuilderCreateDebugLocation(ctx: LLVMContextRef, line: c_uint, column: c_uint, scope: LLVMMetadataRef, inlined_at: LLVMMetadataRef) -> LLVMMetadataRef;
    fn LLVMDebugMetadataVersion() -> c_uint;
    fn LLVMParseCommandLineOptions(argc: c_int, argv: *const *const c_char, overview: *const c_char);
    fn LLVMInitializeX86TargetInfo();
    fn LLVMInitializeX86Target();
    fn LLVMInitializeX86TargetMC();
    fn LLVMInitializeX86AsmParser();
    fn LLVMInitializeX86AsmPrinter();
    fn LLVMGetTargetFromTriple(triple: *const c_char, t: *mut LLVMTargetRef, error_message: *mut *mut c_char) -> LLVMBool;
    fn LLVMCreateTargetMachine(t: LLVMTargetRef, triple: *const c_char, c_p_u: *const c_char, features: *const c_char, level: LLVMCodeGenOptLevel, reloc: LLVMRelocMode, code_model: LLVMCodeModel) -> LLVMTargetMachineRef;
    fn LLVMDisposeTargetMachine(t: LLVMTargetMachineRef);
    fn LLVMTargetMachineEmitToMemoryBuffer(t: LLVMTargetMachineRef, m: LLVMModuleRef, codegen: LLVMCodeGenFileType, error_message: *mut *mut c_char, out_mem_buf: *mut LLVMMemoryBufferRef) -> LLVMBool;
    fn LLVMCreatePassBuilderOptions() -> LLVMPassBuilderOptionsRef;
    fn LLVMDisposePassBuilderOptions(options: LLVMPassBuilderOptionsRef);
    fn LLVMPassBuilderOptionsSetLoopVectorization(options: LLVMPassBuilderOptionsRef, loop_vectorization: LLVMBool);
    fn LLVMPassBuilderOptionsSetSLPVectorization(options: LLVMPassBuilderOptionsRef, s_l_p_vectorization: LLVMBool);
    fn LLVMPassBuilderOptionsSetLoopUnrolling(options: LLVMPassBuilderOptionsRef, loop_unrolling: LLVMBool);
    fn LLVMPassBuilderOptionsSetLoopInterleaving(options: LLVMPassBuilderOptionsRef, loop_interleaving: LLVMBool);
    fn LLVMRunPasses(m: LLVMModuleRef, passes: *const c_char, tm: LLVMTargetMachineRef, options: LLVMPassBuilderOptionsRef) -> LLVMErrorRef;
    fn LLVMGetErrorMessage(err: LLVMErrorRef) -> *mut c_char;
    fn LLVMDisposeErrorMessage(err_msg: *mut c_char);
    fn LLVMGetSwitchCaseValue(switch_instr: LLVMValueRef, i: c_uint) -> LLVMValueRef;
    fn LLVMIsAInstruction(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMRemoveStringAttributeAtIndex(function: LLVMValueRef, idx: LLVMAttributeIndex, k: *const c_char, k_len: c_uint);
    fn LLVMParseIRInContext2(context: LLVMContextRef, buffer: LLVMMemoryBufferRef, out_module: *mut LLVMModuleRef, out_message: *mut *mut c_char) -> LLVMBool;
    fn LLVMIsNull(val: LLVMValueRef) -> LLVMBool;
    fn LLVMConstIntGetZExtValue(constant_val: LLVMValueRef) -> c_ulonglong;
    fn LLVMIsAGlobalVariable(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetInlineAsm(
        ty: LLVMTypeRef, text: *const c_char, text_size: usize, constraints: *const c_char, constraints_size: usize,
        has_side_effects: LLVMBool, is_align_stack: LLVMBool, dialect: LLVMInlineAsmDialect, can_throw: LLVMBool,
    ) -> LLVMValueRef;
    fn LLVMGetTypeAttributeValue(a: LLVMAttributeRef) -> LLVMTypeRef;
    fn LLVMCreateStringAttribute(c: LLVMContextRef, k: *const c_char, k_length: c_uint, v: *const c_char, v_length: c_uint) -> LLVMAttributeRef;
    fn LLVMCreateTypeAttribute(c: LLVMContextRef, kind_id: c_uint, type_ref: LLVMTypeRef) -> LLVMAttributeRef;
    fn LLVMCreateOperandBundle(tag: *const c_char, tag_len: usize, args: *mut LLVMValueRef, num_args: c_uint) -> LLVMOperandBundleRef;
    fn LLVMDisposeOperandBundle(bundle: LLVMOperandBundleRef);
    fn LLVMGetOperandBundleTag(bundle: LLVMOperandBundleRef, len: *mut usize) -> *const c_char;
    fn LLVMGetNumOperandBundleArgs(bundle: LLVMOperandBundleRef) -> c_uint;
    fn LLVMGetOperandBundleArgAtIndex(bundle: LLVMOperandBundleRef, index: c_uint) -> LLVMValueRef;
    fn LLVMGetNumOperandBundles(c: LLVMValueRef) -> c_uint;
    fn LLVMGetOperandBundleAtIndex(c: LLVMValueRef, index: c_uint) -> LLVMOperandBundleRef;
    fn LLVMBuildCallWithOperandBundles(b: LLVMBuilderRef, ty: LLVMTypeRef, function: LLVMValueRef, args: *mut LLVMValueRef, num_args: c_uint, bundles: *mut LLVMOperandBundleRef, num_bundles: c_uint, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildInvokeWithOperandBundles(b: LLVMBuilderRef, ty: LLVMTypeRef, function: LLVMValueRef, args: *mut LLVMValueRef, num_args: c_uint, then: LLVMBasicBlockRef, catch: LLVMBasicBlockRef, bundles: *mut LLVMOperandBundleRef, num_bundles: c_uint, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetNormalDest(invoke: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMGetUnwindDest(invoke: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMGetNumArgOperands(instr: LLVMValueRef) -> c_uint;
    fn LLVMGetCalledFunctionType(c: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetInstructionCallConv(instr: LLVMValueRef) -> c_uint;
    fn LLVMGetFunctionCallConv(fn_: LLVMValueRef) -> c_uint;
    fn LLVMSetInstructionCallConv(instr: LLVMValueRef, cc: c_uint);
    fn LLVMSetFunctionCallConv(function: LLVMValueRef, cc: c_uint);
    fn LLVMSetTailCallKind(call_inst: LLVMValueRef, kind: LLVMTailCallKind);
    fn LLVMGetCallSiteAttributeCount(c: LLVMValueRef, idx: LLVMAttributeIndex) -> c_uint;
    fn LLVMGetCallSiteAttributes(c: LLVMValueRef, idx: LLVMAttributeIndex, attrs: *mut LLVMAttributeRef);
    fn LLVMInstructionGetAllMetadataOtherThanDebugLoc(instr: LLVMValueRef, num_entries: *mut usize) -> *mut LLVMValueMetadataEntry;
    fn LLVMValueMetadataEntriesGetKind(entries: *mut LLVMValueMetadataEntry, index: c_uint) -> c_uint;
    fn LLVMValueMetadataEntriesGetMetadata(entries: *mut LLVMValueMetadataEntry, index: c_uint) -> LLVMMetadataRef;
    fn LLVMDisposeValueMetadataEntries(entries: *mut LLVMValueMetadataEntry);
    fn LLVMGetStringAttributeAtIndex(f: LLVMValueRef, idx: LLVMAttributeIndex, k: *const c_char, k_len: c_uint) -> LLVMAttributeRef;
    fn LLVMGetStringAttributeValue(a: LLVMAttributeRef, length: *mut c_uint) -> *const c_char;
    fn LLVMHasPrefixData(function: LLVMValueRef) -> LLVMBool;
    fn LLVMSetPrefixData(function: LLVMValueRef, prefix_data: LLVMValueRef);
    fn LLVMBuildAlloca(b: LLVMBuilderRef, ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildMul(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildLShr(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildURem(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildOr(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildShl(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildXor(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildAnd(b: LLVMBuilderRef, lhs: LLVMValueRef, rhs: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildCondBr(b: LLVMBuilderRef, condition: LLVMValueRef, then: LLVMBasicBlockRef, otherwise: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMBuildSwitch(b: LLVMBuilderRef, v: LLVMValueRef, otherwise: LLVMBasicBlockRef, num_cases: c_uint) -> LLVMValueRef;
    fn LLVMAddCase(switch: LLVMValueRef, on_val: LLVMValueRef, dest: LLVMBasicBlockRef);
    fn LLVMBuildRet(b: LLVMBuilderRef, v: LLVMValueRef) -> LLVMValueRef;
    fn LLVMBuildRetVoid(b: LLVMBuilderRef) -> LLVMValueRef;
    fn LLVMAppendBasicBlockInContext(c: LLVMContextRef, function: LLVMValueRef, name: *const c_char) -> LLVMBasicBlockRef;
    fn LLVMGetParam(function: LLVMValueRef, index: c_uint) -> LLVMValueRef;
    fn LLVMAddAlias2(m: LLVMModuleRef, value_ty: LLVMTypeRef, addr_space: c_uint, aliasee: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetICmpPredicate(inst: LLVMValueRef) -> LLVMIntPredicate;
    fn LLVMGetCondition(branch: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetNUW(arith_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMSetNUW(arith_inst: LLVMValueRef, has_n_u_w: LLVMBool);
    fn LLVMGetExact(div_or_shr_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMGetNSW(arith_inst: LLVMValueRef) -> LLVMBool;
    fn LLVMSetNSW(arith_inst: LLVMValueRef, has_n_s_w: LLVMBool);
    fn LLVMGetIsDisjoint(inst: LLVMValueRef) -> LLVMBool;
    fn LLVMIsInBounds(g_e_p: LLVMValueRef) -> LLVMBool;
    fn LLVMGEPSetNoWrapFlags(g_e_p: LLVMValueRef, no_wrap_flags: LLVMGEPNoWrapFlags);
    fn LLVMGetGEPSourceElementType(g_e_p: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetModuleDataLayout(m: LLVMModuleRef) -> LLVMTargetDataRef;
    fn LLVMStoreSizeOfType(t_d: LLVMTargetDataRef, ty: LLVMTypeRef) -> c_ulonglong;
    fn LLVMABISizeOfType(t_d: LLVMTargetDataRef, ty: LLVMTypeRef) -> c_ulonglong;
    fn LLVMTypeIsSized(ty: LLVMTypeRef) -> LLVMBool;
    fn LLVMGetTypeKind(ty: LLVMTypeRef) -> LLVMTypeKind;
    fn LLVMIsAArgument(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMSetOperand(user: LLVMValueRef, index: c_uint, val: LLVMValueRef);
    fn LLVMCountParams(function: LLVMValueRef) -> c_uint;
    fn LLVMBuildFreeze(arg1: LLVMBuilderRef, val: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMBuildPtrToInt(arg1: LLVMBuilderRef, val: LLVMValueRef, dest_ty: LLVMTypeRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMSetVolatile(memory_access_inst: LLVMValueRef, is_volatile: LLVMBool);
    fn LLVMBuildSub(arg1: LLVMBuilderRef, l_h_s: LLVMValueRef, r_h_s: LLVMValueRef, name: *const c_char) -> LLVMValueRef;
    fn LLVMGetTypeContext(ty: LLVMTypeRef) -> LLVMContextRef;
    fn LLVMCountParamTypes(function_ty: LLVMTypeRef) -> c_uint;
    fn LLVMGetParamTypes(function_ty: LLVMTypeRef, dest: *mut LLVMTypeRef);
    fn LLVMIsFunctionVarArg(function_ty: LLVMTypeRef) -> LLVMBool;
    fn LLVMGetBasicBlockParent(bb: LLVMBasicBlockRef) -> LLVMValueRef;
    fn LLVMValueIsBasicBlock(val: LLVMValueRef) -> LLVMBool;
    fn LLVMValueAsBasicBlock(val: LLVMValueRef) -> LLVMBasicBlockRef;
    fn LLVMIsConstant(val: LLVMValueRef) -> LLVMBool;
    fn LLVMIsAUser(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsATerminatorInst(inst: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAMDNode(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMIsAMDString(val: LLVMValueRef) -> LLVMValueRef;
    fn LLVMInsertIntoBuilder(builder: LLVMBuilderRef, instruction: LLVMValueRef);
    fn LLVMInstructionRemoveFromParent(inst: LLVMValueRef);
    fn LLVMDeleteInstruction(inst: LLVMValueRef);
    fn LLVMGetPoison(ty: LLVMTypeRef) -> LLVMValueRef;
}
