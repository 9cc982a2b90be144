//! Traces: the streams of a raw profile's threads, and what the frames in them mean.
//!
//! - [`streams`]: finds the bytes of each stream in the file, and reads them in order.
//! - [`frames`]: return addresses as activations.

pub mod frames;
pub mod streams;

use crate::binary::BinaryFile;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::{Checkpoint, Reader, Tables, TraceError};
use std::fmt;
use streams::{Bytes, Part, Streams};

/// A note about the traces of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceNote {
    /// There was no room for the rest of a trace.
    Cut,
}

impl TraceNote {
    /// Does it put counts in doubt? Traces have none.
    pub(in crate::method) fn doubtful(self) -> bool {
        match self {
            Self::Cut => false,
        }
    }
}

impl fmt::Display for TraceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("there was no room for more of the trace: it ends early"),
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
    pub fn read<'t>(
        &'t self,
        streams: &'t Streams,
        part: Part<'t>,
        entrance: u64,
    ) -> Reader<'t, Bytes<'t>, &'a BinaryFile> {
        Reader::new(&self.tables, streams.read(part, entrance), self.binary)
    }

    /// The activations at a point, outermost first.
    pub fn stack<'t>(
        &'t self,
        at: &'t Checkpoint,
    ) -> impl Iterator<Item = (FunctionId, cotree_core::ids::Block, Option<cotree_core::ids::CallId>)> + 't {
        at.stack(&self.tables)
    }
}
