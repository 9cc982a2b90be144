//! Basic blocks: their instructions and the source lines that they cover.

use super::Position;
use serde::{Deserialize, Serialize};

/// Instructions of a block by kind, counted in IR before the link-time optimiser; phis and debug intrinsics excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// All of them.
    pub total: u32,
    /// Loads from memory.
    pub loads: u32,
    /// Stores to memory.
    pub stores: u32,
    /// Calls and invokes, intrinsics excluded.
    pub calls: u32,
    /// Floating-point arithmetic.
    pub float: u32,
}

/// One basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFacts {
    /// Instructions by kind.
    pub instructions: InstructionCounts,
    /// Source lines that the block covers, in instruction order, runs of the same position merged.
    pub lines: Vec<LineSpan>,
}

/// A run of instructions of one block that come from one source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSpan {
    /// The position; line 0 (compiler-generated) is never listed.
    pub at: Position,
    /// The inlined copy that it belongs to: an index into [`Function::inlined`].
    pub inlined: Option<u32>,
    /// How many call sites of the block come before it: the span runs only if those calls return.
    pub after_sites: u32,
}

/// One inlined copy of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlined {
    /// The callee's symbol (linkage name), or its plain name where it has no other.
    pub symbol: String,
    /// Where the call stood.
    pub call: Option<Position>,
    /// The enclosing inlined copy, an earlier index of the same list.
    pub parent: Option<u32>,
}
