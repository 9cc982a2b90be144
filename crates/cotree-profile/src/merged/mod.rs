//! Merged profiles: the sums of many runs, of one link unit or of several.
//!
//! A merged profile is a packed file ([`crate::wire`]). Each link unit is a sequence of sections that begins with that
//! of [`mod@unit`]; units come by rising id. Each kind of counts has a section that one file writes and reads:
//! [`counters`], [`early`], and for the counts of one method a file below `method/`. The exact layout is in
//! `docs/formats.md`. The same inputs in any order give the same sums.

mod counters;
mod early;
mod merge;
mod sections;
mod unit;

use crate::atomic::{self, Over, WriteError};
use crate::counts::UnitCounts;
use crate::error::ProfileError;
use crate::method;
use crate::wire::WireError;
use crate::wire::container::{ContainerFormat, Header};
use crate::wire::sections::split;
use crate::wire::streams::{Reader, Writer};
use sections::SECTIONS;
use std::io::{self, Read};
use std::path::Path;

pub use merge::Merge;
pub(crate) use sections::Stream;

/// First bytes of a merged profile.
pub const MAGIC: [u8; 8] = *b"COTREEMG";
/// Version of the format. New sections extend it without a new version.
pub const VERSION: u32 = 1;

const KIND: ContainerFormat = ContainerFormat { magic: MAGIC, id: 0, version: VERSION, basis: 1 << 24, ratio: 1 << 10 };
const LEVEL: i32 = 9;

/// Writes a merged profile, atomically.
///
/// # Errors
/// Errors of the file system; the file is then as it was.
pub fn write(path: &Path, units: &[UnitCounts]) -> Result<(), WriteError> {
    write_over(path, Over::Anything, units)
}

/// Writes a merged profile as [`write()`] does, if there is nothing in its place that must not be replaced.
///
/// # Errors
/// As [`write()`], and of kind `AlreadyExists` for what must not be replaced.
pub fn write_over(path: &Path, over: Over, units: &[UnitCounts]) -> Result<(), WriteError> {
    atomic::write_over(path, over, |out| out.write_all(&encode(units)))
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
    let sections = split(payload, header.unpacked)?;
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
