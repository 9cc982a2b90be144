//! Regenerates an execution from the stream of a thread (Ball & Larus 1994, Fig. 14, with the stack of §4.2).
//!
//! A [`Reader`] has a stack of activations and yields what they do, one [`Event`] after the other. An activation is a
//! place in its function and what is left of its token: of constant size. Streams may be hostile or end anywhere: what
//! can't be is an error, and what is missing is the end.

mod activation;
mod checkpoint;
mod control;
mod event;
mod frames;
mod pass;
mod stretch;

pub use checkpoint::Checkpoint;
pub use event::{Event, ReadError};
pub use pass::Passed;

use super::stream::{self, Resolve};
use super::tables::Tables;
use crate::ids::FunctionId;
use checkpoint::{Activation, Next};
use stretch::Stretches;

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

/// Only a program that never was writes nothing for so long.
const MOST_SILENT: u64 = 1 << 32;

/// Reads the stream of a thread.
pub struct Reader<'t, S, R> {
    tables: &'t [Option<Tables>],
    source: S,
    resolve: R,
    buffer: Vec<u8>,
    /// How many bytes of the buffer have been read.
    read: usize,
    at: Checkpoint,
    /// The stream is that of a thread that is interrupted, behind its last byte.
    interrupted: bool,
    over: bool,
    /// What [`Self::pass`] knows by now.
    stretches: Stretches,
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
use known;

impl<'t, S: Source, R: Resolve> Reader<'t, S, R> {
    /// A reader at the beginning of a stream. Of each function of the process, its tables; `None` for one without
    /// probes.
    pub fn new(tables: &'t [Option<Tables>], source: S, resolve: R) -> Self {
        Self::resume(tables, source, resolve, Checkpoint::beginning())
    }

    /// A reader that goes on at a checkpoint.
    pub fn resume(tables: &'t [Option<Tables>], source: S, resolve: R, at: Checkpoint) -> Self {
        Self {
            tables,
            source,
            resolve,
            buffer: Vec::new(),
            read: 0,
            at,
            interrupted: false,
            over: false,
            stretches: Stretches::default(),
        }
    }

    /// A reader of a stream behind whose last byte the thread was interrupted outside of calls, and did not go on.
    /// Another one goes on from the checkpoint there, [interrupted](Checkpoint::interrupted).
    #[must_use]
    pub fn interrupted(self, interrupted: bool) -> Self {
        Self { interrupted, ..self }
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
                        if let Some(time) = known!(self.time()) {
                            return Ok(Some(Event::Time(time)));
                        }
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
                    let number = known!(self.token(tables.target_bytes()));
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

    /// The next bytes as a number, which the code has written that runs: so whoever has left is gone.
    fn token(&mut self, bytes: u8) -> Step<u64> {
        let number = known!(self.take(bytes));
        self.at.left.clear();
        Ok(Some(number))
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

    /// The next number of a length of its own ([`stream::put_number`]), written by the code that runs.
    fn number(&mut self) -> Step<u64> {
        if !self.fill(1)? || !self.fill(stream::number_length(self.buffer[self.read]))? {
            return Ok(None);
        }
        let mut rest = &self.buffer[self.read..];
        let before = rest.len();
        let Some(number) = stream::take_number(&mut rest) else { return Ok(None) };
        let bytes = before - rest.len();
        self.read += bytes;
        self.at.position += bytes as u64;
        (self.at.silent, self.at.begins) = (0, 0);
        self.at.left.clear();
        Ok(Some(number))
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
}
