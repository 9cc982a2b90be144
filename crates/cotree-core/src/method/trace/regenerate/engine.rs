//! The engine: the rules by which a stream tells what its thread did.
//!
//! A *step* takes the innermost activation over a call, an access or a link, or reads who begins or returns where the
//! stream says so. Each thing that happens is told to a [`Sink`]. Where the sink breaks, the state says what comes
//! next, and the next step begins there. So an execution can be told event by event, or skipped without a stop, by the
//! same rules.
//!
//! Here is what code writes. Records of the runtime are left to [`super::records`].

use super::super::segments::{NodeEnd, Target};
use super::super::stream::{self, ControlByte};
use super::super::tables::Tables;
use super::super::types::CallKind;
use super::checkpoint::{Activation, Next};
use super::cursor::{Cursor, Halt};
use super::event::{Event, ReadError};
use super::sink::Sink;
use crate::facts::Access;
use crate::ids::{Block, CallId, Edge, FunctionId};

/// Only a program that never was has so many events without a byte.
pub(super) const MOST_EVENTS_WITHOUT_BYTES: u64 = 1 << 32;
/// Nor does it have so many activations.
pub(super) const MOST_BEGINS_WITHOUT_BYTES: u64 = 1 << 22;

/// The tables of the innermost activation, if there is one.
pub(super) type Flow<'t> = Result<Option<&'t Tables>, Halt>;

impl<'t> Cursor<'t, '_> {
    /// Goes on from wherever the state says.
    #[inline]
    pub fn step<K: Sink>(&mut self, sink: &mut K) -> Flow<'t> {
        match self.at.next {
            Next::Control => return self.control(sink),
            Next::Begin(function) => return self.call(function, sink),
            Next::Off | Next::Stack => return Err(Halt::Record),
            Next::Unknown => return Err(Halt::End),
            _ => {}
        }
        let tables = self.innermost()?;
        match self.at.next {
            Next::Run => self.run(tables, sink),
            Next::Enter(block, edge) => self.enter(tables, block, edge, sink),
            Next::Arrive(block, edge) => self.arrive(tables, tables.first_node(block), edge, sink),
            Next::Leave(edge) => self.leave(tables, edge, sink),
            Next::Dispatch => self.dispatch(tables, sink),
            Next::Tail(call, edge) => self.tail(tables, call, edge, sink),
            Next::Control | Next::Begin(_) | Next::Off | Next::Stack | Next::Unknown => Err(self.misplaced()),
        }
    }

    /// The innermost activation, which has these tables, goes on in its node or leaves it.
    #[inline]
    pub fn run<K: Sink>(&mut self, tables: &'t Tables, sink: &mut K) -> Flow<'t> {
        let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
        let function = activation.function;
        let node = tables.node(activation.node as usize);
        if let Some(access) = tables.due(activation.node as usize, activation.next_access, activation.next_call) {
            return self.access(tables, access, sink);
        }
        if activation.next_call < node.last_call {
            let call = activation.next_call;
            activation.next_call = CallId(call.0 + 1);
            if let Some(CallKind::Tokenless(callee)) = tables.call(call).map(|call| call.kind) {
                activation.calling = Some(call);
                self.tell(Event::Call { function, call }, Next::Begin(callee), sink)?;
                return self.call(callee, sink);
            }
            self.tell(Event::Call { function, call }, Next::Run, sink)?;
            return Ok(Some(tables));
        }
        let NodeEnd::Call(call, _) = node.end else { return self.cross(tables, sink) };
        activation.calling = Some(call);
        let Some(facts) = tables.call(call) else { return Err(self.misplaced()) };
        if let Some(edge) = facts.tail {
            self.tell(Event::Call { function, call }, Next::Tail(call, edge), sink)?;
            return self.tail(tables, call, edge, sink);
        }
        if let Some(callee) = facts.kind.callee() {
            self.tell(Event::Call { function, call }, Next::Begin(callee), sink)?;
            return self.call(callee, sink);
        }
        self.at.next = Next::Control;
        self.tell(Event::Call { function, call }, Next::Control, sink)?;
        Ok(Some(tables))
    }

    /// The innermost activation tells an address, and before it a length perhaps.
    #[inline]
    fn access<K: Sink>(&mut self, tables: &'t Tables, access: &Access, sink: &mut K) -> Flow<'t> {
        let (length, first) = match access.length {
            Some(length) => (length, 0),
            None => self.number(0)?,
        };
        let (step, second) = self.number(first)?;
        self.take(first + second);
        self.at.address = self.at.address.wrapping_add(stream::step(step));
        let address = self.at.address;
        let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
        let (function, access) = (activation.function, activation.next_access);
        activation.next_access += 1;
        sink.address(first + second, length > 0);
        if length == 0 {
            // A lane that is not active, or a copy of nothing: all before has happened, and here nothing does.
            self.at.certain = self.at.events;
            sink.certain();
            return Ok(Some(tables));
        }
        self.at.certain = self.at.events + 1;
        sink.certain();
        self.tell(Event::Access { function, access, address, length }, Next::Run, sink)?;
        Ok(Some(tables))
    }

    /// The innermost activation leaves its node by a link.
    #[inline]
    fn cross<K: Sink>(&mut self, tables: &'t Tables, sink: &mut K) -> Flow<'t> {
        let Some(activation) = self.at.stack.last() else { return Err(self.misplaced()) };
        let number = activation.node as usize;
        let node = tables.node(number);
        let mut token = match activation.token {
            Some(token) => token,
            None if node.undecided => {
                let word = if node.bits > 0 { self.bits(node.bits)? } else { self.token(node.bytes)? };
                let Some(token) = tables.token(number, word) else { return Err(self.no_token()) };
                token
            }
            None => Default::default(),
        };
        let Some(link) = tables.follow(number, &mut token) else { return Err(self.no_token()) };
        if node.undecided && !tables.leads_on(&link) {
            if !token.is_spent(tables.has_bits()) {
                return Err(self.no_token());
            }
            self.is_certain(sink);
        }
        let (to, left) = match link.target {
            Target::Node(to) => (to, Some(token).filter(|_| node.undecided)),
            Target::Packed(to) if token.has_more_paths() => {
                if tables.next_path(to, &mut token).is_none() {
                    return Err(self.no_token());
                }
                (to, Some(token))
            }
            Target::Packed(to) => {
                if !token.is_spent(false) {
                    return Err(self.no_token());
                }
                self.is_certain(sink);
                (to, None)
            }
            Target::Cut(to) => {
                let block = tables.node(to).block;
                if tables.target(block).is_some() {
                    self.has_token(None);
                    return self.enter(tables, block, Some(link.edge), sink);
                }
                if !node.undecided && tables.ticks(to) && self.token(1)? != 0 {
                    return Err(self.no_token());
                }
                (to, None)
            }
            Target::Dispatch => {
                self.has_token(None);
                return self.dispatch(tables, sink);
            }
            Target::Exit => {
                self.has_token(None);
                return self.leave(tables, link.edge, sink);
            }
        };
        self.has_token(left);
        self.arrive(tables, to, Some(link.edge), sink)
    }

    /// The innermost activation enters a block that a segment starts with; such a block may say which one it is.
    #[inline]
    fn enter<K: Sink>(&mut self, tables: &'t Tables, block: Block, edge: Option<Edge>, sink: &mut K) -> Flow<'t> {
        if let Some(number) = tables.target(block) {
            self.at.next = Next::Enter(block, edge);
            if self.token(tables.target_bytes())? != number {
                return Err(self.no_token());
            }
        }
        self.arrive(tables, tables.first_node(block), edge, sink)
    }

    /// The innermost activation comes to the first node of a block.
    #[inline]
    fn arrive<K: Sink>(&mut self, tables: &'t Tables, node: usize, edge: Option<Edge>, sink: &mut K) -> Flow<'t> {
        self.at.next = Next::Run;
        let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
        activation.come_to(tables, node);
        let function = activation.function;
        self.tell(Event::Block { function, block: tables.node(node).block, edge }, Next::Run, sink)?;
        Ok(Some(tables))
    }

    /// The indirect branch of the innermost activation's block says where it leads to.
    fn dispatch<K: Sink>(&mut self, tables: &'t Tables, sink: &mut K) -> Flow<'t> {
        self.at.next = Next::Dispatch;
        let Some(activation) = self.at.stack.last() else { return Err(self.misplaced()) };
        let from = tables.node(activation.node as usize).block;
        let number = self.token(tables.target_bytes())?;
        let Some(edge) = tables.dispatch(from, number) else { return Err(self.no_token()) };
        self.arrive(tables, tables.first_node(tables.destination(edge)), Some(edge), sink)
    }

    /// A function begins that is called by name.
    #[inline]
    fn call<K: Sink>(&mut self, function: FunctionId, sink: &mut K) -> Flow<'t> {
        let tables = match self.table(function) {
            Ok(tables) if !tables.records_entry() => tables,
            tables => {
                self.at.next = Next::Begin(function);
                let tables = tables?;
                let recorded = match self.first()? {
                    ControlByte::TIME => return Err(Halt::Record),
                    ControlByte::ENTERED | ControlByte::SHORT.. => Some(self.entry_record()?),
                    _ => None,
                };
                if recorded != Some(function) {
                    return Err(self.misplaced());
                }
                tables
            }
        };
        self.begin(tables, function, sink)
    }

    /// A control byte follows.
    fn control<K: Sink>(&mut self, sink: &mut K) -> Flow<'t> {
        match self.first()? {
            ControlByte::RETURNED => {
                self.is_certain(sink);
                self.take(1);
                let tables = self.innermost()?;
                self.come_back(tables, true)?;
                Ok(Some(tables))
            }
            ControlByte::ENTERED | ControlByte::SHORT.. => {
                let function = self.entry_record()?;
                self.is_certain(sink);
                match self.table(function)? {
                    tables if tables.records_entry() => self.begin(tables, function, sink),
                    _ => Err(self.no_function(function)),
                }
            }
            _ => Err(Halt::Record),
        }
    }

    #[inline]
    fn begin<K: Sink>(&mut self, tables: &'t Tables, function: FunctionId, sink: &mut K) -> Flow<'t> {
        self.at.begins += 1;
        if self.at.begins > MOST_BEGINS_WITHOUT_BYTES {
            return Err(self.wrong(ReadError::Endless { position: self.at.position }));
        }
        self.at.stack.push(Activation::new(function));
        self.tell(Event::Begin(function), Next::Enter(Block(0), None), sink)?;
        self.enter(tables, Block(0), None, sink)
    }

    /// The innermost activation leaves its function. Its caller goes on: at once, or when the stream says so.
    #[inline]
    pub fn leave<K: Sink>(&mut self, tables: &'t Tables, edge: Edge, sink: &mut K) -> Flow<'t> {
        let resumes = tables.resumes(edge);
        let function = self.pop()?;
        self.at.next = self.outside();
        let around = self.around()?;
        if let Some(tables) = around.filter(|_| !resumes) {
            self.come_back(tables, false)?;
        }
        self.tell(Event::Leave { function, edge }, self.at.next, sink)?;
        Ok(around)
    }

    /// The innermost activation is gone before its callee runs.
    fn tail<K: Sink>(&mut self, tables: &'t Tables, call: CallId, edge: Edge, sink: &mut K) -> Flow<'t> {
        let callee = tables.call(call).and_then(|facts| facts.kind.callee());
        let function = self.pop()?;
        self.at.next = callee.map_or_else(|| self.outside(), Next::Begin);
        self.tell(Event::Leave { function, edge }, self.at.next, sink)?;
        match callee {
            Some(callee) => self.call(callee, sink),
            None => self.around(),
        }
    }

    /// The call under way is over, by a return of its callee or as a control byte says.
    #[inline]
    fn come_back(&mut self, tables: &Tables, confirmed: bool) -> Result<(), Halt> {
        let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
        let found = activation.calling.and_then(|call| Some((call, tables.call(call)?)));
        let Some((call, facts)) = found else { return Err(self.misplaced()) };
        match (facts.kind.is_confirmed(), confirmed) {
            // The byte that says so is to come.
            (true, false) => return Ok(()),
            (false, true) => return Err(self.misplaced()),
            (true, true) | (false, false) => {}
        }
        activation.calling = None;
        if facts.kind.ends_segment() {
            let Some(behind) = facts.behind else { return Err(self.misplaced()) };
            activation.come_to(tables, behind);
            activation.token = None;
        } else {
            activation.next_call = CallId(call.0 + 1);
        }
        self.at.next = Next::Run;
        Ok(())
    }

    /// What comes next when an activation is over, unless the call under way then says more.
    #[inline]
    fn outside(&self) -> Next {
        if self.at.stack.is_empty() && self.at.open_ended { Next::Unknown } else { Next::Control }
    }

    /// Tells an event. `next`: what comes behind it, if the sink breaks.
    #[inline]
    fn tell<K: Sink>(&mut self, event: Event, next: Next, sink: &mut K) -> Result<(), Halt> {
        self.at.events += 1;
        if sink.event(event).is_break() {
            self.at.next = next;
            return Err(Halt::Sink);
        }
        Ok(())
    }

    /// Everything up to here has happened.
    #[inline]
    pub fn is_certain<K: Sink>(&mut self, sink: &mut K) {
        if self.at.certain != self.at.events {
            self.at.certain = self.at.events;
            sink.certain();
        }
    }
}
