//! The content of a binary's section `.cotree.map`: [`BinaryMap`] made small.
//!
//! The section must be small beside the code that it describes, so it does not hold the in-memory form. Each
//! kind of number has a stream of its own, values are written as steps from likely predecessors, what can be inferred
//! is left out, and every stream is compressed separately ([`crate::wire`]). The exact layout is in `docs/formats.md`.
//!
//! The streams form [`sections`]. One file writes and reads each section: `text.rs`, `functions.rs`, `edges.rs`,
//! `lines.rs`, `calls.rs`, `runs.rs`, `code.rs`, and the files of `plan/` for methods.
//!
//! A section comes from a file, so nothing in it is trusted. No count is believed beyond the bytes that back it, the
//! packed size bounds the unpacked one, and [`validate()`] checks every index before anything else uses the map.

mod accesses;
mod build;
mod calls;
mod checksums;
mod code;
mod covered;
mod edges;
mod error;
mod functions;
mod lines;
mod plan;
mod runs;
mod sections;
mod text;
mod validate;

use crate::binary::{BinaryMap, UnitId};
use crate::wire::container::ContainerFormat;
use crate::wire::sections::{Slot, split};
use crate::wire::streams::{Reader, Writer};
use sections::{SECTIONS, Stream};

pub use error::MapError;
pub use validate::validate;

/// First bytes of the section.
pub const MAGIC: [u8; 8] = *b"COTREEMP";
/// Version of the layout. New sections extend it without a new version.
pub const VERSION: u32 = 1;

const KIND: ContainerFormat = ContainerFormat { magic: MAGIC, id: 16, version: VERSION, basis: 1 << 20, ratio: 64 };

/// Encodes the content of the map section.
#[must_use]
pub fn encode(map: &BinaryMap, unit: UnitId) -> Vec<u8> {
    encode_as(map, |_| unit)
}

/// Encodes the content of the map section under an id that is made from it.
#[must_use]
pub fn encode_as(map: &BinaryMap, id: impl FnOnce(&[Vec<u8>]) -> UnitId) -> Vec<u8> {
    let mut writer = Writer::new(&SECTIONS);
    let mut text = text::TextWriter::default();
    writer.put(Stream::Unit, u64::from(map.threaded));
    functions::write(&map.program, &mut writer, &mut text);
    covered::write(&map.program, &mut writer, &mut text);
    runs::write(&map.program, &mut writer);
    checksums::write(&map.program, &mut writer);
    build::write(&map.program, &mut writer);
    accesses::write(&map.program, &mut writer);
    accesses::write_left_out(&map.program, &mut writer);
    plan::write(&map.plan, &map.program, &mut writer);
    code::write(&map.code, &plan::RegisterPrediction::new(&map.plan, &map.program), &mut writer);
    text.finish(&mut writer);
    let streams = writer.finish();
    let unit = id(&streams);
    pack(&streams, unit)
}

/// Decodes what [`encode`] wrote; bytes after it must be zeros (section padding).
///
/// # Errors
/// See [`MapError`].
pub fn decode(bytes: &[u8]) -> Result<(BinaryMap, UnitId), MapError> {
    let Unpacked { streams, unit } = unpack(bytes)?;
    let mut reader = Reader::new(&SECTIONS, &streams);
    let text = text::TextReader::read(&mut reader)?;
    let threaded = match reader.get(Stream::Unit)? {
        0 => false,
        1 => true,
        _ => return Err(MapError::Invalid("no such flag")),
    };
    let mut text = text.start();
    let mut program = functions::read(&mut reader, &mut text)?;
    covered::read(&mut program, &mut reader, &mut text)?;
    runs::read(&mut program, &mut reader)?;
    checksums::read(&mut program, &mut reader)?;
    build::read(&mut program, &mut reader)?;
    accesses::read(&mut program, &mut reader)?;
    accesses::read_left_out(&mut program, &mut reader)?;
    let plan = plan::read(&mut reader, &program)?;
    let code = code::read(&mut reader, &plan::RegisterPrediction::new(&plan, &program))?;
    text.finish()?;
    reader.finish()?;
    let map = BinaryMap { program, plan, code, threaded };
    validate(&map)?;
    Ok((map, unit))
}

/// Reads only the unit id.
///
/// # Errors
/// See [`MapError`].
pub fn decode_unit(bytes: &[u8]) -> Result<UnitId, MapError> {
    KIND.read(bytes, bytes.len() as u64)?;
    Ok(unit_of(bytes))
}

/// The sizes of each stream, unpacked and packed, by name: for work on the format.
///
/// # Errors
/// See [`MapError`].
pub fn sizes(bytes: &[u8]) -> Result<Vec<(&'static str, usize, usize)>, MapError> {
    let Unpacked { streams, unit } = unpack(bytes)?;
    let nothing = vec![Vec::new(); SECTIONS.slots()];
    let alone = |index: usize| {
        let mut one = nothing.clone();
        one[index].clone_from(&streams[index]);
        pack(&one, unit).len() - pack(&nothing, unit).len()
    };
    let size = |slot: usize| (SECTIONS.stream_name(Slot(slot)), streams[slot].len(), alone(slot));
    Ok((0..SECTIONS.slots()).map(size).collect())
}

/// Packs streams, one per slot.
fn pack(streams: &[Vec<u8>], unit: UnitId) -> Vec<u8> {
    // The best levels are slow, and large maps gain little from them.
    let level = match streams.iter().map(Vec::len).sum() {
        0..0x80_0000 => 19,
        0x80_0000..0x400_0000 => 12,
        _ => 6,
    };
    let mut payload = Vec::new();
    let unpacked = SECTIONS.pack(streams, level, &mut payload);
    KIND.seal(&unit.0, unpacked, &payload)
}

/// The streams of a map, by slot, and its unit.
struct Unpacked {
    streams: Vec<Vec<u8>>,
    unit: UnitId,
}

fn unpack(bytes: &[u8]) -> Result<Unpacked, MapError> {
    let header = KIND.read(bytes, bytes.len() as u64)?;
    let (head, rest) = bytes.split_at(KIND.header());
    let (payload, after) = rest.split_at(header.packed);
    KIND.check(head, &header, payload)?;
    if after.iter().any(|&b| b != 0) {
        return Err(MapError::SeveralMaps);
    }
    let streams = SECTIONS.unpack(&split(payload, header.unpacked)?)?;
    Ok(Unpacked { streams, unit: unit_of(bytes) })
}

/// The id in a header that is known to be whole.
fn unit_of(bytes: &[u8]) -> UnitId {
    UnitId(bytes[16..32].try_into().expect("sixteen bytes"))
}

#[cfg(test)]
mod tests;
