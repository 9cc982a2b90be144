//! Notes in debug information from which a reader learns, after a fault, in which block the program was and on which
//! path: nothing is executed for them.
//!
//! Each stretch of a block (`cotree_core::facts::stretches`) has a number in the unit. It is in the discriminator of
//! the locations of its instructions, so the line table says which stretch an instruction of machine code has come
//! from; where the optimiser has merged instructions of several, it gives the result none of their locations. The path
//! is in variables (`cotree_profile::path_notes`), which hold the number, too. So a reader knows the path only where
//! all agree. Where paths do not change within a block, all of it has the number of its first stretch.

use super::code::Code;
use crate::extract::{Extracted, FunctionIr};
use crate::ir::{DebugInfoBuilder, Instruction, Location};
use crate::module::Module;
use cotree_core::facts::{Function, stretches};
use cotree_core::ids::{Block, CallId, IdMap};
use cotree_profile::path_notes;
use llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};

/// Operators of DWARF, of which notes are made.
pub(super) mod operators {
    pub const CONSTU: u64 = gimli::DW_OP_constu.0 as u64;
    pub const PLUS: u64 = gimli::DW_OP_plus.0 as u64;
    pub const SHL: u64 = gimli::DW_OP_shl.0 as u64;
    pub const SHR: u64 = gimli::DW_OP_shr.0 as u64;
    pub const STACK_VALUE: u64 = gimli::DW_OP_stack_value.0 as u64;
}

/// Whether a block begins with a landing pad. Behind it LLVM's fast code generator may put records, and what it
/// reloads, before the label that exceptions jump to: such blocks have no notes.
pub(super) fn begins_with_pad(code: &Code<'_, '_>, block: Block) -> bool {
    code.block(block).instructions().any(|i| i.opcode() == LLVMOpcode::LLVMLandingPad)
}

/// Where a block's notes go.
#[derive(Clone, Copy)]
pub(super) struct Ends<'m> {
    /// The block's first instruction, behind the probes at its start.
    pub(super) start: Instruction<'m>,
    /// The first of the probes at its end.
    pub(super) probes: Option<Instruction<'m>>,
}

/// The places for the notes of a function.
pub(super) struct BlockNotes<'m> {
    /// The number of its first stretch in the unit.
    pub(super) first: u32,
    pub(super) blocks: IdMap<Block, Ends<'m>>,
    /// By block: the number of its first stretch.
    pub(super) numbers: IdMap<Block, u32>,
    /// The instructions behind calls; none behind one that ends its block.
    pub(super) behind: IdMap<CallId, Option<Instruction<'m>>>,
}

impl<'m> BlockNotes<'m> {
    /// Gives the instructions of a function the numbers of their stretches, or of the first ones of their blocks: none
    /// of its probes are there yet. `None` if there is no debug information that could say them.
    pub(super) fn begin(code: &Code<'_, 'm>, by_stretch: bool) -> Option<Self> {
        let first = code.first_block?;
        code.ir.function.scope().filter(|scope| scope.has_variables(code.module))?;
        if first.checked_add(count(code.facts))? > path_notes::MOST_BLOCKS {
            return None;
        }
        let starts = (first..).zip(stretches::stretches(code.facts)).filter(|(_, stretch)| stretch.behind.is_none());
        let numbers: IdMap<Block, u32> = starts.map(|(number, _)| number).collect();
        if !mark(code.module, code.ir, &numbers, by_stretch) {
            return None;
        }
        let ends = |number| Ends { start: code.first_position(Block::new(number)), probes: None };
        let blocks = (0..code.ir.blocks.len()).map(ends).collect();
        let behind = code.ir.calls.iter().map(|call| call.next()).collect();
        Some(Self { first, blocks, numbers, behind })
    }
}

/// How many numbers the stretches of a module's functions have.
pub(crate) fn blocks_of(extracted: &Extracted) -> u32 {
    extracted.facts.functions.iter().map(count).fold(0, u32::saturating_add)
}

/// How many numbers the stretches of a function have.
pub(super) fn count(function: &Function) -> u32 {
    u32::try_from(stretches::count(function)).unwrap_or(u32::MAX)
}

/// Puts the numbers of stretches, or of the first ones of blocks, into the locations of instructions; false if none has
/// a location.
fn mark<'m>(module: &'m Module, ir: &FunctionIr<'m>, numbers: &IdMap<Block, u32>, by_stretch: bool) -> bool {
    let builder = DebugInfoBuilder::new(module);
    let mut marked = false;
    let calls: HashSet<Instruction<'m>> = if by_stretch { ir.calls.iter().copied().collect() } else { HashSet::new() };
    for (&first, &block) in numbers.iter().zip(&ir.blocks) {
        let mut number = first;
        let mut made: HashMap<Location<'m>, Location<'m>> = HashMap::new();
        for instruction in block.instructions() {
            let here = number;
            if calls.contains(&instruction) {
                made.clear();
                number += 1;
            }
            if !is_ordinary(instruction) {
                continue;
            }
            let Some(old) = instruction.location() else { continue };
            let Some(file) = old.scope().file() else { continue };
            let new = *made.entry(old).or_insert_with(|| {
                let scope = builder.discriminated(old.scope(), file, path_notes::discriminator(here));
                builder.location(old.line(), old.column(), scope, old.inlined_at())
            });
            instruction.set_location(Some(new));
            marked = true;
        }
    }
    marked
}

/// Calls have numbers of their own. Of probes and jumps at the end of a block nothing is said.
fn is_ordinary(instruction: Instruction<'_>) -> bool {
    use LLVMOpcode::*;
    if let Some(call) = instruction.as_call() {
        const NAMES: [&str; 4] = ["llvm.mem", "llvm.trap", "llvm.ubsantrap", "llvm.masked."];
        return call.intrinsic().is_some_and(|name| NAMES.iter().any(|prefix| name.starts_with(prefix)));
    }
    !matches!(
        instruction.opcode(),
        LLVMPHI
            | LLVMAlloca
            | LLVMLandingPad
            | LLVMRet
            | LLVMBr
            | LLVMSwitch
            | LLVMIndirectBr
            | LLVMUnreachable
            | LLVMResume
    )
}
