//! Readers, which yield events one by one, or skip them.

use super::super::stream::Resolve;
use super::super::tables::Tables;
use super::checkpoint::{Checkpoint, Next};
use super::cursor::{Cursor, Halt};
use super::engine::MOST_EVENTS_WITHOUT_BYTES;
use super::event::{Event, ReadError};
use super::input::{Input, Source};
use super::sink::{One, Skipped};
use super::spans::Spans;

/// Reads the stream of a thread.
pub struct Reader<'t, S, R> {
    tables: &'t [Option<Tables>],
    source: S,
    input: Input,
    resolve: R,
    at: Checkpoint,
    /// The stream is that of a thread that is interrupted, behind its last byte.
    interrupted: bool,
    over: bool,
    /// Why nothing more could be skipped, if that is still to be told.
    error: Option<ReadError>,
    /// What [`Self::skip`] knows by now.
    spans: Spans,
}

impl<'t, S: Source, R: Resolve> Reader<'t, S, R> {
    /// A reader at the beginning of a stream. Of each function of the process, its tables; `None` for one without
    /// probes.
    pub fn new(tables: &'t [Option<Tables>], source: S, resolve: R) -> Self {
        Self::resume(tables, source, resolve, Checkpoint::beginning())
    }

    /// A reader that goes on at a checkpoint.
    pub fn resume(tables: &'t [Option<Tables>], source: S, resolve: R, at: Checkpoint) -> Self {
        let (input, spans) = (Input::default(), Spans::default());
        Self { tables, source, input, resolve, at, interrupted: false, over: false, error: None, spans }
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
    pub fn next(&mut self) -> Result<Option<Event>, ReadError> {
        if self.over {
            return Ok(None);
        }
        if let Some(error) = self.error.take() {
            self.over = true;
            return Err(error);
        }
        let mut cursor = Cursor::new(self.tables, &mut self.source, &mut self.input, &mut self.at);
        cursor.keeps_left = self.interrupted;
        let event = next(&mut cursor, &self.resolve);
        self.over = !matches!(event, Ok(Some(_)));
        event
    }

    /// Goes on as [`Self::next`] does, up to the next record of the runtime or time, and for at most `most` blocks. May
    /// skip nothing.
    pub fn skip(&mut self, most: u64) -> Skipped {
        let mut skipped = Skipped::default();
        if self.over || self.error.is_some() || !self.at.pending.is_empty() || !self.at.is_settled() {
            return skipped;
        }
        let before = self.at.events;
        let mut cursor = Cursor::new(self.tables, &mut self.source, &mut self.input, &mut self.at);
        cursor.keeps_left = self.interrupted;
        // Why it stops is told by the next event.
        let _ = skip(&mut cursor, &mut self.spans, most, &mut skipped);
        self.error = cursor.error;
        skipped.events = self.at.events - before;
        skipped
    }
}

fn next(cursor: &mut Cursor<'_, '_>, resolve: &dyn Resolve) -> Result<Option<Event>, ReadError> {
    loop {
        if let Some(event) = cursor.at.pending.pop_front() {
            cursor.at.events += 1;
            return Ok(Some(event));
        }
        let mut sink = One::default();
        let step = if cursor.at.events_without_bytes() > MOST_EVENTS_WITHOUT_BYTES {
            Err(cursor.wrong(ReadError::Endless { position: cursor.at.position }))
        } else if cursor.at.is_settled() || !matches!(cursor.at.next, Next::Control | Next::Off | Next::Stack) {
            cursor.step(&mut sink).map(|_| ())
        } else {
            Err(Halt::Record)
        };
        let step = match step {
            Err(Halt::Record) => cursor.record(resolve),
            step => step,
        };
        match step {
            Ok(()) => {}
            Err(Halt::Sink) => return Ok(sink.0),
            Err(Halt::End | Halt::Record) => return Ok(None),
            Err(Halt::Wrong) => return cursor.error.take().map_or(Ok(None), Err),
        }
    }
}

fn skip(cursor: &mut Cursor<'_, '_>, spans: &mut Spans, most: u64, skipped: &mut Skipped) -> Result<(), Halt> {
    let mut tables = cursor.around()?;
    while skipped.blocks < most && cursor.at.events_without_bytes() <= MOST_EVENTS_WITHOUT_BYTES {
        tables = match (cursor.at.next, tables) {
            (Next::Run, Some(own)) => match spans.skip(cursor, own, most, skipped) {
                Some(flow) => flow?,
                None => cursor.run(own, skipped)?,
            },
            _ => cursor.step(skipped)?,
        };
    }
    Ok(())
}
