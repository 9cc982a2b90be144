//! Control-flow edges.

use crate::ids::Block;
use serde::{Deserialize, Serialize};

/// The kind of a control-flow edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EdgeKind {
    /// An unconditional branch.
    Jump,
    /// A conditional branch that is taken.
    True,
    /// A conditional branch that is not taken.
    False,
    /// One case of a switch, with its value.
    Case(i64),
    /// Several cases of a switch that go to the same block: how many, and the first one's value.
    Cases(u32, i64),
    /// The default of a switch, with the cases that go to the same block.
    Default,
    /// An invoke that returns.
    InvokeNormal,
    /// An invoke that unwinds to its landing pad.
    InvokeUnwind,
    /// A target of an indirect branch (computed goto).
    IndirectBranch,
    /// The fall-through of an `asm goto`.
    CallBrFallthrough,
    /// A label of an `asm goto`.
    CallBrIndirect,
    /// `ret`, to EXIT.
    Return,
    /// `resume`, to EXIT: an exception goes on to the caller.
    Resume,
    /// `unreachable`, to EXIT.
    Unreachable,
}

impl EdgeKind {
    /// May a block be put on the edge? Virtual edges to EXIT count as splittable: the probe goes before the terminator.
    #[must_use]
    pub const fn splittable(self) -> bool {
        !matches!(self, Self::IndirectBranch)
    }

    /// Does the edge exist only because a call may throw?
    #[must_use]
    pub const fn exceptional(self) -> bool {
        matches!(self, Self::InvokeUnwind | Self::Resume)
    }
}

/// One control-flow edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeFacts {
    /// The block it leaves.
    pub src: Block,
    /// The block it enters; EXIT is `Block(blocks.len())`.
    pub dst: Block,
    /// The kind.
    pub kind: EdgeKind,
    /// Which successor of the terminator it is, from 0; of [`EdgeKind::Cases`] the first.
    pub successor: u32,
}
