//! Regenerates an execution from the stream of a thread (Ball & Larus 1994, Fig. 14, with the stack of §4.2).
//!
//! A [`Reader`] has a stack of activations and yields what they do, one [`Event`] after the other. An activation is a place in its
//! function and what is left of its token: of constant size. Streams may be hostile or end anywhere: what can't be is an error, and
//! what is missing is the end.

use super::place::Written;
use super::segments::{Link, NodeEnd, Target};
use super::stream::{self, Calling, ControlByte, Ending, Frame, MORE_FRAMES, Resolve, WrittenAt};
use super::tables::Tables;
use super::token::Token;
use super::types::CallKind;
use crate::ids::{Block, CallId, Edge, FunctionId};
use std::collections::VecDeque;

/// Where the bytes of a stream come from.
pub trait Source {
    /// Appends the next bytes; false if there are none.
    ///
    /// # Errors
    /// Why they can't be had.
    fn more(&mut self, to: &mut Vec<u8>) -> Result<bool, String>;
}

/// A stream that is in memory.
impl Source for &[u8] {
    fn more(&mut self, to: &mut Vec<u8>) -> Result<bool, String> {
        const AT_ONCE: usize = 1 << 16;
        let (now, later) = self.split_at(self.len().min(AT_ONCE));
        to.extend(now);
        *self = later;
        Ok(!now.is_empty())
    }
}

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
    /// The innermost activation leaves its function by the edge.
    Leave {
        /// The function.
        function: FunctionId,
        /// The edge.
        edge: Edge,
    },
    /// The innermost activation ends without a return, in this call; `None` where a signal interrupted it elsewhere.
    Abandoned(FunctionId, Option<CallId>),
    /// The innermost activation catches the exception that ended its call.
    Catch(FunctionId, CallId),
    /// An activation comes to life in a call, on top of those that did before.
    Revived(Calling),
    /// The stack is told anew: what it was is forgotten. Its activations follow as [`Event::Revived`], outermost first, and
    /// [`Event::Resumed`].
    Restarted,
    /// On top of them is an activation that goes on from where the stream begins; what it did before is not known.
    Resumed(FunctionId),
    /// The thread or the process ends here, but for what destructors do.
    Ended(Ending),
    /// The thread stops recording.
    SwitchedOff,
    /// It records again.
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
    /// There is no such function, or it does not announce itself.
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

/// Only a program that never was writes nothing for so long.
const MOST_SILENT: u64 = 1 << 32;
/// Or has so many activations without one.
const MOST_SILENT_BEGINS: u64 = 1 << 22;

/// An activation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Activation {
    function: FunctionId,
    /// Where it is, and the next call there.
    node: u32,
    next_call: CallId,
    /// What is left of the token; `None` before it is read.
    token: Option<Token>,
    /// The call under way.
    calling: Option<CallId>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The innermost activation goes on.
    Run,
    /// A control byte.
    Control,
    /// The function begins, for a call by name.
    Begin(FunctionId),
    /// The innermost activation enters this block, by the edge.
    Enter(Block, Option<Edge>),
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
    stack: Vec<Activation>,
    next: Next,
    /// Events that come before `next`.
    pending: VecDeque<Event>,
    /// Frames that have come to life just now, innermost first.
    revived: Vec<Calling>,
    /// Nobody knows what is around the outermost activation.
    open_ended: bool,
    /// The function of a frame that was interrupted outside of calls: if one around it is over too, so are all on top of that.
    interrupted: Option<FunctionId>,
    position: u64,
    events: u64,
    certain: u64,
    silent: u64,
    begins: u64,
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
            position: 0,
            events: 0,
            certain: 0,
            silent: 0,
            begins: 0,
        }
    }

    /// How many bytes of the stream have been read: a source for [`Reader::resume`] begins there.
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

    /// Does the stream go on behind what is known of the stack? The thread has left the outermost activation that was told.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.next == Next::Unknown
    }

    /// The same, if the thread was interrupted outside of calls and did not go on: next comes a record of the runtime.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        self.next = Next::Control;
        self
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

/// Reads the stream of a thread.
pub struct Reader<'t, S, R> {
    tables: &'t [Option<Tables>],
    source: S,
    resolve: R,
    buffer: Vec<u8>,
    /// How many bytes of the buffer have been read.
    read: usize,
    at: Checkpoint,
    over: bool,
}

/// `None`: the stream ends before that.
type Step<T> = Result<Option<T>, ReadError>;

/// Goes on with what the stream says, or ends with it.
macro_rules! known {
    ($step:expr) => {
        match $step? {
            Some(known) => known,
            None => return Ok(None),
        }
    };
}

impl<'t, S: Source, R: Resolve> Reader<'t, S, R> {
    /// A reader at the beginning of a stream. Of each function of the process, its tables; `None` for one without probes.
    pub fn new(tables: &'t [Option<Tables>], source: S, resolve: R) -> Self {
        Self::resume(tables, source, resolve, Checkpoint::beginning())
    }

    /// A reader that goes on at a checkpoint.
    pub fn resume(tables: &'t [Option<Tables>], source: S, resolve: R, at: Checkpoint) -> Self {
        Self { tables, source, resolve, buffer: Vec::new(), read: 0, at, over: false }
    }

    /// Where it is.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.at
    }

    /// The next event; `None` at the end of the stream.
    ///
    /// # Errors
    /// Where the stream is none of this program. Nothing comes after an error.
    #[allow(clippy::should_implement_trait, reason = "it yields errors once, not for ever")]
    pub fn next(&mut self) -> Step<Event> {
        if self.over {
            return Ok(None);
        }
        let step = self.step();
        match step {
            Ok(Some(_)) => {
                self.at.events += 1;
                self.at.silent += 1;
                if self.at.silent > MOST_SILENT {
                    self.over = true;
                    return Err(ReadError::Endless { position: self.at.position });
                }
            }
            _ => self.over = true,
        }
        step
    }

    fn step(&mut self) -> Step<Event> {
        loop {
            if let Some(event) = self.at.pending.pop_front() {
                return Ok(Some(event));
            }
            let event = match self.at.next {
                Next::Run => Some(known!(self.run())),
                Next::Control | Next::Off | Next::Stack => known!(self.control()),
                Next::Begin(function) => {
                    if self.table(function)?.announces() {
                        let announced = known!(self.announced());
                        if announced != Some(function) {
                            return Err(self.misplaced());
                        }
                    }
                    Some(self.begin(function)?)
                }
                Next::Enter(block, edge) => Some(known!(self.enter(block, edge))),
                Next::Dispatch => {
                    let (tables, activation) = self.innermost()?;
                    let from = tables.node(activation.node as usize).block;
                    let number = known!(self.take(tables.target_bytes()));
                    let edge = tables.dispatch(from, number).ok_or_else(|| self.no_token())?;
                    Some(self.arrive(tables.destination(edge), Some(edge))?)
                }
                Next::Tail(call, edge) => Some(self.tail(call, edge)?),
                Next::Unknown => return Ok(None),
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    // Bytes.

    fn fill(&mut self, bytes: usize) -> Result<bool, ReadError> {
        while self.buffer.len() - self.read < bytes {
            self.buffer.drain(..self.read);
            self.read = 0;
            if !self.source.more(&mut self.buffer).map_err(ReadError::Source)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next bytes as a number.
    fn take(&mut self, bytes: u8) -> Step<u64> {
        let count = usize::from(bytes);
        if self.buffer.len() - self.read < count && !self.fill(count)? {
            return Ok(None);
        }
        let mut number = [0; 8];
        number[..count].copy_from_slice(&self.buffer[self.read..self.read + count]);
        self.read += count;
        self.at.position += u64::from(bytes);
        (self.at.silent, self.at.begins) = (0, 0);
        Ok(Some(u64::from_le_bytes(number)))
    }

    // Errors.

    fn misplaced(&self) -> ReadError {
        ReadError::NoControl { position: self.at.position }
    }

    fn no_token(&self) -> ReadError {
        let function = self.at.stack.last().map_or_else(FunctionId::default, |activation| activation.function);
        ReadError::NoToken { position: self.at.position, function }
    }

    fn table(&self, function: FunctionId) -> Result<&'t Tables, ReadError> {
        let tables: &'t [Option<Tables>] = self.tables;
        let found = tables.get(function.index()).and_then(Option::as_ref);
        found.ok_or(ReadError::NoFunction { position: self.at.position, function })
    }

    fn innermost(&mut self) -> Result<(&'t Tables, &mut Activation), ReadError> {
        let Some(function) = self.at.stack.last().map(|activation| activation.function) else {
            return Err(self.misplaced());
        };
        let tables = self.table(function)?;
        match self.at.stack.last_mut() {
            Some(activation) => Ok((tables, activation)),
            None => Err(ReadError::NoControl { position: 0 }),
        }
    }

    // The innermost activation.

    /// What it does next.
    fn run(&mut self) -> Step<Event> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let node = tables.node(activation.node as usize);
        if activation.next_call < node.last_call {
            let call = activation.next_call;
            activation.next_call = CallId(call.0 + 1);
            if let Some(CallKind::Quiet(callee)) = tables.call(call).map(|call| call.kind) {
                activation.calling = Some(call);
                self.at.next = Next::Begin(callee);
            }
            return Ok(Some(Event::Call { function, call }));
        }
        match node.end {
            NodeEnd::Call(call, _) => {
                activation.calling = Some(call);
                self.at.next = match tables.call(call) {
                    Some(facts) if facts.tail.is_some() => Next::Tail(call, facts.tail.unwrap_or_default()),
                    Some(facts) => match facts.kind.callee() {
                        Some(callee) => Next::Begin(callee),
                        None => Next::Control,
                    },
                    None => return Err(self.misplaced()),
                };
                Ok(Some(Event::Call { function, call }))
            }
            NodeEnd::Links => {
                let undecided = node.undecided;
                if undecided && activation.token.is_none() {
                    let (start, bytes) = (activation.node as usize, node.bytes);
                    let number = known!(self.take(bytes));
                    let token = tables.token(start, number).ok_or_else(|| self.no_token())?;
                    self.innermost()?.1.token = Some(token);
                }
                self.cross(tables)
            }
        }
    }

    /// It leaves its node by a link.
    fn cross(&mut self, tables: &'t Tables) -> Step<Event> {
        let (_, activation) = self.innermost()?;
        let node = activation.node as usize;
        let mut token = activation.token.unwrap_or_default();
        let undecided = tables.node(node).undecided;
        let Some(link) = tables.follow(node, &mut token) else { return Err(self.no_token()) };
        let decides = undecided && !tables.leads_on(&link);
        if decides {
            if !token.is_spent(tables.has_bits()) {
                return Err(self.no_token());
            }
            self.at.certain = self.at.events;
        }
        let mut kept = Some(token).filter(|_| undecided);
        match link.target {
            Target::Packed(to) if token.has_more_ways() => {
                if tables.next_way(to, &mut token).is_none() {
                    return Err(self.no_token());
                }
                kept = Some(token);
            }
            Target::Packed(_) => {
                if !token.is_spent(false) {
                    return Err(self.no_token());
                }
                kept = None;
                self.at.certain = self.at.events;
            }
            Target::Cut(_) | Target::Dispatch | Target::Exit => kept = None,
            Target::Node(_) => {}
        }
        let (_, activation) = self.innermost()?;
        activation.token = kept;
        self.follow(tables, link, undecided)
    }

    /// `told`: a token said that it is this link.
    fn follow(&mut self, tables: &'t Tables, link: Link, told: bool) -> Step<Event> {
        match link.target {
            Target::Node(to) | Target::Packed(to) => {
                let block = tables.node(to).block;
                self.arrive(block, Some(link.edge)).map(Some)
            }
            Target::Cut(to) => {
                let block = tables.node(to).block;
                if !told && tables.target(block).is_none() && tables.ticks(to) && known!(self.take(1)) != 0 {
                    return Err(self.no_token());
                }
                self.enter(block, Some(link.edge))
            }
            Target::Dispatch => {
                self.at.next = Next::Dispatch;
                self.step()
            }
            Target::Exit => self.leave(link.edge).map(Some),
        }
    }

    /// It enters a block that a segment starts with; such a block may say which one it is.
    fn enter(&mut self, block: Block, edge: Option<Edge>) -> Step<Event> {
        let (tables, _) = self.innermost()?;
        if let Some(number) = tables.target(block) {
            self.at.next = Next::Enter(block, edge);
            if known!(self.take(tables.target_bytes())) != number {
                return Err(self.no_token());
            }
        }
        self.arrive(block, edge).map(Some)
    }

    fn arrive(&mut self, block: Block, edge: Option<Edge>) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        let node = tables.first_node(block);
        activation.node = node as u32;
        activation.next_call = tables.node(node).first_call;
        let function = activation.function;
        self.at.next = Next::Run;
        Ok(Event::Block { function, block, edge })
    }

    /// What comes next when an activation is over, unless the call under way then says more.
    fn outside(&self) -> Next {
        if self.at.stack.is_empty() && self.at.open_ended { Next::Unknown } else { Next::Control }
    }

    /// It leaves its function.
    fn leave(&mut self, edge: Edge) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let resumes = tables.resumes(edge);
        self.at.stack.pop();
        self.at.next = self.outside();
        if !resumes && !self.at.stack.is_empty() {
            self.come_back(false)?;
        }
        Ok(Event::Leave { function, edge })
    }

    /// The call under way is over, by a return of its callee or as a control byte says.
    fn come_back(&mut self, confirmed: bool) -> Result<(), ReadError> {
        let misplaced = self.misplaced();
        let (tables, activation) = self.innermost()?;
        let Some((call, facts)) = activation.calling.and_then(|call| Some((call, tables.call(call)?))) else {
            return Err(misplaced);
        };
        if facts.kind.is_confirmed() && !confirmed {
            return Ok(());
        }
        if confirmed && !facts.kind.is_confirmed() {
            return Err(misplaced);
        }
        activation.calling = None;
        if facts.kind.ends_segment() {
            let Some(behind) = facts.behind else { return Err(misplaced) };
            activation.node = behind as u32;
            activation.next_call = tables.node(behind).first_call;
            activation.token = None;
        } else {
            activation.next_call = CallId(call.0 + 1);
        }
        self.at.next = Next::Run;
        Ok(())
    }

    /// It is gone before the callee runs.
    fn tail(&mut self, call: CallId, edge: Edge) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let callee = tables.call(call).and_then(|facts| facts.kind.callee());
        self.at.stack.pop();
        self.at.next = callee.map_or_else(|| self.outside(), Next::Begin);
        Ok(Event::Leave { function, edge })
    }

    fn begin(&mut self, function: FunctionId) -> Result<Event, ReadError> {
        let tables = self.table(function)?;
        self.at.begins += 1;
        if self.at.begins > MOST_SILENT_BEGINS {
            return Err(ReadError::Endless { position: self.at.position });
        }
        let node = tables.first_node(Block(0));
        let next_call = tables.node(node).first_call;
        self.at.stack.push(Activation { function, node: node as u32, next_call, token: None, calling: None });
        self.at.next = Next::Enter(Block(0), None);
        Ok(Event::Begin(function))
    }

    // Control bytes.

    /// A function's announcement; `None` inside if something else stands there.
    fn announced(&mut self) -> Step<Option<FunctionId>> {
        let first = known!(self.take(1)) as u8;
        Ok(Some(match first {
            ControlByte::ENTERED => Some(FunctionId(known!(self.take(4)) as u32)),
            ControlByte::SHORT.. => Some(stream::short(first, known!(self.take(1)) as u8)),
            _ => None,
        }))
    }

    /// `None` inside if it yields no event.
    fn control(&mut self) -> Step<Option<Event>> {
        // As many bytes as the longest fixed record has: what is cut off is no record.
        if !self.fill(1)? {
            return self.revive().map(|event| event.map(Some));
        }
        let first = self.buffer[self.read];
        let expected = match self.at.next {
            Next::Off => first == ControlByte::SWITCHED_ON,
            Next::Stack => first == ControlByte::STARTED,
            _ => first != ControlByte::SWITCHED_ON,
        };
        if !expected {
            return Err(self.misplaced());
        }
        if first != ControlByte::UNWOUND && self.at.interrupted.is_some() {
            self.abandon_interrupted();
            if let Some(event) = self.at.pending.pop_front() {
                return Ok(Some(Some(event)));
            }
        }
        if first != ControlByte::REVIVED
            && let Some(event) = self.revive()?
        {
            return Ok(Some(Some(event)));
        }
        let length = match first {
            ControlByte::RETURNED | ControlByte::SWITCHED_OFF | ControlByte::SWITCHED_ON => 1,
            ControlByte::ENTERED => 5,
            ControlByte::STARTED => 13,
            ControlByte::ENDED | ControlByte::SHORT.. => 2,
            ControlByte::UNWOUND | ControlByte::TIME | ControlByte::REVIVED => 9,
            _ => return Err(self.misplaced()),
        };
        if !self.fill(length)? {
            return Ok(None);
        }
        self.at.certain = self.at.events;
        if matches!(first, ControlByte::ENTERED | ControlByte::SHORT..) {
            let Some(function) = known!(self.announced()) else { return Err(self.misplaced()) };
            let position = self.at.position;
            if !self.table(function)?.announces() {
                return Err(ReadError::NoFunction { position, function });
            }
            return self.begin(function).map(|event| Some(Some(event)));
        }
        known!(self.take(1));
        let event = match first {
            ControlByte::RETURNED => {
                self.come_back(true)?;
                None
            }
            ControlByte::UNWOUND => {
                let frame = known!(self.take(8));
                self.unwind(frame)?;
                None
            }
            ControlByte::ENDED => Some(Event::Ended(Ending(known!(self.take(1)) as u8))),
            ControlByte::STARTED => {
                let (at, count) = (known!(self.take(8)), known!(self.take(4)));
                known!(self.restart(at, count as u32));
                Some(Event::Restarted)
            }
            ControlByte::SWITCHED_OFF => {
                self.at.next = Next::Off;
                Some(Event::SwitchedOff)
            }
            ControlByte::SWITCHED_ON => {
                self.at.next = Next::Stack;
                Some(Event::SwitchedOn)
            }
            ControlByte::TIME => Some(Event::Time(known!(self.take(8)))),
            _ => {
                let frame = known!(self.take(8));
                let Frame { activations, .. } = self.frame(frame)?;
                self.at.revived.extend(activations);
                None
            }
        };
        Ok(Some(event))
    }

    fn frame(&self, frame: u64) -> Result<Frame, ReadError> {
        self.resolve.frame(frame).ok_or(ReadError::NoFrame { position: self.at.position })
    }

    /// All frames have come to life that were to: the outermost is the first one on the stack.
    fn revive(&mut self) -> Step<Event> {
        while let Some(calling) = self.at.revived.pop() {
            self.push(calling)?;
            self.at.pending.push_back(Event::Revived(calling));
        }
        Ok(self.at.pending.pop_front())
    }

    fn push(&mut self, Calling { function, call }: Calling) -> Result<(), ReadError> {
        let no_frame = ReadError::NoFrame { position: self.at.position };
        let Some(facts) = self.table(function)?.call(call) else { return Err(no_frame) };
        let node = facts.behind.unwrap_or_default() as u32;
        let activation = Activation { function, node, next_call: call, token: None, calling: Some(call) };
        self.at.stack.push(activation);
        Ok(())
    }

    /// The stack is what the stream says.
    fn restart(&mut self, at: u64, count: u32) -> Step<()> {
        self.at.stack.clear();
        self.at.open_ended = count & MORE_FRAMES != 0;
        for _ in 0..count & !MORE_FRAMES {
            let frame = known!(self.take(8));
            // Frames of other code are between those of the program.
            if let Some(Frame { activations, .. }) = self.resolve.frame(frame) {
                self.at.revived.extend(activations);
            }
        }
        self.at.next = Next::Control;
        while let Some(calling) = self.at.revived.pop() {
            self.push(calling)?;
            self.at.pending.push_back(Event::Revived(calling));
        }
        if at != u64::MAX {
            let no_frame = ReadError::NoFrame { position: self.at.position };
            let WrittenAt { function, place } = WrittenAt::unpack(at).ok_or_else(|| no_frame.clone())?;
            let tables = self.table(function)?;
            let written = tables.written(place).ok_or(no_frame)?;
            self.at.stack.push(Activation { function, node: 0, next_call: CallId(0), token: None, calling: None });
            self.at.pending.push_back(Event::Resumed(function));
            self.go_on(tables, written)?;
        }
        Ok(Some(()))
    }

    /// The innermost activation has just written something, where nobody has seen what came before.
    fn go_on(&mut self, tables: &'t Tables, written: Written) -> Result<(), ReadError> {
        match written {
            Written::Entry => self.at.next = Next::Enter(Block(0), None),
            Written::Behind(node) => {
                let (_, activation) = self.innermost()?;
                activation.node = node as u32;
                activation.next_call = tables.node(node).first_call;
                self.at.next = Next::Run;
            }
            Written::Target(block) => {
                let event = self.arrive(block, None)?;
                self.at.pending.push_back(event);
            }
            Written::Link(node, link) => {
                self.innermost()?.1.node = node as u32;
                let event = match link.target {
                    Target::Node(to) | Target::Packed(to) => self.arrive(tables.node(to).block, Some(link.edge))?,
                    Target::Cut(to) => {
                        self.at.next = Next::Enter(tables.node(to).block, Some(link.edge));
                        return Ok(());
                    }
                    Target::Exit => self.leave(link.edge)?,
                    Target::Dispatch => {
                        self.at.next = Next::Dispatch;
                        return Ok(());
                    }
                };
                self.at.pending.push_back(event);
            }
        }
        Ok(())
    }

    /// A frame's activations end, or an exception lands among them.
    fn unwind(&mut self, frame: u64) -> Result<(), ReadError> {
        let Frame { activations, lands, interrupted } = self.frame(frame)?;
        self.at.interrupted = interrupted;
        for calling in activations {
            self.abandon_to(calling, true)?;
        }
        if let Some(calling) = lands {
            self.abandon_to(calling, false)?;
            let no_frame = ReadError::NoFrame { position: self.at.position };
            let (tables, activation) = self.innermost()?;
            let Some(edge) = tables.call(calling.call).and_then(|call| call.unwinds) else { return Err(no_frame) };
            activation.calling = None;
            activation.token = None;
            self.at.pending.push_back(Event::Catch(calling.function, calling.call));
            self.at.next = Next::Enter(tables.destination(edge), Some(edge));
        }
        Ok(())
    }

    /// A frame that was interrupted outside of calls is over, and so is nobody around it: ends the innermost activation of its function,
    /// and all on top of it. It is not there if it had not yet written that it begins, or is over for what it has written.
    fn abandon_interrupted(&mut self) {
        let Some(function) = self.at.interrupted.take() else { return };
        if let Some(found) = self.at.stack.iter().rposition(|activation| activation.function == function) {
            for activation in self.at.stack.drain(found..).rev() {
                self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
            }
        }
    }

    /// Ends all activations on top of the innermost one that is in this call, and that one too if it is asked for. Those on top are
    /// in calls in tail position, which machine code has as jumps, or were interrupted by a signal outside of calls.
    fn abandon_to(&mut self, calling: Calling, inclusive: bool) -> Result<(), ReadError> {
        let there = |activation: &Activation| {
            activation.function == calling.function && activation.calling == Some(calling.call)
        };
        let Some(found) = self.at.stack.iter().rposition(there) else {
            return Err(ReadError::NoFrame { position: self.at.position });
        };
        for activation in self.at.stack.drain(found + usize::from(!inclusive)..).rev() {
            self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
        }
        Ok(())
    }
}
