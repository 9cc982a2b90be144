//! Reads the segments of a raw profile, a linked list through the file. Nothing in it is trusted.

use super::header::{HEADER_SIZE, Header};
use crate::error::ProfileError;
use crate::method::Contents;
use cotree_rt::layout::{PAGE, SEGMENT_MAGIC, SegmentHeader};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::size_of;
use std::path::Path;
use zerocopy::transmute;

const SEGMENT_HEADER: u64 = size_of::<SegmentHeader>() as u64;

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) kind: Contents,
    /// Where its header is in the file.
    pub(crate) offset: u64,
    /// How many entries it has room for.
    pub(crate) capacity: u64,
    /// How many are in use: see [`SegmentHeader::used`].
    pub(crate) used: u64,
    /// See [`SegmentHeader::streams`].
    pub(crate) streams: u64,
}

impl Segment {
    /// Reads a header, with the offset of the segment that was added before it.
    fn parse(bytes: &[u8; SEGMENT_HEADER as usize], offset: u64, header: &Header) -> Result<(Self, u64), &'static str> {
        let SegmentHeader { magic, kind, entry_size, capacity, next, used, owner, offset: own, streams } =
            transmute!(*bytes);
        let no_segment = "a segment does not begin as one";
        if magic != SEGMENT_MAGIC || own != offset {
            return Err(no_segment);
        }
        let kind = Contents::from_number(kind).ok_or("it has a segment of a kind that this cotree does not know")?;
        let owned = owner == 0 || header.is_slab(owner);
        if u64::from(entry_size) != kind.entry_size() || !kind.allows(capacity) || !owned {
            return Err(no_segment);
        }
        Ok((Self { kind, offset, capacity, used: used.min(capacity), streams }, next))
    }

    /// Where its entries begin.
    pub(crate) fn entries(&self) -> u64 {
        self.offset + SEGMENT_HEADER
    }

    /// The end of its entries, which are in the file.
    pub(crate) fn end(&self) -> u64 {
        self.entries() + self.capacity * self.kind.entry_size()
    }
}

/// All of them, by rising offset; none overlaps another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    /// Follows the list.
    ///
    /// # Errors
    /// For impossible segments: see [`ProfileError`].
    pub(crate) fn find(
        mut file: impl Read + Seek,
        header: &Header,
        length: u64,
        path: &Path,
    ) -> Result<Self, ProfileError> {
        let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
        let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
        let mut found: BTreeMap<u64, Segment> = BTreeMap::new();
        let fields = header.fields();
        let mut offset = fields.segment_head;
        while offset != 0 {
            if !offset.is_multiple_of(PAGE) || offset < fields.slabs_offset.saturating_add(header.slab_bytes()) {
                return Err(damaged("a segment is where none can be"));
            }
            let need = offset.saturating_add(SEGMENT_HEADER);
            if need > length {
                return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need });
            }
            let mut bytes = [0; SEGMENT_HEADER as usize];
            file.seek(SeekFrom::Start(offset)).map_err(io)?;
            file.read_exact(&mut bytes).map_err(io)?;
            let (segment, next) = Segment::parse(&bytes, offset, header).map_err(damaged)?;
            let entries = segment.capacity.checked_mul(segment.kind.entry_size());
            let end = entries.and_then(|bytes| bytes.checked_add(need));
            match end {
                Some(end) if end <= length => {}
                Some(need) => return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need }),
                None => return Err(damaged("its sizes make no sense")),
            }
            // Each segment is a different one and takes at least a page, so the list ends.
            if found.insert(offset, segment).is_some() {
                return Err(damaged("its list of segments leads in a circle"));
            }
            offset = next;
        }
        let segments: Vec<Segment> = found.into_values().collect();
        if segments.windows(2).any(|pair| pair[0].end() > pair[1].offset) {
            return Err(damaged("two segments overlap"));
        }
        Ok(Self(segments))
    }

    /// In file order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Segment> {
        self.0.iter()
    }

    /// Does one of them lie, in part at least, within a range of the file?
    pub(crate) fn overlap(&self, start: u64, end: u64) -> bool {
        let first = self.0.partition_point(|segment| segment.end() <= start);
        self.0.get(first).is_some_and(|segment| segment.offset < end)
    }

    /// The end of the last one, on a page boundary.
    pub(crate) fn end(&self) -> u64 {
        self.0.last().map_or(HEADER_SIZE as u64, |segment| segment.end().next_multiple_of(PAGE))
    }
}
