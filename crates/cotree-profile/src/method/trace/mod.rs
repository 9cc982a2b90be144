//! Traces: the streams of a raw profile's threads, and what the frames in them mean.
//!
//! - [`streams`]: finds the bytes of each stream in the file, and reads them in order.
//! - [`frames`]: return addresses as activations.

pub mod frames;
pub mod streams;

use crate::binary::BinaryFile;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::{Checkpoint, Event, ReadError, Reader, Tables, TraceError};
use std::fmt;
use streams::{Bytes, Part, Streams};

/// A note about the traces of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceNote {
    /// There was no room for the rest of a trace.
    Cut,
    /// A signal handler forked, or was not seen when it was installed.
    Lost,
}

impl TraceNote {
    /// Does it put in doubt what the trace says?
    pub(in crate::method) fn doubtful(self) -> bool {
        match self {
            Self::Cut => false,
            Self::Lost => true,
        }
    }
}

impl fmt::Display for TraceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("there was no room for more of the trace: it ends early"),
            Self::Lost => f.write_str(
                "a signal handler forked, or was installed in a way that cotree did not see: parts of the trace are missing, or wrong",
            ),
        }
    }
}

/// Why a unit's traces can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableTrace {
    /// Nothing was traced.
    #[error("it was not built with --profile trace")]
    NotTraced,
    /// What the map says of a function does not fit it.
    #[error("the map of {function} is wrong: {error}")]
    Function {
        /// The symbol.
        function: String,
        /// Why.
        error: TraceError,
    },
}

/// What readers of a unit's streams know of its functions.
#[derive(Debug)]
pub struct UnitTables<'a> {
    binary: &'a BinaryFile,
    tables: Vec<Option<Tables>>,
}

impl<'a> UnitTables<'a> {
    /// Of a binary.
    ///
    /// # Errors
    /// See [`UnreadableTrace`].
    pub fn new(binary: &'a BinaryFile) -> Result<Self, UnreadableTrace> {
        let map = binary.map();
        let plan = map.plan.method.traces().ok_or(UnreadableTrace::NotTraced)?;
        let table = |((_, function), plan): ((_, &cotree_core::facts::Function), _)| {
            let plan: &cotree_core::method::trace::TracePlan = plan;
            if function.untouched.is_some() {
                return Ok(None);
            }
            let failed = |error| UnreadableTrace::Function { function: function.symbol.clone(), error };
            Tables::new(function, &plan.key).map(Some).map_err(failed)
        };
        let tables = map.program.functions().zip(&plan.functions).map(table).collect::<Result<_, _>>()?;
        Ok(Self { binary, tables })
    }

    /// Reads a part of a stream from one of its entrances on.
    #[must_use]
    pub fn read<'t>(&'t self, streams: &'t Streams, part: Part<'t>, entrance: u64) -> Execution<'t> {
        let mut runs = Box::new(streams.runs(part, entrance));
        let first = runs.next();
        let reader = first.map(|bytes| Reader::new(&self.tables, bytes, self.binary));
        Execution { tables: &self.tables, binary: self.binary, runs, reader, nowhere: Checkpoint::beginning() }
    }

    /// The activations at a point, outermost first.
    pub fn stack<'t>(
        &'t self,
        at: &'t Checkpoint,
    ) -> impl Iterator<Item = (FunctionId, cotree_core::ids::Block, Option<cotree_core::ids::CallId>)> + 't {
        at.stack(&self.tables)
    }
}

/// What a thread did, read from a part of its stream.
pub struct Execution<'t> {
    tables: &'t [Option<Tables>],
    binary: &'t BinaryFile,
    /// Those that are left.
    runs: Box<dyn Iterator<Item = Bytes<'t>> + 't>,
    reader: Option<Reader<'t, Bytes<'t>, &'t BinaryFile>>,
    /// Where it is without a reader.
    nowhere: Checkpoint,
}

impl Execution<'_> {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// Where the stream is none of this program. Nothing comes after an error.
    #[allow(clippy::should_implement_trait, reason = "as the reader's own")]
    pub fn next(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            let Some(reader) = &mut self.reader else { return Ok(None) };
            let event = reader.next()?;
            if event.is_some() || reader.checkpoint().is_lost() {
                return Ok(event);
            }
            let Some(bytes) = self.runs.next() else { return Ok(None) };
            let at = reader.checkpoint().clone().interrupted();
            self.reader = Some(Reader::resume(self.tables, bytes, self.binary, at));
        }
    }

    /// Where it is.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        self.reader.as_ref().map_or(&self.nowhere, Reader::checkpoint)
    }
}
