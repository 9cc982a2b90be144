//! The truth about a run, found without any probe: the oracle of every method.

use super::process::Thread;
use super::state::Registers;
use super::walk::GraphWalk;
use crate::facts::Function;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap, Site, id};
use crate::profile::{EarlyExits, FunctionProfile};
use std::collections::BTreeMap;

id!(
    /// One activation of a function, by its place in [`Truth::activations`].
    pub Activation,
    "a"
);

/// What is known of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationFacts {
    /// The function.
    pub function: FunctionId,
    /// The thread.
    pub thread: Thread,
    /// Who called it, and by which call; `None` if that was code outside of the program, or a signal.
    pub caller: Option<(Activation, CallId)>,
    /// The activation handles a signal.
    pub handles: bool,
}

/// One thing that an activation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The activation begins.
    Begin,
    /// The activation enters a block.
    Enter(Block),
    /// The activation makes a call.
    Call(CallId),
    /// An access of memory tells its address and its length, by its number among the function's.
    Access(u32, u64, u64),
    /// The activation reports this many events.
    Report(i64),
    /// The activation goes along an edge; on an edge to EXIT it returns.
    Take(Edge),
    /// The activation catches the exception that ended the call under way.
    Catch,
    /// The activation is abandoned: at a call site, or at a place where no call is under way.
    Abandoned(Option<Site>),
    /// The activation is re-entered without a call: at a call site, or at a place where no call is under way.
    Revived(Option<Site>),
}

/// An activation that ended early (+1) or came to life (−1) at a call site, as the runtime reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyExit {
    /// The thread.
    pub thread: Thread,
    /// The function.
    pub function: FunctionId,
    /// Where.
    pub site: Site,
    /// The activation's registers then.
    pub registers: Registers,
    /// The thread's events of each kind then, if they are counted for calls.
    pub totals: Vec<u64>,
    /// +1 or −1.
    pub count: i64,
}

/// What one function did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTruth {
    /// How often it was entered.
    pub entries: u64,
    /// How often each block was entered.
    pub blocks: IdMap<Block, u64>,
    /// How often each edge was taken.
    pub edges: IdMap<Edge, u64>,
    /// How often each call was made.
    pub calls: IdMap<CallId, u64>,
    /// Per call site, activations abandoned less those come to life.
    pub at_site: IdMap<Site, i64>,
    /// The stretches of its activations, in the order in which they ended; those that ended outside of calls are
    /// missing.
    pub walks: Vec<GraphWalk>,
}

impl FunctionTruth {
    pub(super) fn new(function: &Function) -> Self {
        Self {
            blocks: IdMap::filled(0, function.blocks.len()),
            edges: IdMap::filled(0, function.edges.len()),
            calls: IdMap::filled(0, function.calls.len()),
            at_site: IdMap::filled(0, function.sites().len()),
            ..Self::default()
        }
    }

    /// The profile of the function, as a method should recover it.
    #[must_use]
    pub fn profile(&self) -> FunctionProfile {
        FunctionProfile {
            entries: self.entries,
            blocks: self.blocks.clone(),
            edges: Some(self.edges.clone()),
            early: self.early().at_site,
            flaws: Vec::new(),
        }
    }

    /// The early exits that the runtime would report.
    #[must_use]
    pub fn early(&self) -> EarlyExits {
        let none = self.at_site.iter().all(|&count| count == 0);
        EarlyExits { at_site: if none { IdMap::default() } else { self.at_site.clone() } }
    }
}

/// What really happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Per function.
    pub functions: Vec<FunctionTruth>,
    /// How often each call entered each function of the program directly.
    pub callees: BTreeMap<(FunctionId, CallId, FunctionId), u64>,
    /// Early exits, in order.
    pub early: Vec<EarlyExit>,
    /// Activations that ended or came to life where no call was under way, as a signal handler can have it: no profile
    /// of their functions is exact.
    pub interrupted: Vec<(FunctionId, Block)>,
    /// All activations, in the order in which they began.
    pub activations: IdMap<Activation, ActivationFacts>,
    /// Per thread, everything that its activations did, in order.
    pub logs: IdMap<Thread, Vec<(Activation, Step)>>,
    /// Per thread, the events that the program reported.
    pub reported: IdMap<Thread, i64>,
}
