//! One function: its linkage, its graph, and why it may not be measured.

use super::{Access, Anchor, BlockFacts, Call, Calls, EdgeFacts, Inlined, LeftOut, LineSpan, Position};
use crate::graph::cfg::{Cfg, CfgError};
use crate::ids::{Block, CallId, Edge, IdMap, Site};
use serde::{Deserialize, Serialize};

/// How a function's symbol is seen by the linker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Linkage {
    /// Local to its module.
    #[default]
    Internal,
    /// Defined once in the program.
    External,
    /// An inline or template copy; other modules or link units may carry their own.
    Copy,
}

/// Why a function carries no probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Untouched {
    /// `naked`: the body is assembly without a frame.
    Naked,
    /// The user's patterns exclude it.
    Excluded,
    /// The function runs while the program is being relocated (an `ifunc` resolver).
    IfuncResolver,
    /// A coroutine that is not split yet.
    Coroutine,
    /// The method was `none`.
    NotAsked,
    /// Marked by its author as not to be instrumented (`no_profile_instrument_function`, `noprofile`).
    AuthorForbids,
    /// The function has control flow that cannot be modelled (Windows exception funclets and the like).
    UnmodelledControlFlow,
}

/// Why a function's counts cannot always be vouched for, as known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// The function has more call sites than can be numbered: early exits from some of them are not attributed.
    UnmappedCallSites,
    /// The function uses the builtin form of `setjmp`/`longjmp`, which cannot be observed.
    BuiltinSetjmp,
    /// The program switches stacks (`makecontext`, `swapcontext`, assembly of its own): activations that are suspended
    /// at the end are not seen.
    SwitchesStacks,
    /// The function was optimised before its counters went in, and its loops may have been vectorised or unrolled: they
    /// make fewer turns than those of the source.
    OptimisedBefore,
}

/// One function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The linker symbol (mangled).
    pub symbol: String,
    /// See [`Linkage`].
    pub linkage: Linkage,
    /// Something takes its address, or code that we do not see may call it.
    pub address_taken: bool,
    /// Where the source says it begins.
    pub position: Option<Position>,
    /// The blocks, entry first.
    pub blocks: IdMap<Block, BlockFacts>,
    /// The edges, those to EXIT included, those from EXIT not.
    pub edges: IdMap<Edge, EdgeFacts>,
    /// The calls that the function makes; see [`Calls`].
    pub calls: Calls,
    /// The accesses of memory whose addresses are traced, in block order, then instruction order.
    pub accesses: Vec<Access>,
    /// Instructions that access memory too, and whose addresses are not traced, in that order.
    pub left_out: Vec<LeftOut>,
    /// Where counters of the compiler's coverage instrumentation stood, in block order.
    pub anchors: Vec<Anchor>,
    /// Functions that the compiler had inlined before us; parents come before children.
    pub inlined: Vec<Inlined>,
    /// Why it has no probes, if it has none.
    pub untouched: Option<Untouched>,
    /// Standing doubts.
    pub doubts: Vec<Doubt>,
}

impl Function {
    /// The virtual EXIT block: one past the real ones.
    #[must_use]
    pub fn exit(&self) -> Block {
        Block::new(self.blocks.len())
    }

    /// The control-flow graph, with the virtual EXIT and the edge EXIT→entry.
    ///
    /// # Errors
    /// If the facts, which may come from a file, do not describe a graph: see [`CfgError`].
    pub fn cfg(&self) -> Result<Cfg, CfgError> {
        Cfg::new(self.blocks.len(), self.edges.iter().map(|e| (e.src, e.dst)))
    }

    /// Can the edge get a block of its own?
    #[must_use]
    pub fn splittable(&self, edge: Edge) -> bool {
        self.edges[edge].kind.splittable()
    }

    /// The call sites, in the order of their numbers; see [`Calls::sites`].
    pub fn sites(&self) -> impl DoubleEndedIterator<Item = &Call> + ExactSizeIterator + Clone {
        self.calls.sites()
    }

    /// The call sites of one block, in order.
    pub fn sites_of(&self, block: Block) -> impl Iterator<Item = (Site, &Call)> {
        self.calls.sites_of(block)
    }

    /// The place of a call in the source, as far as it is known.
    #[must_use]
    pub fn call_position(&self, call: CallId) -> Option<Position> {
        let line = self.calls[call].line?;
        let span = self.line_span(&self.calls[call])?;
        Some(Position { column: line.column, ..span.at })
    }

    /// The lines that a call belongs to, which say from which inlined copy it comes.
    #[must_use]
    pub fn line_span(&self, call: &Call) -> Option<&LineSpan> {
        self.blocks.get(call.block)?.lines.get(call.line?.span as usize)
    }
}
