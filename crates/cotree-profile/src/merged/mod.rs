//! Merged profiles: the sums of many runs, of one link unit or of several.
//!
//! A merged profile is a packed file ([`crate::wire`]). Each link unit is a sequence of sections that begins with that
//! of [`unit`]; units come by rising id. Each kind of counts has a section that one file writes and reads:
//! [`counters`], [`early`], and for the counts of one method a file below `method/`. The exact layout is in
//! `docs/formats.md`. The same inputs in any order give the same sums.

mod counters;
mod early;
mod merge;
mod unit;

use crate::atomic::{self, WriteError};
use crate::counts::UnitCounts;
use crate::error::ProfileError;
use crate::method;
use crate::wire::WireError;
use crate::wire::container::{Header, Kind};
use crate::wire::sections::{self, sections};
use crate::wire::streams::{Reader, Writer};
use std::io::{self, Read};
use std::path::Path;

pub use merge::Merge;

/// First bytes of a merged profile.
pub const MAGIC: [u8; 8] = *b"COTREEMG";
/// Version of the format. New sections extend it without a new version.
pub const VERSION: u32 = 1;

const KIND: Kind = Kind { magic: MAGIC, id: 0, version: VERSION, basis: 1 << 24, ratio: 1 << 10 };
const LEVEL: i32 = 9;

sections! {
    /// The sections of one link unit, in file order.
    SECTIONS;
    b"unit" {
        /// The unit's id, sixteen bytes.
        Id,
        /// Lengths of the path of the binary and of each argument, and between them how many arguments there are.
        TextLength,
        /// The path and the arguments.
        Text,
        /// How the runs ended, weight, flags, times.
        Run,
    }
    b"cntr" {
        /// How many counters, and each.
        Counter,
    }
    b"earl" {
        /// How many addresses, and each.
        EarlyAddress,
        /// Activations abandoned at each.
        EarlyCount,
    }
    b"path" {
        /// How many paths, and the function of each.
        PathFunction,
        /// Their numbers.
        Path,
        /// How often each was taken.
        PathCount,
    }
    b"regs" {
        /// How many path registers, and the return address of each.
        RegisterAddress,
        /// Which of the values at that address it is.
        RegisterValue,
        /// What was in it.
        Register,
        /// Activations abandoned with it.
        RegisterCount,
    }
    b"sums" {
        /// What is added up along paths.
        Metric,
        /// How many paths have sums, and the function of each.
        SumFunction,
        /// Their numbers.
        SumPath,
        /// The sums.
        Sum,
    }
    b"trac" {
        /// How many functions have counts of traces, and which.
        TraceFunction,
        /// How many blocks, edges and call sites each has, and its flaws.
        TraceShape,
        /// How often each was entered, and each of its blocks ran.
        TraceBlock,
        /// How often each edge was taken.
        TraceEdge,
        /// Activations abandoned at each call site.
        TraceEarly,
        /// How many runs have a ring that kept the newest part only, and of how many streams nothing.
        TraceRing,
    }
}

/// Writes a merged profile, atomically.
///
/// # Errors
/// Errors of the file system; the file is then as it was.
pub fn write(path: &Path, units: &[UnitCounts]) -> Result<(), WriteError> {
    atomic::write(path, |out| out.write_all(&encode(units)))
}

fn encode(units: &[UnitCounts]) -> Vec<u8> {
    let mut units: Vec<&UnitCounts> = units.iter().collect();
    units.sort_by_key(|u| u.unit);
    let (mut payload, mut unpacked) = (Vec::new(), 0);
    for counts in units {
        let mut w = Writer::new(&SECTIONS);
        unit::write(counts, &mut w);
        counters::write(counts, &mut w);
        early::write(counts, &mut w);
        method::write_counts(&counts.method, &mut w);
        unpacked += SECTIONS.pack(&w.finish(), LEVEL, &mut payload);
    }
    KIND.seal(&[], unpacked, &payload)
}

/// Reads a merged profile whose first bytes are [`MAGIC`].
///
/// # Errors
/// See [`ProfileError`].
pub fn read(file: impl Read, length: u64, path: &Path) -> Result<Vec<UnitCounts>, ProfileError> {
    let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
    let refused = |reason: WireError| ProfileError::of_wire(path, reason);
    let (mut file, mut bytes) = (file, Vec::new());
    let size = KIND.header();
    file.by_ref().take(size as u64).read_to_end(&mut bytes).map_err(io)?;
    let header = KIND.read(&bytes, length).map_err(refused)?;
    file.take(header.packed as u64).read_to_end(&mut bytes).map_err(io)?;
    let (head, payload) = bytes.split_at(size);
    KIND.check(head, &header, payload).map_err(refused)?;
    decode(&header, payload).map_err(refused)
}

fn decode(header: &Header, payload: &[u8]) -> Result<Vec<UnitCounts>, WireError> {
    let sections = sections::split(payload, header.unpacked)?;
    let mut units = Units::default();
    for own in sections.chunk_by(|_, next| next.tag != SECTIONS.0[0].tag) {
        let streams = SECTIONS.unpack(own)?;
        let mut r = Reader::new(&SECTIONS, &streams);
        units.read(&mut r)?;
        r.finish()?;
    }
    Ok(units.0)
}

/// The units of a file that is being read.
#[derive(Default)]
struct Units(Vec<UnitCounts>);

impl Units {
    fn read(&mut self, r: &mut Reader<'_>) -> Result<(), WireError> {
        let mut counts = unit::read(r)?;
        counters::read(&mut counts, r)?;
        early::read(&mut counts, r)?;
        counts.method = method::read_counts(r)?;
        if self.0.last().is_some_and(|last| last.unit >= counts.unit) {
            return Err(WireError::Invalid("its units are not in order"));
        }
        self.0.push(counts);
        Ok(())
    }
}
