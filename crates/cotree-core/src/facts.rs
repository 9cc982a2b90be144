//! The program map: what is known about a link unit before any probe is planned.
//!
//! The extractor fills it from bitcode; planner, recovery and every report read it. It is stored inside the profiled
//! binary, so all of it is plain serialisable data, and its shape is part of the map format (`docs/formats.md`).
//!
//! Only blocks that can be reached from the entry are listed: the others never run.

use crate::cfg::{Cfg, CfgError};
use crate::ids::{Block, Edge, Site};
use serde::{Deserialize, Serialize};

/// One link unit: an executable or a shared library, as the linker saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramMap {
    /// The base name of the linked file.
    pub name: String,
    /// The target triple.
    pub target: String,
    /// Source file paths; [`Position::file`] points in here.
    pub files: Vec<String>,
    /// The modules, in link order.
    pub modules: Vec<Module>,
}

impl ProgramMap {
    /// Every function of the unit with its module, in module order: the order of plans and profiles.
    pub fn functions(&self) -> impl Iterator<Item = (&Module, &Function)> {
        self.modules.iter().flat_map(|m| m.functions.iter().map(move |f| (m, f)))
    }
}

/// One bitcode module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The object file, or `archive(member)`.
    pub name: String,
    /// The functions that the module defines for this link unit.
    pub functions: Vec<Function>,
}

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

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// An index into [`ProgramMap::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where it is not known.
    pub column: u32,
}

/// Why a function carries no probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Untouched {
    /// `naked`: the body is assembly without a frame.
    Naked,
    /// The user's patterns exclude it.
    Excluded,
    /// It runs while the program is being relocated (an `ifunc` resolver).
    IfuncResolver,
    /// A coroutine that is not split yet.
    Coroutine,
    /// The method was `none`.
    NotAsked,
    /// Marked by its author as not to be instrumented (`no_profile_instrument_function`, `noprofile`).
    AuthorForbids,
    /// It has control flow that cannot be modelled (Windows exception funclets and the like).
    UnmodelledControlFlow,
}

/// Why a function's counts cannot always be vouched for, known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doubt {
    /// More call sites than return addresses can be told apart for: early exits from some of them are not attributed.
    UnmappedCallSites,
    /// It uses the builtin form of `setjmp`/`longjmp`, which cannot be observed.
    BuiltinSetjmp,
    /// The program switches stacks (`makecontext`, `swapcontext`, assembly of its own): activations that are suspended at the end are not seen.
    SwitchesStacks,
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
    pub blocks: Vec<BlockFacts>,
    /// The edges, those to EXIT included, those from EXIT not.
    pub edges: Vec<EdgeFacts>,
    /// Call sites in block order, then instruction order.
    pub sites: Vec<CallSite>,
    /// Functions that the compiler had inlined before us; parents come before children.
    pub inlined: Vec<Inlined>,
    /// Set when there are no probes here, with the reason.
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
    /// Where the facts do not describe a graph (they come from a file): see [`CfgError`].
    pub fn cfg(&self) -> Result<Cfg, CfgError> {
        Cfg::new(self.blocks.len(), self.edges.iter().map(|e| (e.src, e.dst)))
    }

    /// May the edge be given a block of its own?
    #[must_use]
    pub fn splittable(&self, edge: Edge) -> bool {
        self.edges[edge.index()].kind.splittable()
    }

    /// The call sites of one block, in order.
    pub fn sites_of(&self, block: Block) -> impl Iterator<Item = (Site, &CallSite)> {
        let start = self.sites.partition_point(|s| s.block < block);
        self.sites[start..]
            .iter()
            .take_while(move |s| s.block == block)
            .enumerate()
            .map(move |(i, s)| (Site::new(start + i), s))
    }
}

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

/// Whom a call site calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// A function by symbol.
    Symbol(String),
    /// Through a pointer.
    Indirect,
    /// Inline assembly that may call or leave.
    Assembly,
}

/// One call site: a point at which an activation may be abandoned, or re-entered.
///
/// Calls that are certain to return normally (most intrinsics) and `musttail` calls (whose frame is gone) are not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// The block that holds it.
    pub block: Block,
    /// Whom it calls.
    pub callee: Callee,
    /// It is the block's terminator (an invoke or `callbr`).
    pub terminator: bool,
    /// Declared never to return.
    pub no_return: bool,
    /// It may return twice (`setjmp`, `vfork`).
    pub returns_twice: bool,
    /// It stands before a `resume` and only marks it: the frame leaves by the CFG's own edge.
    pub resume_marker: bool,
    /// The number, unique in its module and from 1, that ties machine return addresses to it; 0 if it has none.
    pub probe: u16,
}
