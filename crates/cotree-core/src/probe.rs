//! The probe language, which connects planning and code generation.
//!
//! A probe is a tiny operation at a [`Place`] of a function. Every method of the papers is expressed in it, the LLVM
//! back end lowers it, and the interpreter (test support) runs it.
//!
//! All arithmetic wraps around in 64 bits.

use crate::ids::{Block, CallId, Counter, Edge, Table, Variable, Word};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Where a probe runs. Files know the variants by their order: new ones come last.
///
/// A block runs its `Start` probes, its instructions with their calls in order (each between its `Call` and its `After`
/// probes), its `End` probes, its terminator (an invoke's call among it), and then the probes of the edge that is taken
/// (those `After` the invoke first). A call that does not come back skips all that follows. `End` of a block that ends
/// in `ret`, `resume` or `unreachable` is just before that instruction (before the call, where that is a `musttail`
/// one). Where the end of a block and its last call are at one place, `End` probes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// First thing in the block.
    Start(Block),
    /// Last thing in the block, before its terminator.
    End(Block),
    /// On the edge: in a block of its own (a jump may be needed).
    Edge(Edge),
    /// Just before the call.
    Call(CallId),
    /// Just behind the call, each time that it returns normally: for an invoke on its normal edge. Only where
    /// [`Call::comes_back`](crate::facts::Call::comes_back).
    After(CallId),
}

/// A register: a value of one activation that probes compute in, 0 when the activation begins. It is named by its
/// owner, so that the probes of two methods in one function never meet in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// A promoted counter's count since its loop was entered ([`crate::place::promotion`]), by its place among the
    /// promoted ones.
    Promoted(u32),
    /// The sum along the current path ([`crate::method::path`]).
    PathSum,
    /// The path sum when the loop with this header was entered ([`crate::method::path::context`]).
    LoopContext(Block),
    /// What will be written to the trace next ([`crate::method::trace`]).
    Token,
    /// The number of the path with which the activation was called ([`crate::method::ipath`]).
    CallContext,
    /// 1 while the current path is one with which the activation was called, else 0 ([`crate::method::ipath`]).
    CallOpen,
    /// How many completions that path has behind the activation's return ([`crate::method::ipath`]).
    Completions,
    /// The constant part of the sum along a path through several activations ([`crate::method::ipath`]).
    CallPathSum,
    /// The part of that sum that is a multiple of [`Self::Completions`], divided by it.
    CallPathFactor,
    /// Whether the path that a call gave back is one with which it was made ([`crate::method::ipath`]).
    CallReturned,
    /// The number of the path up to a call ([`crate::method::ipath`]).
    CallNumber,
    /// What the words that pass paths held when the activation began ([`crate::method::ipath`]).
    CallWord(Word),
    /// 1 if the caller has said with which path it calls the activation, else 0 ([`crate::method::ipath`]).
    CallClaimed,
    /// 0 if the caller has named the activation's function by its address, and behind such a call if the callee has
    /// come back with a path; else not 0 ([`crate::method::ipath`]).
    CallElsewhere,
    /// The thread's total of a metric when the path began ([`crate::method::ipath`]).
    CallBegan,
    /// The thread's total of a metric when a path began that is not the activation's own ([`crate::method::ipath`]).
    CallOthersBegan,
    /// How far the total has risen along the path that is counted next ([`crate::method::ipath`]).
    CallAmount,
}

impl Reg {
    /// The number of the register in files: the kind of owner in the upper bits, and 32 bits that belong to the owner.
    const fn number(self) -> u64 {
        let (kind, index) = match self {
            Self::Promoted(index) => (0, index),
            Self::PathSum => (1, 0),
            Self::LoopContext(header) => (2, header.0),
            Self::Token => (3, 0),
            Self::CallContext => (4, 0),
            Self::CallOpen => (4, 1),
            Self::Completions => (5, 0),
            Self::CallPathSum => (6, 0),
            Self::CallPathFactor => (7, 0),
            Self::CallReturned => (7, 1),
            Self::CallNumber => (7, 2),
            Self::CallWord(word) => (8, word.0),
            Self::CallClaimed => (7, 3),
            Self::CallElsewhere => (7, 4),
            Self::CallBegan => (7, 5),
            Self::CallOthersBegan => (7, 6),
            Self::CallAmount => (7, 7),
        };
        kind << 32 | index as u64
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    const fn from_number(number: u64) -> Option<Self> {
        let index = number as u32;
        Some(match (number >> 32, index) {
            (0, _) => Self::Promoted(index),
            (1, 0) => Self::PathSum,
            (2, _) => Self::LoopContext(Block(index)),
            (3, 0) => Self::Token,
            (4, 0) => Self::CallContext,
            (4, 1) => Self::CallOpen,
            (5, 0) => Self::Completions,
            (6, 0) => Self::CallPathSum,
            (7, 0) => Self::CallPathFactor,
            (7, 1) => Self::CallReturned,
            (7, 2) => Self::CallNumber,
            (7, 3) => Self::CallClaimed,
            (7, 4) => Self::CallElsewhere,
            (7, 5) => Self::CallBegan,
            (7, 6) => Self::CallOthersBegan,
            (7, 7) => Self::CallAmount,
            (8, _) => Self::CallWord(Word(index)),
            _ => return None,
        })
    }
}

/// As a variable-length integer. Maps hold promoted counters only, whose bytes are those of a plain 32-bit number.
impl Serialize for Reg {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Reg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| de::Error::custom("no such register"))
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promoted(index) => write!(f, "promoted{index}"),
            Self::PathSum => write!(f, "path"),
            Self::LoopContext(header) => write!(f, "context({header})"),
            Self::Token => write!(f, "token"),
            Self::CallContext => f.write_str("context"),
            Self::CallOpen => f.write_str("open"),
            Self::Completions => f.write_str("completions"),
            Self::CallPathSum => f.write_str("sum"),
            Self::CallPathFactor => f.write_str("factor"),
            Self::CallReturned => f.write_str("returned"),
            Self::CallNumber => f.write_str("number"),
            Self::CallWord(word) => write!(f, "saved({word})"),
            Self::CallClaimed => f.write_str("claimed"),
            Self::CallElsewhere => f.write_str("elsewhere"),
            Self::CallBegan => f.write_str("began"),
            Self::CallOthersBegan => f.write_str("others-began"),
            Self::CallAmount => f.write_str("amount"),
        }
    }
}

/// One operation. Files know the variants by their order: new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Probe {
    /// `counter += 1`.
    Count(Counter),
    /// `counter += 1` if the indirect branch that ends the block is about to take this edge (which no probe can be put
    /// on).
    CountIfTaken(Counter, Edge),
    /// `reg = constant`.
    Set(Reg, i64),
    /// `reg += constant`.
    Add(Reg, i64),
    /// `table[reg + constant] += 1`.
    CountPath(Table, Reg, i64),
    /// `counter += reg + constant`.
    AddTo(Counter, Reg, i64),
    /// `counter +=` what an affine variable has counted since its loop was entered (see [`Closing`]).
    Close(Counter, Closing),
    /// Closes as `Close` does if the edge's branch, which is steady while the loop runs, has taken that edge since
    /// then. Otherwise nothing.
    CloseIf(Counter, Closing, Edge),
    /// `to = from * times + plus`: a linear function of a register. A copy if `times` is 1.
    Linear {
        /// What is set.
        to: Reg,
        /// What is read.
        from: Reg,
        /// What it is multiplied by.
        times: i64,
        /// What is added then.
        plus: i64,
    },
    /// If `reg` is `limit` or more, both unsigned: appends its lowest bytes to the trace, and sets it to 1.
    EmitFull {
        /// The register.
        reg: Reg,
        /// How much it may not reach, an unsigned number.
        limit: u64,
        /// How many bytes, from 1 to 8.
        bytes: u8,
    },
    /// Appends to the trace that this function begins ([`crate::method::trace::stream::entered`]).
    RecordEntry,
    /// `to += factor * times`, three registers.
    AddProduct {
        /// What is added to.
        to: Reg,
        /// What is multiplied.
        factor: Reg,
        /// By what.
        times: Reg,
    },
    /// `reg = word`, a word of the thread's slab.
    Read(Reg, Word),
    /// `word = from * times + plus`.
    Write {
        /// What is written.
        word: Word,
        /// What is read.
        from: Reg,
        /// What it is multiplied by.
        times: i64,
        /// What is added then.
        plus: i64,
    },
    /// `reg = constant` where the second register is 0, else nothing.
    SetUnless(Reg, Reg, i64),
    /// `reg += constant` where the second register is 0, else nothing.
    AddUnless(Reg, Reg, i64),
    /// `counter += times *` what [`Probe::Close`] would add, or with a `branch` [`Probe::CloseIf`].
    CloseBy {
        /// The counter.
        counter: Counter,
        /// What the variable has counted.
        closing: Closing,
        /// The closing counts only if this edge's branch has taken that edge.
        branch: Option<Edge>,
        /// What it is multiplied by.
        times: u64,
    },
    /// Appends the lowest bytes of `reg + plus` (without a register: of `plus`), lowest byte first, to the thread's
    /// trace ([`crate::method::trace`]).
    Emit {
        /// The register.
        reg: Option<Reg>,
        /// What is added.
        plus: i64,
        /// How many bytes, from 1 to 8.
        bytes: u8,
    },
    /// `counter += constant`.
    CountBy(Counter, u64),
    /// `to += from` or `to -= from`: another counter of the thread's as it is now
    /// ([`crate::method::events::call_sums`]).
    AddCounter {
        /// What is changed.
        to: Counter,
        /// What is read.
        from: Counter,
        /// The value is taken away.
        minus: bool,
    },
    /// Adds up events while a function, or a call, is under way for the first time in its thread, whatever is under way
    /// in it for the second time ([`crate::method::events::call_sums`]).
    Outermost {
        /// What happens to the activation.
        step: OutermostStep,
        /// Says which activation is the outermost one: a word of the thread's slab, by its number among such.
        word: Word,
        /// The sum of the first kind of events; those of the other kinds follow.
        sums: Counter,
        /// How many kinds there are.
        kinds: u8,
    },
    /// Appends bits to the thread's trace: to the byte that holds the last ones, if that is open and has room for them,
    /// else to a new one ([`crate::method::trace::stream`]).
    EmitBits {
        /// The bits, as a number.
        value: u8,
        /// How many, from 1 to 7.
        bits: u8,
    },
    /// If the word is `mark`: `to = 1` and `word = 0`. Else `to = 0`.
    Claim {
        /// What is set.
        to: Reg,
        /// The word.
        word: Word,
        /// What the word is compared with.
        mark: i64,
    },
    /// `to = from` where `flag` is 0, else nothing.
    CopyUnless {
        /// What is set.
        to: Reg,
        /// The register that decides.
        flag: Reg,
        /// What is read.
        from: Reg,
    },
    /// `table[reg] += 1` where `flag` is 0, else nothing.
    CountPathUnless {
        /// The table.
        table: Table,
        /// The number of the path.
        reg: Reg,
        /// The register that decides.
        flag: Reg,
    },
    /// `word = -(plus + the address of the function that the call enters)`, at [`Place::Call`].
    NameCallee {
        /// The word.
        word: Word,
        /// What is added to the address.
        plus: i64,
    },
    /// If the word is `-(plus + the address of the function that the probe is in)`: `to = 0` and `word = 0`. Else
    /// `to = 1`.
    ClaimByAddress {
        /// What is set.
        to: Reg,
        /// The word.
        word: Word,
        /// What is added to the address.
        plus: i64,
    },
    /// `amount = total - since`, then `since = total`: the thread's total of the metric that is added up along paths.
    Meter {
        /// How far the total has risen.
        amount: Reg,
        /// The total at the last reading.
        since: Reg,
    },
}

/// A step of [`Probe::Outermost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OutermostStep {
    /// The function is entered, or the call is made. If no activation is the outermost one, this one is, and the
    /// counters of events are taken away from the sums.
    Begin,
    /// The function returns, or the call does. If this is the outermost activation, the counters are added to the sums,
    /// and there is no outermost one.
    End,
    /// A call has returned for the second time, to an activation that was taken for dead: if that was the outermost
    /// one, it is so again.
    Again,
}

impl Probe {
    /// `to = from + plus`.
    #[must_use]
    pub const fn copy(to: Reg, from: Reg, plus: i64) -> Self {
        Self::Linear { to, from, times: 1, plus }
    }

    /// `to = constant`. Other than [`Self::Set`], it means nothing where a call returns twice.
    #[must_use]
    pub const fn constant(to: Reg, constant: i64) -> Self {
        Self::Linear { to, from: to, times: 0, plus: constant }
    }

    /// The registers that it reads or writes.
    pub fn registers(&self) -> impl Iterator<Item = Reg> + use<> {
        let (first, second) = match *self {
            Self::AddProduct { to, factor, times } => {
                return [Some(to), Some(factor), Some(times)].into_iter().flatten();
            }
            Self::Read(reg, _) | Self::Write { from: reg, .. } => (Some(reg), None),
            Self::CopyUnless { to, flag, from } => return [Some(to), Some(flag), Some(from)].into_iter().flatten(),
            Self::SetUnless(reg, flag, _) | Self::AddUnless(reg, flag, _) | Self::CountPathUnless { reg, flag, .. } => {
                (Some(reg), Some(flag))
            }
            Self::Claim { to, .. } | Self::ClaimByAddress { to, .. } => (Some(to), None),
            Self::Set(reg, _) | Self::Add(reg, _) | Self::CountPath(_, reg, _) | Self::AddTo(_, reg, _) => {
                (Some(reg), None)
            }
            Self::Linear { to, from, .. } => (Some(to), Some(from)),
            Self::Meter { amount, since } => (Some(amount), Some(since)),
            Self::Emit { reg, .. } => (reg, None),
            Self::EmitFull { reg, .. } => (Some(reg), None),
            Self::Count(_)
            | Self::CountIfTaken(..)
            | Self::RecordEntry
            | Self::EmitBits { .. }
            | Self::NameCallee { .. }
            | Self::CountBy(..)
            | Self::AddCounter { .. }
            | Self::Outermost { .. }
            | Self::Close(..)
            | Self::CloseIf(..)
            | Self::CloseBy { .. } => (None, None),
        };
        [first, second, None].into_iter().flatten()
    }

    /// The table in which it counts a path, if it counts one.
    #[must_use]
    pub const fn table(&self) -> Option<Table> {
        match *self {
            Self::CountPath(table, ..) | Self::CountPathUnless { table, .. } => Some(table),
            _ => None,
        }
    }

    /// The closing of the probe and its counter, if it is a closing.
    #[must_use]
    pub fn closing(&self) -> Option<(Counter, Closing)> {
        match *self {
            Probe::Close(counter, closing)
            | Probe::CloseIf(counter, closing, _)
            | Probe::CloseBy { counter, closing, .. } => Some((counter, closing)),
            _ => None,
        }
    }
}

/// Where a loop is left, `(value − value at entry − offset) / step + plus` is how often the loop has done what its
/// affine variable counts (Frenot & Pereira 2024, §3.1; [`crate::place::affine`]). The division leaves no remainder.
/// The computation uses the variable's own width up to the division, and 64 bits after it.
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

/// A probe with its place; probes of one place run in the order of the plan's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedProbe {
    /// Where.
    pub place: Place,
    /// What.
    pub probe: Probe,
}
