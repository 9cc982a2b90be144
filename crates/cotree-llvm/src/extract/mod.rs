//! Bitcode in, plain facts out: functions, blocks, edges, calls and source lines.
//!
//! The facts go into the program map; the handles that tie them to LLVM's objects stay beside the module until the
//! plan is applied to the very same, unchanged IR.

pub(crate) mod affine;
mod calls;
mod edges;
mod handlers;
mod handles;
mod hints;
mod lines;
mod segment;
mod selection;

pub use affine::find as find_affine;
pub(crate) use calls::plain;
pub(crate) use handlers::installs_handlers;
pub(crate) use handles::{FunctionIr, Handles};
pub(crate) use segment::GS;
pub use selection::Selection;

use crate::ffi::*;
use crate::ir::{self, Value};
use crate::linkage::{FUNCTION_INDEX, attribute_kind, value_name};
use crate::module::Module;
use crate::stacks;
use crate::walk;
use cotree_core::affine::AffineVariable;
use cotree_core::facts::{self, BlockFacts, Doubt, Function, InstructionCounts, Linkage, Untouched};
use cotree_core::hints::Hints;
use cotree_core::ids::Block;
use lines::Lines;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMVisibility};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;

/// A module's facts with the IR that they speak of.
pub struct Extracted {
    /// The facts; file numbers are local to `files`.
    pub facts: facts::Module,
    /// Source files of this module.
    pub files: Vec<String>,
    /// One per function of `facts`, in the same order.
    pub(crate) handles: Vec<Handles>,
    /// Loop variables that could count, per function: none unless they were looked for ([`affine::find`]).
    pub affine: Vec<Vec<AffineVariable>>,
    /// What the code says about branches, per function.
    pub hints: Vec<Hints>,
    /// The module refers to a function that installs signal handlers.
    pub(crate) installs_handlers: bool,
    /// The module changes stacks, or refers to a function that does.
    pub(crate) switches_stacks: bool,
    /// The module has a use of its own for the segment register GS.
    pub(crate) uses_segment: bool,
    /// Functions of other modules whose address this one takes.
    pub(crate) taken_elsewhere: HashSet<String>,
    /// Words of assembly, which may be names of functions that it calls.
    pub(crate) named_in_assembly: HashSet<String>,
}

/// Reads the facts of every function that the module defines.
#[must_use]
pub fn extract(module: &Module, selection: &Selection) -> Extracted {
    let mut lines = Lines::new(module.context);
    let mut probes = calls::ProbeNumbers::default();
    let mut functions = Vec::new();
    let mut handles = Vec::new();
    let mut hints = Vec::new();
    let resolvers = ifunc_resolvers(module);
    let mut uses_segment = segment::in_module(module);
    let mut taken_elsewhere = HashSet::new();
    let mut named: HashSet<String> = calls::words(&stacks::module_assembly(module)).collect();
    // SAFETY: walking the function list of a valid module that nobody changes meanwhile.
    unsafe {
        for function in walk::functions(module) {
            if LLVMIsDeclaration(function) == 0 {
                let (facts, ir) =
                    extract_function(function, selection, &resolvers, &mut lines, &mut probes, &mut named);
                let blocks: Vec<LLVMBasicBlockRef> = ir.blocks.iter().map(|block| block.raw()).collect();
                hints.push(hints::hints(module.context, &blocks, &facts.edges));
                functions.push(facts);
                uses_segment |= segment::in_blocks(&blocks);
                handles.push(Handles::keep(module, ir));
            } else if has_use_but_calls(function) {
                taken_elsewhere.insert(plain(&value_name(function)).to_owned());
            }
        }
    }
    let switches_stacks = refers_to(module, &stacks::SWITCHES)
        || stacks::module_assembly_switches(module)
        || functions.iter().any(|f| f.doubts.contains(&Doubt::SwitchesStacks));
    Extracted {
        affine: vec![Vec::new(); functions.len()],
        facts: facts::Module { name: module.name.clone(), functions },
        files: lines.into_files(),
        handles,
        hints,
        installs_handlers: refers_to(module, &handlers::INSTALLERS),
        switches_stacks,
        uses_segment,
        taken_elsewhere,
        named_in_assembly: named,
    }
}

/// # Safety
/// `function` must be a definition in a valid module.
unsafe fn extract_function<'m>(
    function: LLVMValueRef,
    selection: &Selection,
    resolvers: &HashSet<LLVMValueRef>,
    lines: &mut Lines,
    probes: &mut calls::ProbeNumbers,
    named: &mut HashSet<String>,
) -> (Function, FunctionIr<'m>) {
    // SAFETY: as the caller promises; all values below are reached from `function`.
    unsafe {
        let symbol = value_name(function);
        let blocks = reachable_blocks(function);
        let numbers: HashMap<LLVMBasicBlockRef, Block> =
            blocks.iter().enumerate().map(|(i, &b)| (b, Block::new(i))).collect();
        let position = lines.function_position(function);
        let mut facts = Function {
            linkage: linkage_of(function),
            address_taken: address_taken(function),
            position,
            ..Function::default()
        };
        let mut doubts = Vec::new();
        let (edges, modelled) = edges::edges(&blocks, &numbers);
        facts.edges = edges;
        facts.untouched = untouched(function, modelled, resolvers).or_else(|| {
            let file = position.map(|p| lines.file(p.file));
            selection.excludes(&symbol, file).then_some(Untouched::Excluded)
        });
        // What ends in a function that the user left out is none of the others' business, unless exceptions land in it:
        // nothing is put there that would tell where they go on.
        let numbered = match facts.untouched {
            None => true,
            Some(Untouched::Excluded) => !facts.edges.iter().any(|edge| edge.kind.exceptional()),
            Some(_) => false,
        };
        let mut call_handles = Vec::new();
        lines.begin_function();
        for (number, &block) in blocks.iter().enumerate() {
            let mut sites = 0;
            let mut counts = InstructionCounts::default();
            let mut spans = Vec::new();
            for instruction in walk::instructions(block) {
                let opcode = LLVMGetInstructionOpcode(instruction);
                let mut line = None;
                if counted(instruction, opcode) {
                    count(&mut counts, instruction, opcode);
                    line = lines.add(&mut spans, instruction, sites);
                }
                calls::note_assembly(named, instruction, opcode);
                doubts.extend(calls::doubt(instruction, opcode));
                let Some(mut call) = calls::call(instruction, opcode) else { continue };
                call.block = Block::new(number);
                if call.is_site {
                    sites += 1;
                    call.probe = if numbered { probes.next() } else { 0 };
                    if call.probe == 0 && facts.untouched.is_none() {
                        doubts.push(Doubt::UnmappedCallSites);
                    }
                }
                call.line = line.filter(|_| !call.resume_marker);
                facts.calls.push(call);
                call_handles.push(instruction);
            }
            facts.blocks.push(BlockFacts { instructions: counts, lines: spans });
        }
        facts.inlined = lines.end_function();
        doubts.sort_unstable();
        doubts.dedup();
        facts.doubts = doubts;
        facts.symbol = symbol;
        let ir = FunctionIr {
            function: Value::from_raw(function).and_then(Value::as_function).expect("a function"),
            blocks: blocks.into_iter().filter_map(|block| ir::Block::from_raw(block)).collect(),
            calls: call_handles.into_iter().filter_map(|call| Value::from_raw(call)?.as_instruction()).collect(),
            affine: Vec::new(),
        };
        (facts, ir)
    }
}

/// Blocks that can be reached from the entry, in layout order.
///
/// # Safety
/// `function` must be a definition.
unsafe fn reachable_blocks(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: walking blocks and terminators of a verified function.
    unsafe {
        let mut seen = HashSet::new();
        let mut work = vec![LLVMGetEntryBasicBlock(function)];
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                let terminator = LLVMGetBasicBlockTerminator(block);
                work.extend((0..LLVMGetNumSuccessors(terminator)).map(|i| LLVMGetSuccessor(terminator, i)));
            }
        }
        walk::blocks(function).filter(|block| seen.contains(block)).collect()
    }
}

/// Does the instruction count as executed work? Phis are moves on edges, debug intrinsics nothing at all.
///
/// # Safety
/// `instruction` must be valid.
unsafe fn counted(instruction: LLVMValueRef, opcode: LLVMOpcode) -> bool {
    // SAFETY: as the caller promises.
    opcode != LLVMOpcode::LLVMPHI && unsafe { !calls::is_annotation(instruction, opcode) }
}

/// # Safety
/// `instruction` must be valid.
unsafe fn count(counts: &mut InstructionCounts, instruction: LLVMValueRef, opcode: LLVMOpcode) {
    counts.total += 1;
    match opcode {
        LLVMOpcode::LLVMLoad => counts.loads += 1,
        LLVMOpcode::LLVMStore => counts.stores += 1,
        LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub | LLVMOpcode::LLVMFMul | LLVMOpcode::LLVMFDiv
        | LLVMOpcode::LLVMFRem | LLVMOpcode::LLVMFNeg => counts.float += 1,
        LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr
            // SAFETY: it is a call.
            if unsafe { calls::intrinsic_name(instruction) }.is_none() =>
        {
            counts.calls += 1;
        }
        _ => {}
    }
}

/// # Safety
/// `function` must be valid.
unsafe fn linkage_of(function: LLVMValueRef) -> Linkage {
    // SAFETY: as the caller promises.
    match unsafe { LLVMGetLinkage(function) } {
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => Linkage::Internal,
        LLVMLinkage::LLVMExternalLinkage => Linkage::External,
        _ => Linkage::Copy,
    }
}

/// Is there a use other than calling it, or may code that we do not see call it? What other modules do with a hidden
/// function is not known here; see `callers`.
///
/// # Safety
/// `function` must be valid.
unsafe fn address_taken(function: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let local =
            matches!(LLVMGetLinkage(function), LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
        (!local && LLVMGetVisibility(function) != LLVMVisibility::LLVMHiddenVisibility) || has_use_but_calls(function)
    }
}

/// # Safety
/// `function` must be valid.
unsafe fn has_use_but_calls(function: LLVMValueRef) -> bool {
    // SAFETY: walking the use list of a valid value.
    unsafe {
        let mut usage = LLVMGetFirstUse(function);
        while !usage.is_null() {
            let user = LLVMGetUser(usage);
            let called = (!LLVMIsACallInst(user).is_null() || is_invoke(user)) && LLVMGetCalledValue(user) == function;
            let as_operand = || {
                let count = u32::try_from(LLVMGetNumOperands(user)).unwrap_or(0);
                (0..count).filter(|&i| LLVMGetOperand(user, i) == function).count()
            };
            if !called || as_operand() > 1 {
                return true;
            }
            usage = LLVMGetNextUse(usage);
        }
        false
    }
}

/// # Safety
/// `value` must be valid.
unsafe fn is_invoke(value: LLVMValueRef) -> bool {
    // SAFETY: asking a constant for its opcode is not allowed, so instructions are told apart first.
    unsafe { !LLVMIsAInstruction(value).is_null() && LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMInvoke }
}

/// # Safety
/// `function` must be valid.
unsafe fn untouched(function: LLVMValueRef, modelled: bool, resolvers: &HashSet<LLVMValueRef>) -> Option<Untouched> {
    // SAFETY: attribute look-ups on a valid function.
    let has =
        |name: &str| unsafe { !LLVMGetEnumAttributeAtIndex(function, FUNCTION_INDEX, attribute_kind(name)).is_null() };
    if has("naked") {
        Some(Untouched::Naked)
    } else if resolvers.contains(&function) {
        Some(Untouched::IfuncResolver)
    } else if has("presplitcoroutine") {
        Some(Untouched::Coroutine)
    } else if has("noprofile") || has("skipprofile") {
        Some(Untouched::AuthorForbids)
    } else if !modelled {
        Some(Untouched::UnmodelledControlFlow)
    } else {
        None
    }
}

/// Does the module declare or define one of these functions?
fn refers_to(module: &Module, names: &[&CStr]) -> bool {
    // SAFETY: look-ups by name in a valid module.
    names.iter().any(|name| unsafe { !LLVMGetNamedFunction(module.raw, name.as_ptr()).is_null() })
}

fn ifunc_resolvers(module: &Module) -> HashSet<LLVMValueRef> {
    let mut resolvers = HashSet::new();
    // SAFETY: walking the ifunc list of a valid module.
    unsafe {
        let mut ifunc = LLVMGetFirstGlobalIFunc(module.raw);
        while !ifunc.is_null() {
            resolvers.insert(LLVMGetGlobalIFuncResolver(ifunc));
            ifunc = LLVMGetNextGlobalIFunc(ifunc);
        }
    }
    resolvers
}
