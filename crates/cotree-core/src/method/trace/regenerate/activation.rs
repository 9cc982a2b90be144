//! What the innermost activation does: its blocks, calls and end.

use super::super::segments::{Link, NodeEnd, Target};
use super::super::stream::{self, Resolve};
use super::super::tables::Tables;
use super::super::types::CallKind;
use super::checkpoint::{Activation, Left, Next};
use super::{Event, ReadError, Reader, Source, Step, known};
use crate::facts::Access;
use crate::ids::{Block, CallId, Edge, FunctionId};

/// Only a program that never was has so many activations without a byte.
pub(super) const MOST_SILENT_BEGINS: u64 = 1 << 22;

impl<'t, S: Source, R: Resolve> Reader<'t, S, R> {
    /// What it does next.
    pub(super) fn run(&mut self) -> Step<Event> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let node = tables.node(activation.node as usize);
        if let Some(access) = tables.due(activation.node as usize, activation.next_access, activation.next_call) {
            return self.access(*access);
        }
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
                    let number = known!(self.token(bytes));
                    let token = tables.token(start, number).ok_or_else(|| self.no_token())?;
                    self.innermost()?.1.token = Some(token);
                }
                self.cross(tables)
            }
        }
    }

    /// The activation tells an address.
    fn access(&mut self, access: Access) -> Step<Event> {
        let length = match access.length {
            Some(length) => length,
            None => known!(self.number()),
        };
        let step = known!(self.number());
        self.at.certain = self.at.events + 1;
        self.at.address = self.at.address.wrapping_add(stream::step(step));
        let address = self.at.address;
        let (_, activation) = self.innermost()?;
        let (function, number) = (activation.function, activation.next_access);
        activation.next_access += 1;
        Ok(Some(Event::Access { function, access: number, address, length }))
    }

    /// The activation leaves its node by a link.
    pub(super) fn cross(&mut self, tables: &'t Tables) -> Step<Event> {
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
    pub(super) fn follow(&mut self, tables: &'t Tables, link: Link, told: bool) -> Step<Event> {
        match link.target {
            Target::Node(to) | Target::Packed(to) => {
                let block = tables.node(to).block;
                self.arrive(block, Some(link.edge)).map(Some)
            }
            Target::Cut(to) => {
                let block = tables.node(to).block;
                if !told && tables.target(block).is_none() && tables.ticks(to) && known!(self.token(1)) != 0 {
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

    /// The activation enters a block that a segment starts with; such a block may say which one it is.
    pub(super) fn enter(&mut self, block: Block, edge: Option<Edge>) -> Step<Event> {
        let (tables, _) = self.innermost()?;
        if let Some(number) = tables.target(block) {
            self.at.next = Next::Enter(block, edge);
            if known!(self.token(tables.target_bytes())) != number {
                return Err(self.no_token());
            }
        }
        self.arrive(block, edge).map(Some)
    }

    pub(super) fn arrive(&mut self, block: Block, edge: Option<Edge>) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        activation.come_to(tables, tables.first_node(block));
        let function = activation.function;
        self.at.next = Next::Run;
        Ok(Event::Block { function, block, edge })
    }

    /// What comes next when an activation is over, unless the call under way then says more.
    pub(super) fn outside(&self) -> Next {
        if self.at.stack.is_empty() && self.at.open_ended { Next::Unknown } else { Next::Control }
    }

    /// The activation leaves its function.
    pub(super) fn leave(&mut self, edge: Edge) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let resumes = tables.resumes(edge);
        self.pop();
        self.at.next = self.outside();
        if !resumes && !self.at.stack.is_empty() {
            self.come_back(false)?;
        }
        Ok(Event::Leave { function, edge })
    }

    /// The innermost activation is over.
    fn pop(&mut self) {
        let popped = self.at.stack.pop();
        if self.interrupted
            && let Some(activation) = popped
        {
            let around = self.at.stack.last().cloned();
            self.at.left.push(Left { depth: self.at.stack.len(), activation, around });
        }
    }

    /// The call under way is over, by a return of its callee or as a control byte says.
    pub(super) fn come_back(&mut self, confirmed: bool) -> Result<(), ReadError> {
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
            activation.come_to(tables, behind);
            activation.token = None;
        } else {
            activation.next_call = CallId(call.0 + 1);
        }
        self.at.next = Next::Run;
        Ok(())
    }

    /// The activation is gone before the callee runs.
    pub(super) fn tail(&mut self, call: CallId, edge: Edge) -> Result<Event, ReadError> {
        let (tables, activation) = self.innermost()?;
        let function = activation.function;
        let callee = tables.call(call).and_then(|facts| facts.kind.callee());
        self.pop();
        self.at.next = callee.map_or_else(|| self.outside(), Next::Begin);
        Ok(Event::Leave { function, edge })
    }

    pub(super) fn begin(&mut self, function: FunctionId) -> Result<Event, ReadError> {
        let tables = self.table(function)?;
        self.at.begins += 1;
        if self.at.begins > MOST_SILENT_BEGINS {
            return Err(ReadError::Endless { position: self.at.position });
        }
        let mut activation = Activation::new(function);
        activation.come_to(tables, tables.first_node(Block(0)));
        self.at.stack.push(activation);
        self.at.next = Next::Enter(Block(0), None);
        Ok(Event::Begin(function))
    }
}
