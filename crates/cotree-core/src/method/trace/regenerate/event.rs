//! What a reader yields: events, or why a stream is none of this program.

use super::super::stream::{Calling, Ending};
use crate::ids::{Block, CallId, Edge, FunctionId};

/// One thing that a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An activation begins: called by what was under way, or by code of others.
    Begin(FunctionId),
    /// The innermost activation enters a block.
    Block {
        /// The function.
        function: FunctionId,
        /// The block.
        block: Block,
        /// The edge that it came by; `None` at the entry.
        edge: Option<Edge>,
    },
    /// The innermost activation makes a call.
    Call {
        /// The function.
        function: FunctionId,
        /// The call.
        call: CallId,
    },
    /// The innermost activation is about to access memory.
    Access {
        /// The function.
        function: FunctionId,
        /// Which of the function's accesses ([`crate::facts::Function::accesses`]).
        access: u32,
        /// The address of the first byte.
        address: u64,
        /// How many bytes.
        length: u64,
    },
    /// The innermost activation leaves its function by the edge.
    Leave {
        /// The function.
        function: FunctionId,
        /// The edge.
        edge: Edge,
    },
    /// The innermost activation ends without a return, in this call; `None` where a signal interrupted it elsewhere.
    Abandoned(FunctionId, Option<CallId>),
    /// A signal interrupted the innermost activation at this instruction
    /// ([`Interrupted::address`](crate::method::trace::stream::Interrupted)), outside of calls, and it does not go on.
    Interrupted(u64),
    /// The innermost activation catches the exception that ended its call.
    Catch(FunctionId, CallId),
    /// An activation comes to life in a call, on top of those that did before.
    Revived(Calling),
    /// The stack is told anew: what it was is forgotten. Its activations follow as [`Event::Revived`], outermost first,
    /// and [`Event::Resumed`].
    Restarted,
    /// On top of them is an activation that goes on from where the stream begins; what it did before is not known.
    Resumed(FunctionId),
    /// The thread or the process ends here, but for what destructors do.
    Ended(Ending),
    /// The thread stops recording.
    SwitchedOff,
    /// The thread records again.
    SwitchedOn,
    /// The time.
    Time(u64),
}

/// Why a stream is none of this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The bytes can't be had.
    #[error("the trace can't be read: {0}")]
    Source(String),
    /// A token says what can't be.
    #[error("byte {position} of the trace is no token of {function}")]
    NoToken {
        /// Where it ends.
        position: u64,
        /// The function.
        function: FunctionId,
    },
    /// Something else should stand there.
    #[error("byte {position} of the trace can't stand there")]
    NoControl {
        /// Behind it.
        position: u64,
    },
    /// There is no such function, or it does not record its entry.
    #[error("{function} begins before byte {position} of the trace, which can't be")]
    NoFunction {
        /// Behind its number.
        position: u64,
        /// The function.
        function: FunctionId,
    },
    /// A frame is not on the stack, or belongs to nobody.
    #[error("before byte {position} the trace speaks of a frame that is not there")]
    NoFrame {
        /// Behind the frame.
        position: u64,
    },
    /// A great many things happen without a byte.
    #[error("behind byte {position} the trace has no end")]
    Endless {
        /// Where.
        position: u64,
    },
}
