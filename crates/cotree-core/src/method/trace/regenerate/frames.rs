//! Frames: activations that come to life without a call, or end without a return.

use super::super::place::Written;
use super::super::segments::Target;
use super::super::stream::{Calling, Frame, MORE_FRAMES, Resolve, WrittenAt};
use super::super::tables::Tables;
use super::checkpoint::{Activation, Left, Next};
use super::{Event, ReadError, Reader, Source, Step, known};
use crate::ids::Block;

impl<'t, S: Source, R: Resolve> Reader<'t, S, R> {
    pub(super) fn frame(&self, frame: u64) -> Result<Frame, ReadError> {
        self.resolve.frame(frame).ok_or(ReadError::NoFrame { position: self.at.position })
    }

    /// All frames have come to life that were to: the outermost is the first one on the stack.
    pub(super) fn revive(&mut self) -> Step<Event> {
        while let Some(calling) = self.at.revived.pop() {
            self.push(calling)?;
            self.at.pending.push_back(Event::Revived(calling));
        }
        Ok(self.at.pending.pop_front())
    }

    pub(super) fn push(&mut self, Calling { function, call }: Calling) -> Result<(), ReadError> {
        let no_frame = ReadError::NoFrame { position: self.at.position };
        let tables = self.table(function)?;
        let Some(facts) = tables.call(call) else { return Err(no_frame) };
        let mut activation = Activation { calling: Some(call), ..Activation::new(function) };
        activation.come_to(tables, facts.behind.unwrap_or_default());
        activation.next_call = call;
        self.at.stack.push(activation);
        Ok(())
    }

    /// The stack is what the stream says.
    pub(super) fn restart(&mut self, at: u64, count: u32) -> Step<()> {
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
            self.at.stack.push(Activation::new(function));
            self.at.pending.push_back(Event::Resumed(function));
            self.go_on(tables, written)?;
        }
        Ok(Some(()))
    }

    /// The innermost activation has just written something, where nobody has seen what came before.
    pub(super) fn go_on(&mut self, tables: &'t Tables, written: Written) -> Result<(), ReadError> {
        match written {
            Written::Entry => self.at.next = Next::Enter(Block(0), None),
            Written::Behind(node) => {
                let (_, activation) = self.innermost()?;
                activation.come_to(tables, node);
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
    pub(super) fn unwind(&mut self, frame: u64) -> Result<(), ReadError> {
        let Frame { activations, lands, interrupted } = self.frame(frame)?;
        if interrupted.is_some() && !self.at.cut_short {
            return Err(ReadError::NoFrame { position: self.at.position });
        }
        self.at.interrupted = interrupted.and_then(|interrupted| interrupted.function);
        // It had not yet left, if it has without a byte.
        if let Some(function) = self.at.interrupted
            && self.at.left.iter().any(|left| left.activation.function == function)
        {
            while self.at.stack.last().is_none_or(|innermost| innermost.function != function) && self.bring_back() {}
        }
        self.at.pending.extend(interrupted.map(|interrupted| Event::Interrupted(interrupted.address)));
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

    /// A frame that was interrupted outside of calls is over, and so is nobody around it: ends the innermost activation
    /// of its function, and all on top of it. It is not there if it had not yet written that it begins, or is over for
    /// what it has written.
    pub(super) fn abandon_interrupted(&mut self) {
        let Some(function) = self.at.interrupted.take() else { return };
        if let Some(found) = self.at.stack.iter().rposition(|activation| activation.function == function) {
            for activation in self.at.stack.drain(found..).rev() {
                self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
            }
        }
    }

    /// Is it a call for which nothing is written, so that the activation may have gone past it here?
    fn is_passed_over(&self, calling: Calling) -> bool {
        self.table(calling.function).is_ok_and(|tables| tables.passes_over(calling.call))
    }

    /// The last activation that has left without a byte had not yet done so. False if there is none.
    fn bring_back(&mut self) -> bool {
        let Some(Left { depth, activation, around }) = self.at.left.pop() else { return false };
        for activation in self.at.stack.drain(depth..).rev() {
            self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
        }
        if let (Some(innermost), Some(around)) = (self.at.stack.last_mut(), around) {
            *innermost = around;
        }
        self.at.pending.push_back(Event::Resumed(activation.function));
        self.at.stack.push(activation);
        true
    }

    /// Ends all activations on top of the innermost one that is in this call, and that one too if it is asked for.
    /// Activations on top of it are in calls in tail position, which machine code has as jumps, or were interrupted by
    /// a signal outside of calls.
    pub(super) fn abandon_to(&mut self, calling: Calling, inclusive: bool) -> Result<(), ReadError> {
        let there = |activation: &Activation| {
            activation.function == calling.function && activation.calling == Some(calling.call)
        };
        let of_function = |activation: &Activation| activation.function == calling.function;
        let found = loop {
            match self.at.stack.iter().rposition(there) {
                Some(found) => break found,
                // It is in a call that nothing is written for, and what followed that did not happen.
                None if self.at.cut_short && inclusive && self.is_passed_over(calling) => {
                    match self.at.stack.iter().rposition(of_function) {
                        Some(found) => {
                            self.at.stack[found].calling = Some(calling.call);
                            break found;
                        }
                        None if self.bring_back() => {}
                        None => return Err(ReadError::NoFrame { position: self.at.position }),
                    }
                }
                None if self.bring_back() => {}
                None => return Err(ReadError::NoFrame { position: self.at.position }),
            }
        };
        for activation in self.at.stack.drain(found + usize::from(!inclusive)..).rev() {
            self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
        }
        Ok(())
    }
}
