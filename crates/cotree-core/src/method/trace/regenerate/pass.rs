//! What nobody wants to see event by event is passed: the same steps as those of [`Reader::next`], but only as far as
//! they are of the usual kind, and without an event for each.
//!
//! A step is taken whole or left to [`Reader::next`], which knows the rest: records of the runtime, times, tail calls,
//! ends without a return, the bytes that are not in the buffer yet, and all errors.

use super::super::segments::{NodeEnd, Target};
use super::super::stream::{self, ControlByte, Resolve};
use super::super::tables::Tables;
use super::super::types::CallKind;
use super::activation::MOST_SILENT_BEGINS;
use super::checkpoint::{Activation, Checkpoint, Next};
use super::stretch::Stretches;
use super::{MOST_SILENT, Reader, Source};
use crate::ids::{Block, CallId, FunctionId};

/// What has been passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// How many events.
    pub events: u64,
    /// How many of them were blocks.
    pub blocks: u64,
    /// How many told addresses, and in how many bytes.
    pub addresses: (u64, u64),
    /// How many blocks had been passed when [`Checkpoint::certain`] became what it is, if it did on the way: also if
    /// the stream says so behind the last event.
    pub certain: Option<u64>,
}

impl<S: Source, R: Resolve> Reader<'_, S, R> {
    /// Goes on as [`Self::next`] does, as far as that is simple and for at most so many blocks. May pass nothing.
    pub fn pass(&mut self, most: u64) -> Passed {
        let mut passed = Passed::default();
        let waits = !self.at.pending.is_empty() || !self.at.revived.is_empty() || self.at.interrupted.is_some();
        if self.over || self.interrupted || waits {
            return passed;
        }
        let (buffer, stretches) = (&self.buffer[..], &mut self.stretches);
        let mut walk = Walk { all: self.tables, buffer, read: self.read, at: &mut self.at, stretches, alone: false };
        walk.run(most, &mut passed);
        self.read = walk.read;
        passed
    }
}

/// The way through what is passed.
pub(super) struct Walk<'t, 'r> {
    pub(super) all: &'t [Option<Tables>],
    pub(super) buffer: &'r [u8],
    pub(super) read: usize,
    pub(super) at: &'r mut Checkpoint,
    pub(super) stretches: &'r mut Stretches,
    /// Only what tokens say is followed.
    pub(super) alone: bool,
}

impl<'t> Walk<'t, '_> {
    fn table(&self, function: FunctionId) -> Option<&'t Tables> {
        self.all.get(function.index())?.as_ref()
    }

    /// `None`: the next step is not of the usual kind.
    fn run(&mut self, most: u64, passed: &mut Passed) -> Option<()> {
        let mut tables = self.table(self.at.stack.last()?.function)?;
        while passed.blocks < most && self.at.silent < MOST_SILENT {
            let stretch = if self.at.next == Next::Run { self.stretch(tables, most, passed) } else { None };
            tables = match stretch {
                Some(tables) => tables,
                None => self.step(tables, passed)?,
            };
        }
        Some(())
    }

    /// One step of the innermost activation, of which these are the tables. `None`: it is not of the usual kind.
    pub(super) fn step(&mut self, tables: &'t Tables, passed: &mut Passed) -> Option<&'t Tables> {
        match self.at.next {
            Next::Run => {}
            Next::Control if self.peek(1)? == u64::from(ControlByte::RETURNED) => self.come_back(tables, passed)?,
            Next::Control => return self.announced(passed),
            _ => return None,
        }
        let activation = self.at.stack.last_mut()?;
        let node = tables.node(activation.node as usize);
        if let Some(access) = tables.due(activation.node as usize, activation.next_access, activation.next_call) {
            let told = access.length.is_none();
            self.access(told, passed)?;
            return Some(tables);
        }
        if activation.next_call < node.last_call {
            let call = activation.next_call;
            if let CallKind::Quiet(callee) = tables.call(call)?.kind {
                return self.call(call, CallId(call.0 + 1), callee, passed);
            }
            activation.next_call = CallId(call.0 + 1);
            self.count(1, passed);
            return Some(tables);
        }
        match node.end {
            NodeEnd::Call(call, _) => {
                let facts = tables.call(call)?;
                if facts.tail.is_some() {
                    return None;
                }
                let next = activation.next_call;
                match facts.kind.callee() {
                    Some(callee) => self.call(call, next, callee, passed),
                    None if self.alone => None,
                    None => {
                        activation.calling = Some(call);
                        self.at.next = Next::Control;
                        self.count(1, passed);
                        Some(tables)
                    }
                }
            }
            NodeEnd::Links => self.cross(tables, passed),
        }
    }

    /// The innermost activation tells an address, and before it a length perhaps.
    fn access(&mut self, told: bool, passed: &mut Passed) -> Option<()> {
        let mut rest = self.buffer.get(self.read..)?;
        let before = rest.len();
        if told {
            stream::take_number(&mut rest)?;
        }
        let step = stream::take_number(&mut rest)?;
        let bytes = before - rest.len();
        self.take(bytes);
        self.at.address = self.at.address.wrapping_add(stream::step(step));
        self.at.stack.last_mut()?.next_access += 1;
        self.count(1, passed);
        passed.addresses.0 += 1;
        passed.addresses.1 += bytes as u64;
        self.at.certain = self.at.events;
        passed.certain = Some(passed.blocks);
        Some(())
    }

    /// Notes that `bytes` bytes have been read.
    pub(super) fn take(&mut self, bytes: usize) {
        self.read += bytes;
        self.at.position += bytes as u64;
        (self.at.silent, self.at.begins) = (0, 0);
        self.at.left.clear();
    }

    pub(super) fn count(&mut self, events: u64, passed: &mut Passed) {
        self.at.events += events;
        self.at.silent += events;
        passed.events += events;
    }

    /// Everything up to here has happened.
    fn is_certain(&mut self, passed: &mut Passed) {
        if self.at.certain != self.at.events {
            self.at.certain = self.at.events;
            passed.certain = Some(passed.blocks);
        }
    }

    /// A call by name: the call, the beginning, and the first block. `next`: the caller's next call.
    fn call(&mut self, call: CallId, next: CallId, callee: FunctionId, passed: &mut Passed) -> Option<&'t Tables> {
        let tables = self.table(callee)?;
        let bytes = if tables.announces() { self.announcement(callee)? } else { 0 };
        if tables.target(Block(0)).is_some() || self.at.begins >= MOST_SILENT_BEGINS {
            return None;
        }
        let caller = self.at.stack.last_mut()?;
        caller.next_call = next;
        caller.calling = Some(call);
        self.count(1, passed);
        if bytes > 0 {
            self.take(bytes);
        }
        self.begin(tables, callee, passed);
        Some(tables)
    }

    /// The beginning of a function, and its first block.
    fn begin(&mut self, tables: &'t Tables, function: FunctionId, passed: &mut Passed) {
        let mut activation = Activation::new(function);
        activation.come_to(tables, tables.first_node(Block(0)));
        self.at.stack.push(activation);
        self.at.begins += 1;
        self.count(2, passed);
        passed.blocks += 1;
        self.at.next = Next::Run;
    }

    /// How many bytes of the stream announce this function; `None`: something else stands there.
    fn announcement(&self, function: FunctionId) -> Option<usize> {
        let (found, bytes) = self.announces()?;
        (found == function).then_some(bytes)
    }

    /// The function that the stream announces, and in how many bytes.
    fn announces(&self) -> Option<(FunctionId, usize)> {
        if self.alone {
            return None;
        }
        match *self.buffer.get(self.read)? {
            ControlByte::ENTERED => Some((FunctionId((self.peek(5)? >> 8) as u32), 5)),
            first @ ControlByte::SHORT.. => Some((stream::short(first, (self.peek(2)? >> 8) as u8), 2)),
            _ => None,
        }
    }

    /// Code of others, or a call through a pointer, calls a function, which announces itself.
    fn announced(&mut self, passed: &mut Passed) -> Option<&'t Tables> {
        let (function, bytes) = self.announces()?;
        let tables = self.table(function)?;
        if !tables.announces() || tables.target(Block(0)).is_some() {
            return None;
        }
        self.is_certain(passed);
        self.take(bytes);
        self.begin(tables, function, passed);
        Some(tables)
    }

    /// The stream says that the call has returned in which the innermost activation is.
    fn come_back(&mut self, tables: &'t Tables, passed: &mut Passed) -> Option<()> {
        let activation = self.at.stack.last_mut()?;
        let facts = tables.call(activation.calling?)?;
        if self.alone || !facts.kind.is_confirmed() {
            return None;
        }
        activation.come_to(tables, facts.behind?);
        activation.token = None;
        activation.calling = None;
        self.is_certain(passed);
        self.take(1);
        self.at.next = Next::Run;
        Some(())
    }

    /// Reads the token if the innermost activation's links ask for one that has not been read. `None`: there is none.
    pub(super) fn read_token(&mut self, tables: &Tables) -> Option<()> {
        let activation = self.at.stack.last()?;
        let number = activation.node as usize;
        let node = tables.node(number);
        if node.undecided && activation.token.is_none() {
            let bytes = usize::from(node.bytes);
            let token = tables.token(number, self.peek(bytes)?)?;
            self.take(bytes);
            self.at.stack.last_mut()?.token = Some(token);
        }
        Some(())
    }

    /// The next bytes as a number, which stay.
    pub(super) fn peek(&self, bytes: usize) -> Option<u64> {
        let stored = self.buffer.get(self.read..self.read + bytes)?;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(stored);
        Some(u64::from_le_bytes(word))
    }

    /// The innermost activation leaves its node by a link: to a block, or to its caller if that was called by name.
    fn cross(&mut self, tables: &'t Tables, passed: &mut Passed) -> Option<&'t Tables> {
        self.read_token(tables)?;
        let activation = self.at.stack.last_mut()?;
        let number = activation.node as usize;
        let node = tables.node(number);
        let mut token = activation.token.unwrap_or_default();
        let link = tables.follow(number, &mut token)?;
        let decides = node.undecided && !tables.leads_on(&link);
        let goes_on = matches!(link.target, Target::Packed(_)) && token.has_more_ways();
        if decides && !token.is_spent(tables.has_bits()) {
            return None;
        }
        let (to, certain) = match link.target {
            Target::Node(to) => {
                activation.token = node.undecided.then_some(token);
                (to, decides)
            }
            Target::Packed(to) if goes_on => {
                tables.next_way(to, &mut token)?;
                activation.token = Some(token);
                (to, decides)
            }
            Target::Packed(to) => {
                if !token.is_spent(false) {
                    return None;
                }
                activation.token = None;
                (to, true)
            }
            Target::Cut(to) => {
                let says = match tables.target(tables.node(to).block) {
                    Some(number) => Some((usize::from(tables.target_bytes()), number)),
                    None if !node.undecided && tables.ticks(to) => Some((1, 0)),
                    None => None,
                };
                if let Some((bytes, number)) = says {
                    if self.peek(bytes)? != number {
                        return None;
                    }
                    self.take(bytes);
                }
                self.at.stack.last_mut()?.token = None;
                (to, decides)
            }
            Target::Dispatch => {
                let bytes = usize::from(tables.target_bytes());
                let edge = tables.dispatch(node.block, self.peek(bytes)?)?;
                self.take(bytes);
                self.at.stack.last_mut()?.token = None;
                (tables.first_node(tables.destination(edge)), decides)
            }
            Target::Exit if !tables.resumes(link.edge) => return self.leave(decides, passed),
            Target::Exit => return None,
        };
        let activation = self.at.stack.last_mut()?;
        activation.come_to(tables, to);
        if certain {
            self.is_certain(passed);
        }
        self.count(1, passed);
        passed.blocks += 1;
        Some(tables)
    }

    /// The activation leaves its function, and whoever called it goes on: at once, or when the stream says so.
    pub(super) fn leave(&mut self, decides: bool, passed: &mut Passed) -> Option<&'t Tables> {
        let around = self.at.stack.len().checked_sub(2)?;
        let caller = &mut self.at.stack[around];
        let tables = self.all.get(caller.function.index())?.as_ref()?;
        let call = caller.calling?;
        let facts = tables.call(call)?;
        if facts.kind.is_confirmed() {
            if self.alone {
                return None;
            }
            self.at.next = Next::Control;
        } else {
            if facts.kind.ends_segment() {
                let behind = facts.behind?;
                caller.come_to(tables, behind);
                caller.token = None;
            } else {
                caller.next_call = CallId(call.0 + 1);
            }
            caller.calling = None;
        }
        self.at.stack.pop();
        if decides {
            self.is_certain(passed);
        }
        self.count(1, passed);
        Some(tables)
    }
}
