//! The cursor: where reading is, with the bytes that come next and the tables that say what they mean.

use super::super::stream::{self, ControlByte};
use super::super::tables::Tables;
use super::super::token::Token;
use super::checkpoint::{Checkpoint, Left};
use super::event::ReadError;
use super::input::{Input, Source};
use crate::ids::FunctionId;

/// Why reading stops. The state is that between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The sink wants no more for now.
    Sink,
    /// What comes next is not written by code, or is the time.
    Record,
    /// The stream ends.
    End,
    /// The stream is none of this program: [`Cursor::error`] says why.
    Wrong,
}

/// A place in a stream, and the state there.
pub(super) struct Cursor<'t, 'r> {
    all: &'t [Option<Tables>],
    source: &'r mut dyn Source,
    pub input: &'r mut Input,
    pub at: &'r mut Checkpoint,
    /// Activations that leave are remembered until the next byte: an interruption comes behind the last one.
    pub keeps_left: bool,
    /// Why reading has stopped, if that is [`Halt::Wrong`].
    pub error: Option<ReadError>,
}

impl<'t, 'r> Cursor<'t, 'r> {
    pub fn new(
        all: &'t [Option<Tables>],
        source: &'r mut dyn Source,
        input: &'r mut Input,
        at: &'r mut Checkpoint,
    ) -> Self {
        Self { all, source, input, at, keeps_left: false, error: None }
    }

    /// The tables of all functions; `None` for one without probes.
    pub fn tables(&self) -> &'t [Option<Tables>] {
        self.all
    }

    // Bytes.

    /// The next bytes as a number, which stay.
    #[inline]
    pub fn peek(&mut self, bytes: usize) -> Result<u64, Halt> {
        match self.input.peek(bytes) {
            Some(word) => Ok(word),
            None => {
                self.fetch(bytes)?;
                Ok(self.input.peek(bytes).unwrap_or_default())
            }
        }
    }

    /// The next byte, which stays.
    #[inline]
    pub fn first(&mut self) -> Result<u8, Halt> {
        Ok(self.peek(1)? as u8)
    }

    /// Fetches the next bytes, if they are not here.
    #[cold]
    pub fn fetch(&mut self, bytes: usize) -> Result<(), Halt> {
        match self.input.fetch(self.source, bytes) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Halt::End),
            Err(why) => Err(self.wrong(ReadError::Source(why))),
        }
    }

    /// Notes that the next bytes have been read, which the code has written that runs: so whoever has left is gone.
    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.take_record(bytes);
        self.at.left.clear();
    }

    /// Notes that the next bytes have been read.
    #[inline]
    pub fn take_record(&mut self, bytes: usize) {
        self.input.take(bytes);
        self.at.position += bytes as u64;
        self.at.heard = self.at.events;
        self.at.begins = 0;
    }

    /// Reads the next bytes as a number.
    #[inline]
    pub fn token(&mut self, bytes: u8) -> Result<u64, Halt> {
        let word = self.peek(usize::from(bytes))?;
        self.take(usize::from(bytes));
        Ok(word)
    }

    /// Reads the next bits as a number, 1 to 7 of them: from the byte that the last ones were in, unless that is spent.
    #[inline]
    pub fn bits(&mut self, count: u8) -> Result<u64, Halt> {
        if self.at.bits <= 1 {
            self.at.bits = self.token(1)? as u8;
        }
        let left = self.at.bits.checked_ilog2().and_then(|left| left.checked_sub(u32::from(count)));
        let Some(left) = left else { return Err(self.no_token()) };
        let number = self.at.bits >> left & ((1 << count) - 1);
        self.at.bits = 1 << left | self.at.bits & ((1 << left) - 1);
        // The code that runs has written them.
        self.take(0);
        Ok(u64::from(number))
    }

    /// The number of a length of its own ([`stream::put_number`]) that stands behind the next `skip` bytes, and how
    /// many it has. They stay.
    #[inline]
    pub fn number(&mut self, skip: usize) -> Result<(u64, usize), Halt> {
        loop {
            let rest = self.input.rest().get(skip..).unwrap_or_default();
            let mut behind = rest;
            if let Some(number) = stream::take_number(&mut behind) {
                return Ok((number, rest.len() - behind.len()));
            }
            self.fetch(skip + rest.first().map_or(1, |&first| stream::number_length(first)))?;
        }
    }

    /// Reads a function's entry record, which stands there.
    pub fn entry_record(&mut self) -> Result<FunctionId, Halt> {
        let first = self.first()?;
        if first == ControlByte::ENTERED {
            let word = self.peek(5)?;
            self.take(5);
            Ok(FunctionId((word >> 8) as u32))
        } else {
            let word = self.peek(2)?;
            self.take(2);
            Ok(stream::short(first, (word >> 8) as u8))
        }
    }

    // The stack.

    /// The innermost activation is over. Gives its function.
    #[inline]
    pub fn pop(&mut self) -> Result<FunctionId, Halt> {
        if self.keeps_left
            && let [around @ .., activation] = &self.at.stack[..]
        {
            let left = Left { depth: around.len(), activation: activation.clone(), around: around.last().cloned() };
            self.at.left.push(left);
        }
        match self.at.stack.pop() {
            Some(activation) => Ok(activation.function),
            None => Err(self.misplaced()),
        }
    }

    /// What is left of the token of the innermost activation.
    #[inline]
    pub fn has_token(&mut self, token: Option<Token>) {
        if let Some(activation) = self.at.stack.last_mut() {
            activation.token = token;
        }
    }

    #[inline]
    pub fn find(&self, function: FunctionId) -> Option<&'t Tables> {
        self.all.get(function.index())?.as_ref()
    }

    #[inline]
    pub fn table(&mut self, function: FunctionId) -> Result<&'t Tables, Halt> {
        match self.find(function) {
            Some(tables) => Ok(tables),
            None => Err(self.no_function(function)),
        }
    }

    /// The tables of the innermost activation, if there is one.
    #[inline]
    pub fn around(&mut self) -> Result<Option<&'t Tables>, Halt> {
        match self.at.stack.last() {
            Some(activation) => self.table(activation.function).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    pub fn innermost(&mut self) -> Result<&'t Tables, Halt> {
        match self.around()? {
            Some(tables) => Ok(tables),
            None => Err(self.misplaced()),
        }
    }

    // Errors.

    #[cold]
    pub fn wrong(&mut self, error: ReadError) -> Halt {
        self.error = Some(error);
        Halt::Wrong
    }

    #[cold]
    pub fn misplaced(&mut self) -> Halt {
        self.wrong(ReadError::NoControl { position: self.at.position })
    }

    #[cold]
    pub fn no_token(&mut self) -> Halt {
        let function = self.at.stack.last().map_or_else(FunctionId::default, |activation| activation.function);
        self.wrong(ReadError::NoToken { position: self.at.position, function })
    }

    #[cold]
    pub fn no_function(&mut self, function: FunctionId) -> Halt {
        self.wrong(ReadError::NoFunction { position: self.at.position, function })
    }

    #[cold]
    pub fn no_frame(&mut self) -> Halt {
        self.wrong(ReadError::NoFrame { position: self.at.position })
    }
}
