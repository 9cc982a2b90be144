//! The types of trace plans and their keys.

use crate::facts::Accesses;
use crate::ids::{Block, CallId, Edge, FunctionId};
use crate::plan::FunctionPlan;
use crate::probe::PlacedProbe;
use serde::{Deserialize, Serialize};

/// How the segments of a function are numbered. Files know the variants by their order: new ones come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Encoding {
    /// The number of the segment among those with its start, as Ball & Larus 1996 number paths.
    #[default]
    Paths,
    /// Behind a leading 1, the number of each branch's outcome, in as few bits as the branch needs (Ball & Larus 1994,
    /// §6.2).
    Bits,
    /// Behind a leading 1, the witnesses on the path (§4.1, §4.2).
    Witnesses,
    /// No register: each witness is written where its edge is taken (§4.1, §4.2), and is a token of its own. Loops are
    /// cut nowhere else.
    EachWitness,
    /// No register: the number of each branch's outcome is written where its edge is taken, in as few bits as the
    /// branch needs, into bytes that all functions share (§6.2).
    EachBranch,
}

impl Encoding {
    /// Is a token bits behind a leading 1?
    #[must_use]
    pub const fn has_bits(self) -> bool {
        matches!(self, Self::Bits | Self::Witnesses)
    }

    /// Is a token made in a register, along its segment?
    #[must_use]
    pub const fn has_register(self) -> bool {
        !matches!(self, Self::EachWitness | Self::EachBranch)
    }

    /// What explanations call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paths => "the number of the path",
            Self::Bits => "bits for each branch",
            Self::Witnesses => "witnesses",
            Self::EachWitness => "a witness",
            Self::EachBranch => "the outcome of a branch",
        }
    }
}

/// What the user wants segments to be numbered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceBy {
    /// What is cheapest, per function.
    #[default]
    Auto,
    /// One encoding for all functions.
    Only(Encoding),
}

impl TraceBy {
    /// By its name in options.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "paths" => Self::Only(Encoding::Paths),
            "bits" => Self::Only(Encoding::EachBranch),
            "witness" => Self::Only(Encoding::EachWitness),
            _ => return None,
        })
    }
}

/// How traces are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// How segments are numbered.
    pub by: TraceBy,
    /// May turns of loops share tokens ([`Packing`])?
    pub packs: bool,
    /// Does a segment end on every edge out of a branch? Then each conditional writes a record, as the first version of
    /// AE did (Ball & Larus 1994, Table 3): something to compare with.
    pub per_branch: bool,
    /// Do functions that call others record their entries? The time is told with that.
    pub timed: bool,
    /// The accesses of memory that tell their addresses. The reader must know which block runs as soon as it does, so
    /// no token spans two blocks that have any.
    pub addresses: Option<Accesses>,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { by: TraceBy::Auto, packs: true, per_branch: false, timed: false, addresses: None }
    }
}

/// What a call means to the stream. Files know the variants by their order: new ones come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CallKind {
    /// Nobody knows what it does: control bytes follow, until one says that it has returned.
    #[default]
    Opaque,
    /// The call returns, and no traced code runs before it does. The call ends no segment.
    Untraced,
    /// The call leads to this function, which writes no token, and neither do its callees. The call ends no segment.
    Tokenless(FunctionId),
    /// The call leads to this function.
    Direct(FunctionId),
    /// The call leads to this function, which may leave by a `musttail` call of who knows whom: control bytes follow
    /// when it has left, until one says that the call has returned.
    Forwarded(FunctionId),
}

impl CallKind {
    /// Does a segment end before it?
    #[must_use]
    pub const fn ends_segment(self) -> bool {
        !matches!(self, Self::Untraced | Self::Tokenless(_))
    }

    /// Does a control byte say that it has returned?
    #[must_use]
    pub const fn is_confirmed(self) -> bool {
        matches!(self, Self::Opaque | Self::Forwarded(_))
    }

    /// The function of the unit that it calls by name.
    #[must_use]
    pub const fn callee(self) -> Option<FunctionId> {
        match self {
            Self::Opaque | Self::Untraced => None,
            Self::Tokenless(function) | Self::Direct(function) | Self::Forwarded(function) => Some(function),
        }
    }
}

/// Tokens of several turns of a loop in one: the register is multiplied where a loop's cut edge is passed, and written
/// when it is full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packing {
    /// The cut edges that are not the end of a token.
    pub edges: Vec<Edge>,
    /// The bytes of tokens that pass such an edge.
    pub bytes: u8,
}

/// What regenerates the execution of one function, besides its facts. Equal facts and keys make equal numberings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceKey {
    /// How segments are numbered.
    pub encoding: Encoding,
    /// The function records its entry when it begins.
    pub records_entry: bool,
    /// What calls mean, those that are not [`CallKind::Opaque`], in order.
    pub calls: Vec<(CallId, CallKind)>,
    /// Edges on which segments end and begin, in order, besides those that can't be otherwise.
    pub cuts: Vec<Edge>,
    /// Edges that come first among those that leave their block, in order: the likely ones, which cost nothing.
    pub first: Vec<Edge>,
    /// Loops whose turns share tokens.
    pub packing: Packing,
    /// The edges that have witnesses, in order, with their values ([`Encoding::Witnesses`], [`Encoding::EachWitness`]).
    pub witnesses: Vec<(Edge, u32)>,
    /// Blocks that indirect branches may lead to, in order: entering one writes its place in this list.
    pub targets: Vec<Block>,
}

impl TraceKey {
    /// How many bytes say which of the targets is entered.
    #[must_use]
    pub fn target_bytes(&self) -> u8 {
        if self.targets.len() <= 256 { 1 } else { 2 }
    }

    /// What a call means.
    #[must_use]
    pub fn call(&self, call: CallId) -> CallKind {
        match self.calls.binary_search_by_key(&call, |listed| listed.0) {
            Ok(found) => self.calls[found].1,
            Err(_) => CallKind::Opaque,
        }
    }
}

/// The plan of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracePlan {
    /// What is applied, in the order in which probes run at each place.
    pub probes: Vec<PlacedProbe>,
    /// What is kept to regenerate the execution.
    pub key: TraceKey,
}

impl<'a> From<&'a TracePlan> for FunctionPlan<'a> {
    fn from(plan: &'a TracePlan) -> Self {
        Self { probes: &plan.probes, counters: 0, measures: &[], fixed: &[] }
    }
}

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTracePlan {
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have empty ones.
    pub functions: Vec<TracePlan>,
}

/// Why a function's execution can't be regenerated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The facts are no graph.
    #[error(transparent)]
    Graph(#[from] crate::graph::cfg::CfgError),
    /// The key names an edge, block or call that does not exist, or is not in order.
    #[error("the key of its trace does not fit it")]
    ForeignKey,
    /// There are more segments than tokens can tell apart.
    #[error("it has too many paths for a token")]
    TooManyPaths,
    /// The first block of the function is entered by an edge, too.
    #[error("its first block is entered more than once")]
    EnteredAgain,
    /// Turns of a loop share a token that nothing writes.
    #[error("it has a token that is never written")]
    NeverWritten,
    /// Links form a cycle that no cut breaks.
    #[error("its segments have no end")]
    Endless,
    /// Witnesses do not distinguish the paths.
    #[error("its witnesses do not distinguish its paths")]
    Ambiguous,
}
