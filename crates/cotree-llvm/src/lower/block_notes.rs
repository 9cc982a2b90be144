//! Notes in debug information from which a reader learns, after a fault, in which block the program was and on which
//! path: nothing is executed for them.
//!
//! Each block has a number in the unit. It is in the discriminator of the locations of the block's own instructions, so
//! the line table says which block an instruction of machine code has come from; where the optimiser has merged
//! instructions of several blocks, it gives the result none of their locations. The path is in a variable
//! (`cotree_profile::path_notes`), which holds the block's number, too. So a reader knows the path only where both
//! agree.

use super::code::Code;
use crate::extract::{Extracted, FunctionIr};
use crate::ir::{DebugInfoBuilder, Instruction, Location};
use crate::module::Module;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, IdMap};
use cotree_profile::path_notes;
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

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
    /// The number of its first block in the unit.
    pub(super) first: u32,
    pub(super) blocks: IdMap<Block, Ends<'m>>,
}

impl<'m> BlockNotes<'m> {
    /// Gives the instructions of a function the numbers of their blocks: none of its probes are there yet. `None` if
    /// there is no debug information that could say them.
    pub(super) fn begin(code: &Code<'_, 'm>) -> Option<Self> {
        let first = code.first_block?;
        code.ir.function.scope().filter(|scope| scope.has_variables(code.module))?;
        let count = u32::try_from(code.ir.blocks.len()).ok()?;
        let last = first.checked_add(count)?;
        if last > path_notes::MOST_BLOCKS || !mark(code.module, code.ir, first) {
            return None;
        }
        let ends = |number| Ends { start: code.first_position(Block::new(number)), probes: None };
        Some(Self { first, blocks: (0..code.ir.blocks.len()).map(ends).collect() })
    }
}

/// How many blocks of a module's functions have numbers.
pub(crate) fn blocks_of(extracted: &Extracted) -> u32 {
    extracted.facts.functions.iter().map(count).fold(0, u32::saturating_add)
}

/// How many blocks of a function have numbers.
pub(super) fn count(function: &Function) -> u32 {
    u32::try_from(function.blocks.len()).unwrap_or(u32::MAX)
}

/// Puts the numbers of blocks into the locations of instructions; false if none has a location.
fn mark<'m>(module: &'m Module, ir: &FunctionIr<'m>, first: u32) -> bool {
    let builder = DebugInfoBuilder::new(module);
    let mut marked = false;
    for (number, &block) in (first..).zip(&ir.blocks) {
        let mut made: HashMap<Location<'m>, Location<'m>> = HashMap::new();
        for instruction in block.instructions().filter(|&instruction| is_ordinary(instruction)) {
            let Some(old) = instruction.location() else { continue };
            let Some(file) = old.scope().file() else { continue };
            let new = *made.entry(old).or_insert_with(|| {
                let scope = builder.discriminated(old.scope(), file, path_notes::discriminator(number));
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
