//! Call sites: the points at which an activation may be abandoned.

use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, value_name};
use crate::stacks;
use cotree_core::facts::{CallSite, Callee};
use cotree_core::ids::Block;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::collections::HashSet;

/// What an instruction is to early termination.
pub(super) enum Kind {
    /// A call that may not come back, or the place before a `resume`; block and probe are still to be filled in.
    Site(CallSite),
    /// The compiler's own `setjmp` or `longjmp`.
    BuiltinJump,
    /// Assembly that changes stacks.
    StackSwitch,
    /// None of these.
    Other,
}

/// Numbers that tie machine return addresses to call sites: 16 bits, unique in a module.
#[derive(Default)]
pub(super) struct ProbeNumbers {
    last: u16,
}

impl ProbeNumbers {
    /// The next number, or 0 when they are used up.
    pub(super) fn next(&mut self) -> u16 {
        match self.last.checked_add(1) {
            Some(next) => {
                self.last = next;
                next
            }
            None => 0,
        }
    }
}

/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn classify(instruction: LLVMValueRef, opcode: LLVMOpcode) -> Kind {
    let site = |callee: Callee| CallSite {
        block: Block(0),
        callee,
        terminator: opcode == LLVMOpcode::LLVMInvoke || opcode == LLVMOpcode::LLVMCallBr,
        no_return: false,
        returns_twice: false,
        resume_marker: false,
        probe: 0,
    };
    // SAFETY: look-ups on a valid call.
    unsafe {
        match opcode {
            LLVMOpcode::LLVMResume => {
                Kind::Site(CallSite { resume_marker: true, ..site(Callee::Symbol("__cotree_resuming".into())) })
            }
            LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
                if let Some(name) = intrinsic_name(instruction) {
                    let jumps = name.starts_with("llvm.eh.sjlj.");
                    return if jumps { Kind::BuiltinJump } else { Kind::Other };
                }
                let called = LLVMGetCalledValue(instruction);
                if !LLVMIsAInlineAsm(called).is_null() {
                    return if stacks::inline_assembly_switches(called) { Kind::StackSwitch } else { Kind::Other };
                }
                let musttail = opcode == LLVMOpcode::LLVMCall
                    && LLVMGetTailCallKind(instruction) == LLVMTailCallKind::LLVMTailCallKindMustTail;
                if musttail || (call_has(instruction, "nounwind") && call_has(instruction, "willreturn")) {
                    return Kind::Other;
                }
                let direct = !LLVMIsAFunction(called).is_null() || !LLVMIsAGlobalAlias(called).is_null();
                let callee = if direct { Callee::Symbol(value_name(called)) } else { Callee::Indirect };
                Kind::Site(CallSite {
                    no_return: call_has(instruction, "noreturn"),
                    returns_twice: call_has(instruction, "returns_twice"),
                    ..site(callee)
                })
            }
            _ => Kind::Other,
        }
    }
}

/// A call by name.
pub(crate) struct DirectCall {
    /// Whom; see [`plain`].
    pub(crate) callee: String,
    /// The block.
    pub(crate) block: Block,
    /// How many call sites of the block come before it.
    pub(crate) after_sites: u32,
    /// By the name of an alias, or in a way that is not the function's own: nobody knows who is called.
    pub(crate) odd: bool,
}

/// Whom the instruction calls by name.
///
/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn direct_call(
    instruction: LLVMValueRef,
    opcode: LLVMOpcode,
    block: Block,
    after_sites: usize,
) -> Option<DirectCall> {
    if !matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
        return None;
    }
    // SAFETY: the called operand of a valid call; only functions have a convention.
    unsafe {
        let called = LLVMGetCalledValue(instruction);
        let function = !LLVMIsAFunction(called).is_null();
        if !(function && LLVMGetIntrinsicID(called) == 0 || !LLVMIsAGlobalAlias(called).is_null()) {
            return None;
        }
        let odd = !function || LLVMGetInstructionCallConv(instruction) != LLVMGetFunctionCallConv(called);
        let after_sites = u32::try_from(after_sites).ok()?;
        Some(DirectCall { callee: plain(&value_name(called)).to_owned(), block, after_sites, odd })
    }
}

/// The words of inline assembly that the instruction runs, which may be names of functions.
///
/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn note_assembly(named: &mut HashSet<String>, instruction: LLVMValueRef, opcode: LLVMOpcode) {
    if matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) {
        // SAFETY: the called operand of a valid call.
        unsafe {
            let called = LLVMGetCalledValue(instruction);
            if !LLVMIsAInlineAsm(called).is_null() {
                named.extend(words(&stacks::inline_assembly(called)));
            }
        }
    }
}

/// What could be symbols in assembly.
pub(super) fn words(assembly: &str) -> impl Iterator<Item = String> {
    let symbol = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    assembly.split(move |c| !symbol(c)).filter(|word| !word.is_empty()).map(|word| {
        // `foo@PLT`, and `$foo`, which is what an immediate looks like.
        word.split('@').next().unwrap_or_default().trim_start_matches('$').to_owned()
    })
}

/// The linker's name of a symbol, which IR may mark as not to be decorated.
pub(crate) fn plain(name: &str) -> &str {
    name.strip_prefix('\x01').unwrap_or(name)
}

/// Does the call site or the function that it calls directly have the attribute?
///
/// # Safety
/// `call` must be a call or an invoke.
pub(super) unsafe fn call_has(call: LLVMValueRef, name: &str) -> bool {
    let kind = attribute_kind(name);
    // SAFETY: look-ups on a valid call and on a function.
    unsafe {
        if !LLVMGetCallSiteEnumAttribute(call, FUNCTION_INDEX, kind).is_null() {
            return true;
        }
        let called = LLVMGetCalledValue(call);
        !LLVMIsAFunction(called).is_null() && !LLVMGetEnumAttributeAtIndex(called, FUNCTION_INDEX, kind).is_null()
    }
}

/// The name of the intrinsic that the instruction calls.
///
/// # Safety
/// `call` must be a call, an invoke or a `callbr`.
pub(super) unsafe fn intrinsic_name(call: LLVMValueRef) -> Option<String> {
    // SAFETY: the called operand of a valid call.
    unsafe {
        let called = LLVMGetCalledValue(call);
        (!LLVMIsAFunction(called).is_null() && LLVMGetIntrinsicID(called) != 0).then(|| value_name(called))
    }
}

/// Is it an intrinsic that stands for no instruction (debug values, lifetimes, assumptions)?
///
/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn is_annotation(instruction: LLVMValueRef, opcode: LLVMOpcode) -> bool {
    if opcode != LLVMOpcode::LLVMCall {
        return false;
    }
    // SAFETY: it is a call.
    unsafe { intrinsic_name(instruction) }.is_some_and(|name| {
        [
            "llvm.dbg.",
            "llvm.lifetime.",
            "llvm.assume",
            "llvm.experimental.noalias",
            "llvm.invariant.",
            "llvm.pseudoprobe",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
    })
}
