//! Calls: whom a function calls, and at which calls an activation may be abandoned.

use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind, value_name};
use crate::stacks;
use cotree_core::facts::{Call, Callee, Doubt};
use cotree_core::ids::Block;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::collections::HashSet;

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

/// The call that the instruction is, or for a `resume` the marker that comes before it. Its block, its line and its probe
/// number are for the caller to fill in.
///
/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn call(instruction: LLVMValueRef, opcode: LLVMOpcode) -> Option<Call> {
    match opcode {
        LLVMOpcode::LLVMResume => {
            let marker = Call::site(Block(0), Callee::Symbol("__cotree_resuming".into()));
            return Some(Call { resume_marker: true, ..marker });
        }
        LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr => {}
        _ => return None,
    }
    let terminator = opcode != LLVMOpcode::LLVMCall;
    // SAFETY: look-ups on a valid call; only functions have a calling convention.
    unsafe {
        if intrinsic_name(instruction).is_some() {
            return None;
        }
        let called = LLVMGetCalledValue(instruction);
        if !LLVMIsAInlineAsm(called).is_null() {
            return Some(Call { callee: Callee::Assembly, terminator, ..Call::default() });
        }
        let is_function = !LLVMIsAFunction(called).is_null();
        let is_direct = is_function || !LLVMIsAGlobalAlias(called).is_null();
        let same_convention = is_function && LLVMGetInstructionCallConv(instruction) == LLVMGetFunctionCallConv(called);
        let must_tail = opcode == LLVMOpcode::LLVMCall
            && LLVMGetTailCallKind(instruction) == LLVMTailCallKind::LLVMTailCallKindMustTail;
        let returns = call_has(instruction, "nounwind") && call_has(instruction, "willreturn");
        Some(Call {
            callee: if is_direct { Callee::Symbol(value_name(called)) } else { Callee::Indirect },
            callee_uncertain: is_direct && !same_convention,
            terminator,
            must_tail,
            is_site: !must_tail && !returns,
            no_return: call_has(instruction, "noreturn"),
            returns_twice: call_has(instruction, "returns_twice"),
            ..Call::default()
        })
    }
}

/// Why the instruction makes its function's counts doubtful, if it does.
///
/// # Safety
/// `instruction` must be valid and have this opcode.
pub(super) unsafe fn doubt(instruction: LLVMValueRef, opcode: LLVMOpcode) -> Option<Doubt> {
    if !matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) {
        return None;
    }
    // SAFETY: the called operand of a valid call.
    unsafe {
        if let Some(name) = intrinsic_name(instruction) {
            return name.starts_with("llvm.eh.sjlj.").then_some(Doubt::BuiltinSetjmp);
        }
        let called = LLVMGetCalledValue(instruction);
        let switches = !LLVMIsAInlineAsm(called).is_null() && stacks::inline_assembly_switches(called);
        switches.then_some(Doubt::SwitchesStacks)
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
