//! Records: what the runtime writes where a control byte stands, and the times that code does.

use super::super::stream::{ControlByte, Ending, Frame, Resolve};
use super::checkpoint::Next;
use super::cursor::{Cursor, Halt};
use super::event::Event;

impl Cursor<'_, '_> {
    /// Reads what comes next if it is a record. If it is not, what the runtime has told before is over now, and code
    /// goes on. What that means to the thread is pending then.
    pub fn record(&mut self, resolve: &dyn Resolve) -> Result<(), Halt> {
        let first = match self.first() {
            Err(Halt::End) => {
                self.revive()?;
                return if self.at.pending.is_empty() { Err(Halt::End) } else { Ok(()) };
            }
            first => first?,
        };
        let expected = match self.at.next {
            Next::Off => first == ControlByte::SWITCHED_ON,
            Next::Stack => first == ControlByte::STARTED,
            _ => first != ControlByte::SWITCHED_ON,
        };
        if !expected {
            return Err(self.misplaced());
        }
        if first != ControlByte::UNWOUND {
            self.abandon_interrupted();
        }
        if first != ControlByte::REVIVED && self.at.pending.is_empty() {
            self.revive()?;
        }
        if !self.at.pending.is_empty() {
            return Ok(());
        }
        if first != ControlByte::UNWOUND {
            self.at.left.clear();
            self.at.cut_short = false;
        }
        let length = match first {
            ControlByte::RETURNED | ControlByte::ENTERED | ControlByte::SHORT.. => return Ok(()),
            ControlByte::SWITCHED_OFF | ControlByte::SWITCHED_ON => 1,
            ControlByte::STARTED => 13,
            ControlByte::ENDED => 2,
            ControlByte::UNWOUND | ControlByte::TIME | ControlByte::REVIVED => 9,
            _ => return Err(self.misplaced()),
        };
        // What is cut off is no record.
        if self.input.rest().len() < length {
            self.fetch(length)?;
        }
        self.at.certain = self.at.events;
        self.take_record(1);
        if ControlByte::is_of_runtime(first) {
            (self.at.address, self.at.bits) = (0, 0);
        }
        match first {
            ControlByte::SWITCHED_OFF => self.switch(Next::Off, Event::SwitchedOff),
            ControlByte::SWITCHED_ON => self.switch(Next::Stack, Event::SwitchedOn),
            ControlByte::ENDED => {
                let reason = self.field(1)? as u8;
                self.at.pending.push_back(Event::Ended(Ending(reason)));
            }
            ControlByte::STARTED => {
                let (at, count) = (self.field(8)?, self.field(4)?);
                self.restart(resolve, at, count as u32)?;
            }
            ControlByte::TIME => {
                let stamp = self.field(8)?;
                self.at.pending.push_back(Event::Time(stamp));
            }
            ControlByte::UNWOUND => {
                let frame = self.field(8)?;
                let frame = self.frame(resolve, frame)?;
                self.unwind(frame)?;
            }
            _ => {
                let frame = self.field(8)?;
                let Frame { activations, .. } = self.frame(resolve, frame)?;
                self.at.revived.extend(activations);
            }
        }
        Ok(())
    }

    fn switch(&mut self, next: Next, event: Event) {
        self.at.next = next;
        self.at.pending.push_back(event);
    }

    /// Reads the next bytes of a record as a number.
    fn field(&mut self, bytes: usize) -> Result<u64, Halt> {
        let word = self.peek(bytes)?;
        self.take_record(bytes);
        Ok(word)
    }
}
