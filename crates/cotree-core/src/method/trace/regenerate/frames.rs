//! Frames: activations that come to life without a call, or end without a return.

use super::super::place::Written;
use super::super::segments::Target;
use super::super::stream::{Calling, Frame, MORE_FRAMES, Resolve, WrittenAt};
use super::super::tables::Tables;
use super::checkpoint::{Activation, Left, Next};
use super::cursor::{Cursor, Halt};
use super::event::Event;
use crate::ids::Block;

impl<'t> Cursor<'t, '_> {
    pub fn frame(&mut self, resolve: &dyn Resolve, frame: u64) -> Result<Frame, Halt> {
        resolve.frame(frame).ok_or_else(|| self.no_frame())
    }

    /// All frames have come to life that were to: the outermost is the first one on the stack.
    pub fn revive(&mut self) -> Result<(), Halt> {
        while let Some(calling) = self.at.revived.pop() {
            self.push(calling)?;
            self.at.pending.push_back(Event::Revived(calling));
        }
        Ok(())
    }

    fn push(&mut self, Calling { function, call }: Calling) -> Result<(), Halt> {
        let tables = self.table(function)?;
        let Some(facts) = tables.call(call) else { return Err(self.no_frame()) };
        let mut activation = Activation { calling: Some(call), ..Activation::new(function) };
        activation.come_to(tables, facts.behind.unwrap_or_default());
        activation.next_call = call;
        self.at.stack.push(activation);
        Ok(())
    }

    /// The stack is what the stream says.
    pub fn restart(&mut self, resolve: &dyn Resolve, at: u64, count: u32) -> Result<(), Halt> {
        self.at.stack.clear();
        self.at.open_ended = count & MORE_FRAMES != 0;
        for _ in 0..count & !MORE_FRAMES {
            let frame = self.peek(8)?;
            self.take_record(8);
            // Frames of other code are between those of the program.
            if let Some(Frame { activations, .. }) = resolve.frame(frame) {
                self.at.revived.extend(activations);
            }
        }
        self.at.next = Next::Control;
        self.at.pending.push_back(Event::Restarted);
        self.revive()?;
        if at == u64::MAX {
            return Ok(());
        }
        let Some(WrittenAt { function, place }) = WrittenAt::unpack(at) else { return Err(self.no_frame()) };
        let tables = self.table(function)?;
        let Some(written) = tables.written(place) else { return Err(self.no_frame()) };
        self.at.stack.push(Activation::new(function));
        self.at.pending.push_back(Event::Resumed(function));
        self.go_on(tables, written)
    }

    /// The innermost activation has just written something, where nobody has seen what came before.
    fn go_on(&mut self, tables: &'t Tables, written: Written) -> Result<(), Halt> {
        let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
        let (node, next) = match written {
            Written::Entry => (activation.node as usize, Next::Enter(Block(0), None)),
            Written::Behind(node) => (node, Next::Run),
            Written::Target(block) => (tables.first_node(block), Next::Arrive(block, None)),
            Written::Link(node, link) => {
                let next = match link.target {
                    Target::Node(to) | Target::Packed(to) => Next::Arrive(tables.node(to).block, Some(link.edge)),
                    Target::Cut(to) => Next::Enter(tables.node(to).block, Some(link.edge)),
                    Target::Exit => Next::Leave(link.edge),
                    Target::Dispatch => Next::Dispatch,
                };
                (node, next)
            }
        };
        activation.come_to(tables, node);
        self.at.next = next;
        Ok(())
    }

    /// A frame's activations end, or an exception reaches a landing pad among them.
    pub fn unwind(&mut self, frame: Frame) -> Result<(), Halt> {
        let Frame { activations, caught_at, interrupted } = frame;
        if interrupted.is_some() && !self.at.cut_short {
            return Err(self.no_frame());
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
        if let Some(calling) = caught_at {
            self.abandon_to(calling, false)?;
            let tables = self.innermost()?;
            let Some(edge) = tables.call(calling.call).and_then(|call| call.unwinds) else {
                return Err(self.no_frame());
            };
            let Some(activation) = self.at.stack.last_mut() else { return Err(self.misplaced()) };
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
    pub fn abandon_interrupted(&mut self) {
        let Some(function) = self.at.interrupted.take() else { return };
        if let Some(found) = self.at.stack.iter().rposition(|activation| activation.function == function) {
            for activation in self.at.stack.drain(found..).rev() {
                self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
            }
        }
    }

    /// Is it a call for which nothing is written, so that the activation may have gone past it here?
    fn is_passed_over(&self, calling: Calling) -> bool {
        self.find(calling.function).is_some_and(|tables| tables.passes_over(calling.call))
    }

    /// The last activation that has left without a byte had not yet done so. False if there is none, or if the stack is
    /// less deep than it was: the stream is damaged.
    fn bring_back(&mut self) -> bool {
        let deep = self.at.stack.len();
        let Some(Left { depth, activation, around }) = self.at.left.pop_if(|left| left.depth <= deep) else {
            return false;
        };
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
    fn abandon_to(&mut self, calling: Calling, inclusive: bool) -> Result<(), Halt> {
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
                        None => return Err(self.no_frame()),
                    }
                }
                None if self.bring_back() => {}
                None => return Err(self.no_frame()),
            }
        };
        for activation in self.at.stack.drain(found + usize::from(!inclusive)..).rev() {
            self.at.pending.push_back(Event::Abandoned(activation.function, activation.calling));
        }
        Ok(())
    }
}
