//! Control bytes, and what they say happens.

use super::super::stream::{self, ControlByte, Ending, Frame, Resolve};
use super::checkpoint::Next;
use super::{Event, ReadError, Reader, Source, Step, known};
use crate::ids::FunctionId;

impl<S: Source, R: Resolve> Reader<'_, S, R> {
    /// The time, if that stands there; `None` inside if something else does.
    pub(super) fn time(&mut self) -> Step<Option<u64>> {
        if !self.fill(1)? {
            return Ok(None);
        }
        if self.buffer[self.read] != ControlByte::TIME {
            return Ok(Some(None));
        }
        if !self.fill(9)? {
            return Ok(None);
        }
        known!(self.token(1));
        self.at.certain = self.at.events;
        Ok(Some(Some(known!(self.take(8)))))
    }

    /// A function's announcement; `None` inside if something else stands there.
    pub(super) fn announced(&mut self) -> Step<Option<FunctionId>> {
        let first = known!(self.token(1)) as u8;
        Ok(Some(match first {
            ControlByte::ENTERED => Some(FunctionId(known!(self.take(4)) as u32)),
            ControlByte::SHORT.. => Some(stream::short(first, known!(self.take(1)) as u8)),
            _ => None,
        }))
    }

    /// `None` inside if it yields no event.
    pub(super) fn control(&mut self) -> Step<Option<Event>> {
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
        if first != ControlByte::UNWOUND {
            self.at.left.clear();
            self.at.cut_short = false;
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
        if ControlByte::is_of_runtime(first) {
            self.at.address = 0;
        }
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
}
