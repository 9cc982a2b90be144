//! Reads merged profiles of versions 1 to 3, which have no sections.
//!
//! All numbers are in one stream, one zstd frame, in the order in which they are still read: first the number of units,
//! then the content of each section. Version 2 added paths and registers, version 3 sums along paths.

use super::{SECTIONS, Stream, Units};
use crate::counts::UnitCounts;
use crate::wire::WireError;
use crate::wire::container::Header;
use crate::wire::streams::{Reader, Slot};
use std::io::Read;

pub(super) fn decode(header: &Header, payload: &[u8]) -> Result<Vec<UnitCounts>, WireError> {
    let streams = [unpack(payload, header.unpacked)?, Vec::new()];
    // What the version does not have is read from the empty stream.
    let known = match header.version {
        1 => Slot::from(Stream::PathFunction).0,
        2 => Slot::from(Stream::Metric).0,
        _ => Slot::from(Stream::TraceFunction).0,
    };
    let sources = (0..SECTIONS.slots()).map(|slot| usize::from(slot >= known)).collect();
    let mut r = Reader::with_sources(&SECTIONS, &streams, sources);
    let mut units = Units::default();
    for _ in 0..r.get_count(Stream::Id, Stream::Id)? {
        units.read(&mut r)?;
    }
    r.finish()?;
    Ok(units.0)
}

/// Unpacks one frame; what follows it is padding. Memory grows only with the bytes that come out.
fn unpack(payload: &[u8], unpacked: u64) -> Result<Vec<u8>, WireError> {
    let failed = WireError::Unpack("Body");
    let decoder = zstd::stream::read::Decoder::with_buffer(payload).map_err(|_| failed.clone())?;
    let mut bytes = Vec::new();
    let result = decoder.single_frame().take(unpacked.saturating_add(1)).read_to_end(&mut bytes);
    if result.is_err() || bytes.len() as u64 != unpacked {
        return Err(failed);
    }
    Ok(bytes)
}
