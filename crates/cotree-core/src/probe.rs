//! The probe language: the waist between planning and code generation.
//!
//! A probe is a tiny operation at a [`Place`] of a function. Every method of the papers is expressed in it, the LLVM
//! back end lowers it, and the interpreter (test support) runs it over walks of the graph.

use crate::ids::{Block, Counter, Edge, Reg, Table, Variable};
use serde::{Deserialize, Serialize};

/// Where a probe runs.
///
/// A block runs its `Start` probes, its instructions with their calls in order, its `End` probes, its terminator (an
/// invoke's call among it), and then the probes of the edge that is taken. A call that does not come back skips all
/// that follows. `End` of a block that ends in `ret`, `resume` or `unreachable` is just before that instruction (before
/// the call, where that is a `musttail` one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// First thing in the block.
    Start(Block),
    /// Last thing in the block, before its terminator.
    End(Block),
    /// On the edge: in a block of its own (a jump may be needed).
    Edge(Edge),
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Probe {
    /// `counter += 1`.
    Count(Counter),
    /// `counter += 1` if the indirect branch that ends the block is about to take this edge (which no probe can be put on).
    CountIfTaken(Counter, Edge),
    /// `reg = constant`.
    Set(Reg, i64),
    /// `reg += constant`.
    Add(Reg, i64),
    /// `table[reg + constant] += 1`.
    CountPath(Table, Reg, i64),
    /// `counter += reg + constant`.
    AddTo(Counter, Reg, i64),
    /// Writes the lowest `bits` bits of `value` to the trace.
    Witness {
        /// The witness value.
        value: u32,
        /// How many bits of it.
        bits: u8,
    },
    /// Adds a constant to the thread's event counter.
    Events(i64),
    /// `counter +=` what an affine variable has counted since its loop was entered (see [`Closing`]).
    Close(Counter, Closing),
    /// The same if the edge is the way that its branch has gone since then: one whose condition stays as it is while the
    /// loop runs. Else nothing.
    CloseIf(Counter, Closing, Edge),
}

impl Probe {
    /// What is added where a loop is left, if anything is, and to which counter.
    #[must_use]
    pub fn closing(&self) -> Option<(Counter, Closing)> {
        match *self {
            Probe::Close(counter, closing) | Probe::CloseIf(counter, closing, _) => Some((counter, closing)),
            _ => None,
        }
    }
}

/// Where a loop is left, `(value − value at entry − offset) / step + plus` is how often the loop has done what its
/// affine variable counts (Frenot & Pereira 2024, §3.1; [`crate::affine`]). The division leaves no remainder; up to it
/// all is reckoned in the variable's own width, after it in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Closing {
    /// The variable.
    pub variable: Variable,
    /// The block of the loop from which it is left: the value is the one that the variable has there.
    pub from: Block,
    /// What each count moves the variable by.
    pub step: i64,
    /// By how much it has moved beyond the counts.
    pub offset: i64,
    /// What it has missed.
    pub plus: i64,
}

/// `to = from + plus`, where registers are kept and taken up again (Melski & Reps 1998, §7). At one place copies run after
/// all probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedCopy {
    /// Where.
    pub place: Place,
    /// What is set.
    pub to: Reg,
    /// What is read.
    pub from: Reg,
    /// What is added.
    pub plus: i64,
}

/// A probe with its place; probes of one place run in the order of the plan's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedProbe {
    /// Where.
    pub place: Place,
    /// What.
    pub probe: Probe,
}
