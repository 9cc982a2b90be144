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

impl InstructionCounts {
    /// Adds the counts of both.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            loads: self.loads.saturating_add(other.loads),
            stores: self.stores.saturating_add(other.stores),
            calls: self.calls.saturating_add(other.calls),
            float: self.float.saturating_add(other.float),
        }
    }

    /// What is left without `part`; `None` if it is no part of them.
    #[must_use]
    pub fn without(self, part: Self) -> Option<Self> {
        Some(Self {
            total: self.total.checked_sub(part.total)?,
            loads: self.loads.checked_sub(part.loads)?,
            stores: self.stores.checked_sub(part.stores)?,
            calls: self.calls.checked_sub(part.calls)?,
            float: self.float.checked_sub(part.float)?,
        })
    }
}

/// One basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFacts {
    /// Instructions by kind.
    pub instructions: InstructionCounts,
    /// Source lines that the block covers, in instruction order, runs of the same position merged.
    pub lines: Vec<LineSpan>,
    /// The instructions by line and between calls, in order. They are all of the block's
    /// ([`Self::runs_agree`]).
    pub runs: Vec<Run>,
}

impl BlockFacts {
    /// Do the runs say of each instruction where it stands?
    #[must_use]
    pub fn runs_agree(&self) -> bool {
        let none = InstructionCounts::default();
        self.runs.iter().fold(none, |sum, run| sum.plus(run.instructions)) == self.instructions
    }
}

/// Instructions of a block that follow each other, have the same source position, and stand between the same calls. A
/// call is the last instruction of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The span that they belong to, an index into [`BlockFacts::lines`]; `None` for code of the compiler's own.
    pub span: Option<u32>,
    /// How many calls of the block ([`Calls`](super::Calls), call sites or not) come before them.
    pub after_calls: u32,
    /// How many they are, by kind.
    pub instructions: InstructionCounts,
    /// What they cost, by a file of the user's; 0 without one.
    pub cost: u64,
}

/// A run of instructions of one block that come from one source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSpan {
    /// The position; line 0 (compiler-generated) is never listed.
    pub at: Position,
    /// The inlined copy that it belongs to: an index into [`super::Function::inlined`].
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
