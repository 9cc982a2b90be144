//! Traces: the streams of a raw profile's threads, and what the frames in them mean.
//!
//! - [`streams`]: finds the bytes of each stream in the file, and reads them in order.
//! - [`frames`]: return addresses as activations.
//! - [`ending`]: which activations an ending took with it.
//! - [`thread`]: what each thread did, from any point on.
//! - [`count`]: blocks, edges and calls of a stretch of it, counted.
//! - [`prime_paths`]: which prime paths of functions ran.
//! - [`sums`]: the same of several runs, added up.

pub mod count;
pub mod ending;
pub mod frames;
mod notes;
pub mod prime_paths;
pub mod streams;
pub mod sums;
pub mod thread;

pub use notes::TraceNote;

use crate::binary::BinaryFile;
use crate::source_lines;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::trace::{Checkpoint, Event, ReadError, Reader, Skipped, Tables, TraceError};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use streams::{Bytes, Part, Streams};

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
    /// Lines that somebody has asked for.
    lines: Mutex<BTreeMap<u64, Option<(String, u32)>>>,
}

impl<'a> UnitTables<'a> {
    /// Makes the tables of a binary.
    ///
    /// # Errors
    /// See [`UnreadableTrace`].
    pub fn new(binary: &'a BinaryFile) -> Result<Self, UnreadableTrace> {
        let map = binary.map();
        let plan = map.plan.method.traces().ok_or(UnreadableTrace::NotTraced)?;
        let table = |((_, function), plan): ((_, &Function), _)| {
            let plan: &cotree_core::method::trace::TracePlan = plan;
            if function.untouched.is_some() {
                return Ok(None);
            }
            let failed = |error| UnreadableTrace::Function { function: function.symbol.clone(), error };
            Tables::new(function, &plan.key).map(Some).map_err(failed)
        };
        let tables = map.program.functions().zip(&plan.functions).map(table).collect::<Result<_, _>>()?;
        Ok(Self { binary, tables, lines: Mutex::default() })
    }

    /// Reads a part of a stream from one of its entrances on.
    #[must_use]
    pub fn read<'t>(&'t self, streams: &'t Streams, part: Part<'t>, entrance: u64) -> Execution<'t> {
        self.resume(streams, part, entrance, Checkpoint::beginning())
    }

    /// Goes on reading where an earlier reader of the same part and entrance was.
    #[must_use]
    pub fn resume<'t>(&'t self, streams: &'t Streams, part: Part<'t>, entrance: u64, at: Checkpoint) -> Execution<'t> {
        let mut runs = Box::new(streams.runs(part, entrance, at.position()));
        let nowhere = at.clone();
        let reader = runs.next().map(|bytes| reader_of(&self.tables, bytes, self.binary, at));
        Execution {
            tables: &self.tables,
            binary: self.binary,
            runs,
            reader,
            nowhere,
            doubts: Vec::new(),
            just_doubted: false,
        }
    }

    /// The binary.
    #[must_use]
    pub const fn binary(&self) -> &'a BinaryFile {
        self.binary
    }

    /// File and line of an instruction that a signal interrupted, if the binary has line tables.
    #[must_use]
    pub fn line_at(&self, address: u64) -> Option<(String, u32)> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .entry(address)
            .or_insert_with(|| source_lines::of(self.binary.path(), &[address], &[]).lines.remove(&address))
            .clone()
    }

    /// A function, and those that it may call, or have called, without that anything is written.
    pub(super) fn reached_without_tokens(&self, function: FunctionId) -> BTreeSet<FunctionId> {
        let mut reached = BTreeSet::from([function]);
        let mut work = vec![function];
        while let Some(function) = work.pop() {
            let tables = self.tables.get(function.index()).and_then(Option::as_ref);
            for callee in tables.into_iter().flat_map(Tables::tokenless_callees) {
                if reached.insert(callee) {
                    work.push(callee);
                }
            }
        }
        reached
    }

    /// Is nothing written for a call?
    pub(super) fn passes_over(&self, function: FunctionId, call: CallId) -> bool {
        let tables = self.tables.get(function.index()).and_then(Option::as_ref);
        tables.is_some_and(|tables| tables.passes_over(call))
    }

    /// What is wrong with a stream, with names of functions.
    #[must_use]
    pub fn describe(&self, error: &ReadError, name: impl FnOnce(&Function) -> String) -> String {
        let (ReadError::NoToken { function, .. } | ReadError::NoFunction { function, .. }) = error else {
            return error.to_string();
        };
        let named = self.binary.map().program.functions().nth(function.index()).map(|(_, facts)| name(facts));
        error.to_string().replace(&function.to_string(), &named.unwrap_or_else(|| function.to_string()))
    }

    /// The activations at a point, outermost first.
    pub fn stack<'t>(
        &'t self,
        at: &'t Checkpoint,
    ) -> impl DoubleEndedIterator<Item = (FunctionId, Block, Option<CallId>)> + ExactSizeIterator + 't {
        at.stack(&self.tables)
    }
}

fn reader_of<'t>(
    tables: &'t [Option<Tables>],
    bytes: Bytes<'t>,
    binary: &'t BinaryFile,
    at: Checkpoint,
) -> Reader<'t, Bytes<'t>, &'t BinaryFile> {
    let interrupted = bytes.are_interrupted();
    Reader::resume(tables, bytes, binary, at).interrupted(interrupted)
}

/// What a thread did, read from a part of its stream.
pub struct Execution<'t> {
    tables: &'t [Option<Tables>],
    binary: &'t BinaryFile,
    /// The runs of bytes that are left.
    runs: Box<dyn Iterator<Item = Bytes<'t>> + 't>,
    reader: Option<Reader<'t, Bytes<'t>, &'t BinaryFile>>,
    /// Where it is without a reader.
    nowhere: Checkpoint,
    doubts: Vec<Range<u64>>,
    /// The last doubt was raised right here: what comes next may dispel it.
    just_doubted: bool,
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
                // A call whose end would be told: the thread had come there, and so all before it has happened.
                if std::mem::take(&mut self.just_doubted)
                    && let Some(Event::Abandoned(function, Some(call))) = event
                    && self.tables[function.index()].as_ref().is_some_and(|tables| !tables.passes_over(call))
                {
                    self.doubts.pop();
                }
                return Ok(event);
            }
            let Some(bytes) = self.runs.next() else { return Ok(None) };
            let at = reader.checkpoint().clone().interrupted();
            self.just_doubted = at.certain() < at.events();
            if self.just_doubted {
                self.doubts.push(at.certain()..at.events());
            }
            self.reader = Some(reader_of(self.tables, bytes, self.binary, at));
        }
    }

    /// Goes on as [`Self::next`] does, up to the next record of the runtime or time, and for at most `most` blocks. May
    /// skip nothing.
    pub fn skip(&mut self, most: u64) -> Skipped {
        let skipped = self.reader.as_mut().map(|reader| reader.skip(most)).unwrap_or_default();
        self.just_doubted &= skipped.events == 0;
        skipped
    }

    /// Events, by their numbers, that may not have happened: what activations would have done next that were
    /// interrupted outside of calls. In order.
    #[must_use]
    pub fn doubts(&self) -> &[Range<u64>] {
        &self.doubts
    }

    /// Where it is.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        self.reader.as_ref().map_or(&self.nowhere, Reader::checkpoint)
    }
}
