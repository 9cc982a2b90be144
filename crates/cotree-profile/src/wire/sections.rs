//! Sections: the streams of one part of a file, under a tag.
//!
//! ```text
//! tag 4 · flags · length · (unpacked length · packed length · bytes)…
//! ```
//!
//! Numbers are LEB128. The length is that of all streams of the section as they stand in the file. A packed length of 0
//! means that the bytes are the stream itself, else they are one zstd frame. Empty streams at the end of a section are
//! left out, and so are sections without a byte in them.
//!
//! The meaning of a section never changes. New content goes into a further stream at its end, or into a new section. So
//! a reader that finds more streams or another tag than it knows is too old, and says so. A section with the flag for
//! skipping is skipped instead: everything else can be read and used without it.

use super::varint::{self, NumberError};
use super::{Tag, WireError};
use std::io::Read;

/// A stream, by its place among all streams of a kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) usize);

/// A section of a kind of file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// The name of the section in the file.
    pub(crate) tag: Tag,
    /// Readers that do not know it may skip it.
    pub(crate) skippable: bool,
    /// The names of its streams, in file order.
    pub(crate) streams: &'static [&'static str],
}

/// The sections of a kind of file, in file order. The slots of their streams are numbered through.
#[derive(Debug)]
pub(crate) struct Table(pub(crate) &'static [Section]);

impl Table {
    /// How many streams there are.
    pub(crate) const fn slots(&self) -> usize {
        self.first_slot(self.0.len())
    }

    /// The slot of the first stream of a section.
    pub(crate) const fn first_slot(&self, section: usize) -> usize {
        let (mut at, mut slots) = (0, 0);
        while at < section {
            slots += self.0[at].streams.len();
            at += 1;
        }
        slots
    }

    /// The name of a stream.
    pub(crate) fn stream_name(&self, slot: Slot) -> &'static str {
        self.0.iter().flat_map(|section| section.streams).nth(slot.0).expect("a slot of the table")
    }

    /// Appends the sections of one part of the file to a payload. Returns their unpacked length.
    pub(crate) fn pack(&self, streams: &[Vec<u8>], level: i32, payload: &mut Vec<u8>) -> u64 {
        let mut rest = streams;
        for section in self.0 {
            let (own, others) = rest.split_at(section.streams.len());
            rest = others;
            let used = own.iter().rposition(|stream| !stream.is_empty()).map_or(0, |last| last + 1);
            if used > 0 {
                pack_section(section, &own[..used], level, payload);
            }
        }
        streams.iter().map(|stream| stream.len() as u64).sum()
    }

    /// Unpacks sections, none of them twice, into one stream per slot.
    pub(crate) fn unpack(&self, sections: &[Packed<'_>]) -> Result<Vec<Vec<u8>>, WireError> {
        let mut streams = vec![Vec::new(); self.slots()];
        let mut seen = vec![false; self.0.len()];
        for section in sections {
            let Some(index) = self.0.iter().position(|known| known.tag == section.tag) else {
                if section.skippable {
                    continue;
                }
                return Err(WireError::NewerSection(section.tag));
            };
            let known = &self.0[index];
            if std::mem::replace(&mut seen[index], true) {
                return Err(WireError::RepeatedSection(section.tag));
            }
            if section.streams.len() > known.streams.len() {
                return Err(WireError::NewerSection(section.tag));
            }
            let first = self.first_slot(index);
            for ((stream, packed), name) in streams[first..].iter_mut().zip(&section.streams).zip(known.streams) {
                *stream = packed.unpack().ok_or(WireError::Unpack(name))?;
            }
        }
        Ok(streams)
    }
}

/// The flag of a section that readers may skip. Other bits are zero.
const SKIPPABLE: u64 = 1;

fn pack_section(section: &Section, streams: &[Vec<u8>], level: i32, payload: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    streams.iter().for_each(|stream| pack_stream(stream, level, &mut bytes));
    payload.extend_from_slice(&section.tag.0);
    varint::put(payload, if section.skippable { SKIPPABLE } else { 0 });
    varint::put(payload, bytes.len() as u64);
    payload.append(&mut bytes);
}

/// Appends a stream: its lengths, and a zstd frame or, where that is no shorter, the bytes themselves.
pub(crate) fn pack_stream(stream: &[u8], level: i32, payload: &mut Vec<u8>) {
    let packed = zstd::bulk::compress(stream, level).ok().filter(|packed| packed.len() < stream.len());
    varint::put(payload, stream.len() as u64);
    varint::put(payload, packed.as_ref().map_or(0, |packed| packed.len() as u64));
    payload.extend_from_slice(packed.as_deref().unwrap_or(stream));
}

/// A section as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct Packed<'a> {
    pub(crate) tag: Tag,
    skippable: bool,
    streams: Vec<PackedStream<'a>>,
}

/// A stream as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedStream<'a> {
    /// What it unpacks to.
    size: usize,
    is_packed: bool,
    bytes: &'a [u8],
}

impl PackedStream<'_> {
    /// The stream, if it unpacks to exactly its stated length. Memory grows only with the bytes that come out.
    pub(crate) fn unpack(&self) -> Option<Vec<u8>> {
        if !self.is_packed {
            return Some(self.bytes.to_vec());
        }
        let decoder = zstd::stream::read::Decoder::with_buffer(self.bytes).ok()?;
        let mut bytes = Vec::new();
        decoder.take(self.size as u64 + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() == self.size).then_some(bytes)
    }
}

/// Takes a stream off the front of a payload; `left` is what may still be unpacked.
pub(crate) fn split_stream<'a>(payload: &mut &'a [u8], left: &mut u64) -> Result<PackedStream<'a>, WireError> {
    let (length, packed) = (number(payload)?, number(payload)?);
    *left = left.checked_sub(length).ok_or(WireError::TooLarge(length))?;
    let is_packed = packed != 0;
    let taken = usize::try_from(if is_packed { packed } else { length }).ok();
    let (bytes, rest) = taken.and_then(|taken| payload.split_at_checked(taken)).ok_or(ENDS)?;
    *payload = rest;
    let size = usize::try_from(length).map_err(|_| WireError::TooLarge(length))?;
    Ok(PackedStream { size, is_packed, bytes })
}

/// The sections of a payload that claims to unpack to so many bytes. Nothing is unpacked yet.
pub(crate) fn split(payload: &[u8], unpacked: u64) -> Result<Vec<Packed<'_>>, WireError> {
    let (mut rest, mut left) = (payload, unpacked);
    let mut sections = Vec::new();
    // No tag begins with a zero: the rest is padding.
    while rest.first().is_some_and(|&first| first != 0) {
        let (&tag, tail) = rest.split_first_chunk().ok_or(ENDS)?;
        rest = tail;
        let (tag, flags) = (Tag(tag), number(&mut rest)?);
        if flags > SKIPPABLE {
            return Err(WireError::NewerSection(tag));
        }
        let length = usize::try_from(number(&mut rest)?).ok();
        let (mut own, tail) = length.and_then(|length| rest.split_at_checked(length)).ok_or(ENDS)?;
        rest = tail;
        let mut streams = Vec::new();
        while !own.is_empty() {
            streams.push(split_stream(&mut own, &mut left)?);
        }
        sections.push(Packed { tag, skippable: flags & SKIPPABLE != 0, streams });
    }
    if left != 0 || rest.iter().any(|&byte| byte != 0) {
        return Err(WireError::Invalid("the lengths of its streams do not add up"));
    }
    Ok(sections)
}

const ENDS: WireError = WireError::Invalid("its payload ends too early");

fn number(payload: &mut &[u8]) -> Result<u64, WireError> {
    varint::take(payload).map_err(|error| match error {
        NumberError::Ends => ENDS,
        NumberError::TooLong => WireError::Invalid("a length has more than 64 bits"),
    })
}

/// Declares the sections of a kind of file and an enum of their streams, whose order is that of the slots. A section is
/// `b"tag" { streams }`, or `b"tag" skippable { streams }`.
macro_rules! sections {
    (@ skippable) => { true };
    (@) => { false };
    ($(#[$table_doc:meta])* $table:ident; $($tag:literal $($skippable:ident)? { $($(#[$doc:meta])* $name:ident,)* })*) => {
        $(#[$table_doc])*
        pub(super) static $table: $crate::wire::sections::Table = $crate::wire::sections::Table(&[$(
            $crate::wire::sections::Section {
                tag: $crate::wire::Tag(*$tag),
                skippable: $crate::wire::sections::sections!(@ $($skippable)?),
                streams: &[$(stringify!($name),)*],
            },
        )*]);

        /// The streams, section by section.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Stream { $($($(#[$doc])* $name,)*)* }

        impl From<Stream> for $crate::wire::sections::Slot {
            fn from(stream: Stream) -> Self {
                Self(stream as usize)
            }
        }
    };
}
pub(crate) use sections;

#[cfg(test)]
mod tests {
    use super::*;

    static OLD: Table = Table(&[Section { tag: Tag(*b"own "), skippable: false, streams: &["A", "B"] }]);
    static WITH_REQUIRED: Table = Table(&[OLD.0[0], extra(false)]);
    static WITH_SKIPPABLE: Table = Table(&[extra(true), OLD.0[0]]);
    static WITH_STREAM: Table = Table(&[Section { tag: Tag(*b"own "), skippable: false, streams: &["A", "B", "C"] }]);

    const fn extra(skippable: bool) -> Section {
        Section { tag: Tag(*b"more"), skippable, streams: &["M"] }
    }

    fn packed(table: &Table, streams: &[&[u8]]) -> (Vec<u8>, u64) {
        let streams: Vec<Vec<u8>> = streams.iter().map(|stream| stream.to_vec()).collect();
        let mut payload = Vec::new();
        let unpacked = table.pack(&streams, 3, &mut payload);
        (payload, unpacked)
    }

    fn read(table: &Table, (payload, unpacked): &(Vec<u8>, u64)) -> Result<Vec<Vec<u8>>, WireError> {
        table.unpack(&split(payload, *unpacked)?)
    }

    #[test]
    fn streams_come_back() {
        let long = [7; 1000];
        let file = packed(&OLD, &[&[], &long]);
        assert_eq!(read(&OLD, &file), Ok(vec![vec![], long.to_vec()]));
        let mut padded = file;
        padded.0.extend_from_slice(&[0; 9]);
        assert!(read(&OLD, &padded).is_ok());
        assert_eq!(packed(&OLD, &[&[], &[]]), (vec![], 0));
    }

    #[test]
    fn an_unknown_section_is_named_unless_it_may_be_skipped() {
        let required = packed(&WITH_REQUIRED, &[b"a", b"b", b"m"]);
        let error = read(&OLD, &required).expect_err("it must be refused");
        assert_eq!(error, WireError::NewerSection(Tag(*b"more")));
        assert!(error.to_string().contains("`more`") && error.to_string().contains("newer cotree"), "{error}");
        let skippable = packed(&WITH_SKIPPABLE, &[b"m", b"a", b"b"]);
        assert_eq!(read(&OLD, &skippable), Ok(vec![b"a".to_vec(), b"b".to_vec()]));
        // A section that is not there is empty.
        let old = packed(&OLD, &[b"a", b"b"]);
        assert_eq!(read(&WITH_REQUIRED, &old), Ok(vec![b"a".to_vec(), b"b".to_vec(), vec![]]));
    }

    #[test]
    fn a_section_with_more_streams_or_flags_is_newer() {
        let more = packed(&WITH_STREAM, &[b"a", b"b", b"c"]);
        assert_eq!(read(&OLD, &more), Err(WireError::NewerSection(Tag(*b"own "))));
        let unused = packed(&WITH_STREAM, &[b"a", b"b", b""]);
        assert!(read(&OLD, &unused).is_ok());
        let mut flagged = packed(&OLD, &[b"a", b"b"]);
        flagged.0[4] = 2;
        assert_eq!(read(&OLD, &flagged), Err(WireError::NewerSection(Tag(*b"own "))));
    }

    #[test]
    fn sections_that_cannot_be_are_refused() {
        let (once, size) = packed(&OLD, &[b"a", b"b"]);
        let twice = ([once.clone(), once.clone()].concat(), 2 * size);
        assert_eq!(read(&OLD, &twice), Err(WireError::RepeatedSection(Tag(*b"own "))));
        for cut in 1..once.len() {
            assert!(read(&OLD, &(once[..cut].to_vec(), size)).is_err(), "{cut}");
        }
        for claimed in [0, 1, 3, u64::MAX] {
            assert!(read(&OLD, &(once.clone(), claimed)).is_err(), "{claimed}");
        }
        let garbage = ([once, vec![0, 1]].concat(), size);
        assert!(read(&OLD, &garbage).is_err());
    }
}
