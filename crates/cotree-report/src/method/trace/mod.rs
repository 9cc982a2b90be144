//! Views of traces: what each thread did.
//!
//! - [`rows`]: an execution as rows, by block, line or call.
//! - [`text`]: the summary of a trace, a stretch of it in either direction, and the moment in which a line ran.
//! - [`addresses`]: accesses of memory for simulators of caches; [`cache`]: one of these.
//! - [`compare`]: where two traces part.
//! - [`clock`]: how many instructions have run; by it [`vectors`] for SimPoint, and a [`timeline`] for Perfetto.
//! - [`prime_paths`]: how many prime paths of each function ran.
//!
//! Counts of a trace are those of any other profile ([`cotree_profile::method::trace::count`]).

pub mod addresses;
pub mod cache;
pub mod clock;
pub mod compare;
mod left_out;
pub mod prime_paths;
pub mod rows;
pub mod text;
pub mod timeline;
pub mod vectors;

use super::total::Total;
use crate::terminal::grouped;
use crate::unit::UnitFunction;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::{Ring, Streams};
use cotree_profile::method::trace::thread::Thread;

/// The traces of one unit, read once.
pub struct Traced<'a> {
    /// The program.
    pub binary: &'a BinaryFile,
    /// The tables of the unit.
    pub tables: &'a UnitTables<'a>,
    /// The bytes.
    pub streams: &'a Streams,
    /// The threads that are shown.
    pub threads: Vec<Thread<'a>>,
}

impl<'a> Traced<'a> {
    /// Reads the streams of one thread, or of all.
    #[must_use]
    pub fn new(tables: &'a UnitTables<'a>, streams: &'a Streams, thread: Option<u64>) -> Self {
        let wanted = streams.iter().filter(|stream| thread.is_none_or(|number| number == stream.number));
        let threads = wanted.map(|stream| Thread::new(tables, streams, stream)).collect();
        Self { binary: tables.binary(), tables, streams, threads }
    }

    /// Reads the streams of one thread, or of all, as far as that takes to show the last blocks of each. Where all of a
    /// trace is kept it can be read from its beginning only; a ring can be read from many points.
    #[must_use]
    pub fn tail(tables: &'a UnitTables<'a>, streams: &'a Streams, thread: Option<u64>, blocks: u64) -> Self {
        if !streams.ring().exists {
            return Self::new(tables, streams, thread);
        }
        let wanted = streams.iter().filter(|stream| thread.is_none_or(|number| number == stream.number));
        let threads = wanted.map(|stream| Thread::tail(tables, streams, stream, blocks)).collect();
        Self { binary: tables.binary(), tables, streams, threads }
    }

    /// What the ring has lost, as a sentence.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        let Ring { overwritten, streams_gone, .. } = self.streams.ring();
        let gone = match streams_gone {
            0 => String::new(),
            1 => "; nothing is left of 1 thread or signal handler that was over".to_owned(),
            gone => format!("; nothing is left of {} threads and signal handlers that were over", grouped(gone.into())),
        };
        overwritten.then(|| format!("only the newest part of the trace was kept{gone}"))
    }
}

/// How many functions are traced.
pub(super) fn total<'a>(functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    ("traced functions", functions.count() as u128, String::new())
}
