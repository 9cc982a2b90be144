//! What nobody wants to see event by event is passed: the same steps as those of [`Reader::next`], but only as far as they are of
//! the usual kind, and without an event for each.
//!
//! A step is taken whole or left to [`Reader::next`], which knows the rest: control bytes, announcements, indirect branches, ends
//! without a return, the bytes that are not in the buffer yet, and all errors.

use super::super::segments::{NodeEnd, Target};
use super::super::stream::{self, Resolve};
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
    /// How many blocks had been passed when [`Checkpoint::certain`] became what it is, if it did on the way.
    pub certain: Option<u64>,
}

impl<S: Source, R: Resolve> Reader<'_, S, R> {
    /// Goes on as [`Self::next`] does, as far as that is simple and for at most so many blocks. May pass nothing.
    pub fn pass(&mut self, most: u64) -> Passed {
        let mut passed = Passed::default();
        if self.over || self.interrupted || self.at.next != Next::Run || !self.at.pending.is_empty() {
            return passed;
        }
        let (buffer, stretches) = (&self.buffer[..], &mut self.stretches);
        let mut walk = Walk { all: self.tables, buffer, read: self.read, at: &mut self.at, stretches };
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
}

impl<'t> Walk<'t, '_> {
    fn table(&self, function: FunctionId) -> Option<&'t Tables> {
        self.all.get(function.index())?.as_ref()
    }

    /// `None`: the next step is not of the usual kind.
    fn run(&mut self, most: u64, passed: &mut Passed) -> Option<()> {
        let mut tables = self.table(self.at.stack.last()?.function)?;
        while passed.blocks < most && self.at.silent < MOST_SILENT {
            tables = match self.stretch(tables, most, passed) {
                Some(tables) => tables,
                None => self.step(tables, passed)?,
            };
        }
        Some(())
    }

    /// One step of the innermost activation, of which these are the tables. `None`: it is not of the usual kind.
    pub(super) fn step(&mut self, tables: &'t Tables, passed: &mut Passed) -> Option<&'t Tables> {
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
                return self.begin(call, CallId(call.0 + 1), callee, passed);
            }
            activation.next_call = CallId(call.0 + 1);
            self.count(1, passed);
            return Some(tables);
        }
        match node.end {
            NodeEnd::Call(call, _) => {
                let facts = tables.call(call)?;
                let CallKind::Direct(callee) = facts.kind else { return None };
                if facts.tail.is_some() {
                    return None;
                }
                let next = activation.next_call;
                self.begin(call, next, callee, passed)
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

    /// So many bytes have been read.
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

    /// A call by name of a function that says nothing where it begins: the call, the beginning, and the first block. `next`: the
    /// caller's next call.
    fn begin(&mut self, call: CallId, next: CallId, callee: FunctionId, passed: &mut Passed) -> Option<&'t Tables> {
        let tables = self.table(callee)?;
        if tables.announces() || tables.target(Block(0)).is_some() || self.at.begins >= MOST_SILENT_BEGINS {
            return None;
        }
        let caller = self.at.stack.last_mut()?;
        caller.next_call = next;
        caller.calling = Some(call);
        let mut activation = Activation::new(callee);
        activation.come_to(tables, tables.first_node(Block(0)));
        self.at.stack.push(activation);
        self.at.begins += 1;
        self.count(3, passed);
        passed.blocks += 1;
        Some(tables)
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
                if tables.target(tables.node(to).block).is_some() {
                    return None;
                }
                if !node.undecided && tables.ticks(to) {
                    if self.buffer.get(self.read) != Some(&0) {
                        return None;
                    }
                    self.take(1);
                }
                self.at.stack.last_mut()?.token = None;
                (to, decides)
            }
            Target::Exit if !tables.resumes(link.edge) => return self.leave(decides, passed),
            Target::Exit | Target::Dispatch => return None,
        };
        let activation = self.at.stack.last_mut()?;
        activation.come_to(tables, to);
        if certain && self.at.certain != self.at.events {
            self.at.certain = self.at.events;
            passed.certain = Some(passed.blocks);
        }
        self.count(1, passed);
        passed.blocks += 1;
        Some(tables)
    }

    /// It leaves its function, and whoever called it by name goes on.
    pub(super) fn leave(&mut self, decides: bool, passed: &mut Passed) -> Option<&'t Tables> {
        let around = self.at.stack.len().checked_sub(2)?;
        let caller = &mut self.at.stack[around];
        let tables = self.all.get(caller.function.index())?.as_ref()?;
        let call = caller.calling?;
        let facts = tables.call(call)?;
        if facts.kind.is_confirmed() {
            return None;
        }
        if facts.kind.ends_segment() {
            let behind = facts.behind?;
            caller.come_to(tables, behind);
            caller.token = None;
        } else {
            caller.next_call = CallId(call.0 + 1);
        }
        caller.calling = None;
        self.at.stack.pop();
        if decides && self.at.certain != self.at.events {
            self.at.certain = self.at.events;
            passed.certain = Some(passed.blocks);
        }
        self.count(1, passed);
        Some(tables)
    }
}
