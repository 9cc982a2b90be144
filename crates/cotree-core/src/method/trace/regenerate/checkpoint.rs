//! The state of a reader between two events.

use super::super::stream::Calling;
use super::super::tables::Tables;
use super::super::token::Token;
use super::event::Event;
use crate::ids::{Block, CallId, Edge, FunctionId};
use std::collections::VecDeque;

/// An activation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Activation {
    pub(super) function: FunctionId,
    /// Where it is, and the next call there.
    pub(super) node: u32,
    pub(super) next_call: CallId,
    /// The next access that tells its address, if the node has one.
    pub(super) next_access: u32,
    /// What is left of the token; `None` before it is read.
    pub(super) token: Option<Token>,
    /// The call under way.
    pub(super) calling: Option<CallId>,
}

impl Activation {
    /// One that is about to begin.
    #[inline]
    pub(super) fn new(function: FunctionId) -> Self {
        Self { function, node: 0, next_call: CallId(0), next_access: 0, token: None, calling: None }
    }

    /// The activation comes to a node.
    #[inline]
    pub(super) fn come_to(&mut self, tables: &Tables, node: usize) {
        self.node = node as u32;
        (self.next_call, self.next_access) = tables.beginning(node);
    }
}

/// An activation that has left without a byte since the last one that was read: it may have been interrupted before
/// that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// How many activations were around it.
    pub(super) depth: usize,
    /// What it was.
    pub(super) activation: Activation,
    /// What the innermost of those around it was.
    pub(super) around: Option<Activation>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The innermost activation goes on.
    Run,
    /// A control byte.
    Control,
    /// The function begins, for a call by name.
    Begin(FunctionId),
    /// The innermost activation enters this block, by the edge.
    Enter(Block, Option<Edge>),
    /// The innermost activation enters this block, by the edge, and has said which one it is if that is said.
    Arrive(Block, Option<Edge>),
    /// The innermost activation leaves its function by the edge.
    Leave(Edge),
    /// The indirect branch of the innermost activation's block says where it leads to.
    Dispatch,
    /// The innermost activation leaves by a `musttail` call.
    Tail(CallId, Edge),
    /// Recording is off.
    Off,
    /// The stack is told.
    Stack,
    /// Nobody knows what the stream means from here on.
    Unknown,
}

/// The state of a reader between two events: it can be kept, and reading resumed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub(super) stack: Vec<Activation>,
    pub(super) next: Next,
    /// Events that come before `next`.
    pub(super) pending: VecDeque<Event>,
    /// Frames that have come to life just now, innermost first.
    pub(super) revived: Vec<Calling>,
    /// Nobody knows what is around the outermost activation.
    pub(super) open_ended: bool,
    /// The function of a frame that was interrupted outside of calls: if one around it is over too, so are all on top
    /// of that.
    pub(super) interrupted: Option<FunctionId>,
    /// The thread was interrupted here and does not go on: frames that end next may be in calls that nothing is written
    /// for.
    pub(super) cut_short: bool,
    /// If an interruption is to come: those that have left, the last one last.
    pub(super) left: Vec<Left>,
    pub(super) position: u64,
    pub(super) events: u64,
    pub(super) certain: u64,
    /// How many events had been yielded when the last byte was read.
    pub(super) heard: u64,
    /// How many activations have begun since then.
    pub(super) begins: u64,
    /// The address that was told last; 0 behind what the runtime writes.
    pub(super) address: u64,
    /// What is left of the byte that outcomes of branches are taken from, behind a leading 1; 0 before there is one.
    pub(super) bits: u8,
}

impl Checkpoint {
    /// The beginning of a stream.
    #[must_use]
    pub fn beginning() -> Self {
        Self {
            stack: Vec::new(),
            next: Next::Control,
            pending: VecDeque::new(),
            revived: Vec::new(),
            open_ended: false,
            interrupted: None,
            cut_short: false,
            left: Vec::new(),
            position: 0,
            events: 0,
            certain: 0,
            heard: 0,
            begins: 0,
            address: 0,
            bits: 0,
        }
    }

    /// How many events have been yielded since the last byte was read.
    #[inline]
    pub(super) fn events_without_bytes(&self) -> u64 {
        self.events - self.heard
    }

    /// Is there nothing left to say of what the runtime has told?
    pub(super) fn is_settled(&self) -> bool {
        self.revived.is_empty() && self.interrupted.is_none() && !self.cut_short
    }

    /// How many bytes of the stream have been read: a source for [`super::Reader::resume`] begins there.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many events have been yielded.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many of them have happened for certain. The others follow from what the stream says if the program got
    /// that far; where the stream goes on, it has.
    #[must_use]
    pub fn certain(&self) -> u64 {
        self.certain
    }

    /// Does the stream go on behind what is known of the stack? The thread has left the outermost activation that was
    /// told.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.next == Next::Unknown
    }

    /// May there have been more activations around those that were told when the stream began?
    #[must_use]
    pub fn is_open_ended(&self) -> bool {
        self.open_ended
    }

    /// The checkpoint, if the thread was interrupted and did not go on: next comes a record of the runtime.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        if self.next == Next::Control && self.left.is_empty() {
            // It was in a call whose end is told.
            self.certain = self.events;
        }
        self.next = Next::Control;
        self.cut_short = true;
        self
    }

    /// How many activations are under way.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The activations under way, outermost first, with their blocks and calls.
    pub fn stack<'t>(
        &'t self,
        tables: &'t [Option<Tables>],
    ) -> impl DoubleEndedIterator<Item = (FunctionId, Block, Option<CallId>)> + ExactSizeIterator + 't {
        self.stack.iter().map(|activation| {
            let tables = tables.get(activation.function.index()).and_then(Option::as_ref);
            let block = tables.map_or(Block(0), |tables| tables.node(activation.node as usize).block);
            (activation.function, block, activation.calling)
        })
    }
}
