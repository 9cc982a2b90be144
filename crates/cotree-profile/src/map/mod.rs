//! The content of a binary's section `.cotree.map`: [`BinaryMap`] made small.
//!
//! The section must cost little beside the code that it describes, so what stands in it is not the in-memory form. Each
//! kind of number has a stream of its own (`streams.rs`), values are written as steps from what usually precedes them,
//! what can be inferred is left out, and every stream is compressed by itself. The exact layout is in `docs/formats.md`.
//!
//! Each part is written and read in one file, writer beside reader: `text.rs`, `functions.rs`,
//! `lines.rs`, `calls.rs`, `plans.rs`, `paths.rs`, `entries.rs`, `code.rs`.
//!
//! A section comes from a file, so nothing in it is believed: no count is trusted further than the bytes that are there
//! to back it, the size of what is unpacked is bounded by what was packed, and [`validate`] checks every index before
//! anything else looks at the map.

mod calls;
mod code;
mod entries;
mod fixed;
mod functions;
mod lines;
mod paths;
mod plans;
mod streams;
mod text;
mod validate;

use crate::binary::{BinaryMap, UnitId};
use cotree_core::method::MethodPlan;
use cotree_core::probe::{PlacedProbe, Probe};
use cotree_rt::layout::Checksum;
use std::io::Read;
use streams::{
    NAMES, Reader, STREAMS, STREAMS_1, STREAMS_2, STREAMS_3, STREAMS_4, STREAMS_5, STREAMS_6, STREAMS_8, Stream, Writer,
};

pub use validate::validate;

/// First bytes of the section.
pub const MAGIC: [u8; 8] = *b"COTREEMP";
/// Version of the section's layout: maps that list all calls. One that lists call sites only has the oldest version that can say
/// what is in it: with [`Probe::CloseIf`] that is 8, else the last one in which the streams that it makes no use of were not
/// there.
pub const VERSION: u32 = 9;
/// The oldest version that is still read: without path plans.
pub const OLDEST_VERSION: u32 = 1;

/// Bytes before the packed streams: magic, version, zero, unit id, unpacked length, packed length, checksum.
const HEADER: usize = 56;
/// What a section may unpack to: so many bytes per packed byte, and a basis. The writer pads where that is not enough.
const MAX_RATIO: u64 = 64;
const BASIS: u64 = 1 << 20;

/// Why a map section cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// No magic.
    #[error("it does not begin with a map")]
    NoMagic,
    /// Shorter than it says.
    #[error("it is cut off: {have} of {need} bytes are there")]
    Truncated {
        /// Bytes present.
        have: u64,
        /// Bytes announced.
        need: u64,
    },
    /// From another version of cotree.
    #[error("its format has version {0}, this cotree reads versions {OLDEST_VERSION} to {VERSION}")]
    Version(u32),
    /// Damaged.
    #[error("its checksum is wrong")]
    Checksum,
    /// Two maps in one section.
    #[error("it holds more than one map: objects of two link units were linked together")]
    SeveralMaps,
    /// It claims to unpack to more than it may.
    #[error("it claims to unpack to {0} bytes")]
    TooLarge(u64),
    /// A stream does not unpack.
    #[error("stream {0} does not unpack")]
    Unpack(usize),
    /// A stream ends too early.
    #[error("stream {0} ends too early")]
    Ends(usize),
    /// Some value makes no sense.
    #[error("{0}")]
    Invalid(&'static str),
    /// Some value of a function makes no sense.
    #[error("function {function}: {what}")]
    InvalidFunction {
        /// Its index.
        function: usize,
        /// What is wrong.
        what: &'static str,
    },
}

/// Encodes the content of the map section.
#[must_use]
pub fn encode(map: &BinaryMap, unit: UnitId) -> Vec<u8> {
    encode_as(map, |_| unit)
}

/// Encodes the content of the map section under an id that is made from it.
#[must_use]
pub fn encode_as(map: &BinaryMap, id: impl FnOnce(&[Vec<u8>]) -> UnitId) -> Vec<u8> {
    let mut writer = Writer::new();
    let mut text = text::TextWriter::default();
    writer.put(Stream::Unit, u64::from(map.threaded) | u64::from(map.program.all_calls) << 1);
    functions::write(&map.program, &mut writer, &mut text);
    plans::write(&map.plan, &map.program, &mut writer);
    code::write(&map.code, &paths::Registers::new(&map.plan, &map.program), &mut writer);
    if let MethodPlan::Counters(unit) = &map.plan.method {
        entries::write(&unit.entries, &map.program, &mut writer);
        fixed::write(&unit.functions, &mut writer);
    }
    text.finish(&mut writer);
    let streams = writer.finish();
    let unit = id(&streams);
    pack_as(&streams, unit, latest(map))
}

/// The version that says all that a map of all streams says.
fn latest(map: &BinaryMap) -> u32 {
    if map.program.all_calls {
        return VERSION;
    }
    let conditional = |placed: &PlacedProbe| matches!(placed.probe, Probe::CloseIf(..));
    let is_new = map.plan.method.functions().flat_map(|plan| plan.probes).any(conditional);
    if is_new { 8 } else { 7 }
}

/// Decodes what [`encode`] wrote; bytes after it must be zeros (section padding).
///
/// # Errors
/// See [`MapError`].
pub fn decode(bytes: &[u8]) -> Result<(BinaryMap, UnitId), MapError> {
    let (streams, unit) = unpack(bytes)?;
    let mut reader = Reader::new(&streams);
    let text = text::TextReader::read(&mut reader)?;
    let flags = reader.get(Stream::Unit)?;
    if flags > 0b11 {
        return Err(MapError::Invalid("no such flag"));
    }
    let (threaded, all_calls) = (flags & 1 != 0, flags & 2 != 0);
    let mut text = text.start();
    let program = functions::read(&mut reader, &mut text, all_calls)?;
    let mut plan = plans::read(&mut reader, &program)?;
    let code = code::read(&mut reader, &paths::Registers::new(&plan, &program))?;
    if let MethodPlan::Counters(unit) = &mut plan.method {
        unit.entries = entries::read(&mut reader, &program)?;
        fixed::read(&mut reader, &mut unit.functions)?;
    }
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
    header(bytes).map(|h| h.unit)
}

/// What each stream takes, unpacked and packed, by name: for work on the format.
///
/// # Errors
/// See [`MapError`].
pub fn sizes(bytes: &[u8]) -> Result<Vec<(&'static str, usize, usize)>, MapError> {
    let (streams, unit) = unpack(bytes)?;
    let alone = |index: usize| {
        let mut one = vec![Vec::new(); STREAMS];
        one[index].clone_from(&streams[index]);
        pack(&one, unit).len() - pack(&vec![Vec::new(); STREAMS], unit).len()
    };
    Ok(streams.iter().enumerate().map(|(i, s)| (NAMES[i], s.len(), alone(i))).collect())
}

/// Compresses every stream by itself and puts the header before them.
fn pack(streams: &[Vec<u8>], unit: UnitId) -> Vec<u8> {
    pack_as(streams, unit, VERSION)
}

/// The same, with this version or one that is known from what is not there.
fn pack_as(streams: &[Vec<u8>], unit: UnitId, latest: u32) -> Vec<u8> {
    let without = |count| streams.split_at_checked(count).filter(|(_, new)| new.iter().all(Vec::is_empty));
    let older = [(2, STREAMS_2), (3, STREAMS_3), (4, STREAMS_4), (5, STREAMS_5), (6, STREAMS_6)];
    let old = older.iter().find_map(|&(version, count)| Some((version, without(count)?.0)));
    let (version, streams) = match latest {
        VERSION => (VERSION, streams),
        8 => (8, &streams[..STREAMS_8]),
        _ => old.unwrap_or((latest, &streams[..STREAMS_8])),
    };
    let unpacked: usize = streams.iter().map(Vec::len).sum();
    // The best levels are slow, and large maps gain little from them.
    let level = match unpacked {
        0..0x80_0000 => 19,
        0x80_0000..0x400_0000 => 12,
        _ => 6,
    };
    let mut payload = Vec::new();
    for stream in streams {
        let packed = zstd::bulk::compress(stream, level).ok().filter(|p| p.len() < stream.len());
        put_varint(&mut payload, stream.len() as u64);
        put_varint(&mut payload, packed.as_ref().map_or(0, |p| p.len() as u64));
        payload.extend_from_slice(packed.as_deref().unwrap_or(stream));
    }
    let needed = (unpacked as u64).saturating_sub(BASIS).div_ceil(MAX_RATIO);
    if (payload.len() as u64) < needed {
        payload.resize(usize::try_from(needed).expect("less than what is in memory"), 0);
    }
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&version.to_le_bytes());
    bytes.extend_from_slice(&0u32.to_le_bytes());
    bytes.extend_from_slice(&unit.0);
    bytes.extend_from_slice(&(unpacked as u64).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let sum = checksum(&bytes, &payload);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

struct Header {
    /// How many streams are there; the others are empty.
    streams: usize,
    unit: UnitId,
    unpacked: u64,
    packed: usize,
    checksum: u64,
}

fn header(bytes: &[u8]) -> Result<Header, MapError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(MapError::NoMagic);
    }
    if bytes.len() < HEADER {
        return Err(MapError::Truncated { have: bytes.len() as u64, need: HEADER as u64 });
    }
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(MapError::Version(version));
    }
    let have = (bytes.len() - HEADER) as u64;
    let packed = word(40);
    if packed > have {
        return Err(MapError::Truncated { have: bytes.len() as u64, need: packed.saturating_add(HEADER as u64) });
    }
    Ok(Header {
        streams: match version {
            1 => STREAMS_1,
            2 => STREAMS_2,
            3 => STREAMS_3,
            4 => STREAMS_4,
            5 => STREAMS_5,
            6 => STREAMS_6,
            7 | 8 => STREAMS_8,
            _ => STREAMS,
        },
        unit: UnitId(bytes[16..32].try_into().expect("sixteen bytes")),
        unpacked: word(32),
        packed: usize::try_from(packed).map_err(|_| MapError::TooLarge(packed))?,
        checksum: word(48),
    })
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut sum = Checksum::new((head.len() + payload.len()) as u64);
    sum.add(head);
    sum.add(payload);
    sum.finish()
}

fn unpack(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, UnitId), MapError> {
    let header = header(bytes)?;
    let (payload, after) = bytes[HEADER..].split_at(header.packed);
    if checksum(&bytes[..HEADER - 8], payload) != header.checksum {
        return Err(MapError::Checksum);
    }
    if after.iter().any(|&b| b != 0) {
        return Err(MapError::SeveralMaps);
    }
    if header.unpacked > BASIS.saturating_add((header.packed as u64).saturating_mul(MAX_RATIO)) {
        return Err(MapError::TooLarge(header.unpacked));
    }
    let mut rest = payload;
    let mut left = header.unpacked;
    let mut streams = Vec::with_capacity(STREAMS);
    for index in 0..header.streams {
        let length = get_varint(&mut rest, index)?;
        left = left.checked_sub(length).ok_or(MapError::TooLarge(length))?;
        let packed = usize::try_from(get_varint(&mut rest, index)?).map_err(|_| MapError::Ends(index))?;
        // Both are bounded now: `length` by what the header may claim, the packed bytes by what is there.
        let size = usize::try_from(length).map_err(|_| MapError::TooLarge(length))?;
        let (taken, tail) =
            rest.split_at_checked(if packed == 0 { size } else { packed }).ok_or(MapError::Ends(index))?;
        rest = tail;
        streams.push(if packed == 0 {
            taken.to_vec()
        } else {
            decompress(taken, size).ok_or(MapError::Unpack(index))?
        });
    }
    streams.resize(STREAMS, Vec::new());
    if left != 0 || rest.iter().any(|&b| b != 0) {
        return Err(MapError::Invalid("the lengths of the streams do not add up"));
    }
    Ok((streams, header.unit))
}

/// Unpacks exactly `size` bytes; memory grows with what really comes out.
fn decompress(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let decoder = zstd::stream::read::Decoder::with_buffer(packed).ok()?;
    let mut bytes = Vec::new();
    decoder.take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size).then_some(bytes)
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn get_varint(bytes: &mut &[u8], stream: usize) -> Result<u64, MapError> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (&byte, tail) = bytes.split_first().ok_or(MapError::Ends(stream))?;
        *bytes = tail;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(MapError::Invalid("a length has more than 63 bits"))
}

#[cfg(test)]
mod tests;
