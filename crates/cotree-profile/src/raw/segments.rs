//! The path segments of a raw profile: a linked list through the file, of which nothing is believed.

use super::{HEADER_SIZE, Header};
use crate::file::ProfileError;
use cotree_rt::layout::{PAGE, PATH_MAGIC, PathBucket, PathSegmentHeader};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::{offset_of, size_of};
use std::path::Path;

const SEGMENT_HEADER: u64 = size_of::<PathSegmentHeader>() as u64;
const BUCKET: u64 = size_of::<PathBucket>() as u64;

/// One hash table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Where its header is in the file.
    pub(crate) offset: u64,
    /// How many buckets it has.
    pub(crate) capacity: u64,
}

impl Segment {
    /// Where its buckets begin.
    pub(crate) fn buckets(&self) -> u64 {
        self.offset + SEGMENT_HEADER
    }

    /// The end of its buckets.
    pub(crate) fn end(&self) -> u64 {
        self.buckets() + self.capacity * BUCKET
    }
}

/// All of them, by rising offset; none overlaps another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    /// Follows the list.
    ///
    /// # Errors
    /// Segments that cannot be: see [`ProfileError`].
    pub(crate) fn find(
        mut file: impl Read + Seek,
        header: &Header,
        length: u64,
        path: &Path,
    ) -> Result<Self, ProfileError> {
        let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
        let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
        let mut found: BTreeMap<u64, Segment> = BTreeMap::new();
        let mut offset = header.path_head();
        while offset != 0 {
            if !offset.is_multiple_of(PAGE) || offset < header.slabs_offset().saturating_add(header.slab_bytes()) {
                return Err(damaged("a table of paths is where none can be"));
            }
            let need = offset.saturating_add(SEGMENT_HEADER);
            if need > length {
                return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need });
            }
            let mut bytes = [0; SEGMENT_HEADER as usize];
            file.seek(SeekFrom::Start(offset)).map_err(io)?;
            file.read_exact(&mut bytes).map_err(io)?;
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            let capacity = word(offset_of!(PathSegmentHeader, capacity));
            if !bytes.starts_with(&PATH_MAGIC) || !capacity.is_power_of_two() {
                return Err(damaged("a table of paths does not begin as one"));
            }
            let end = capacity.checked_mul(BUCKET).and_then(|n| n.checked_add(need));
            match end {
                Some(end) if end <= length => {}
                Some(need) => return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need }),
                None => return Err(damaged("its sizes make no sense")),
            }
            // Each is another one and takes a page at least, so the list ends.
            if found.insert(offset, Segment { offset, capacity }).is_some() {
                return Err(damaged("its list of path tables leads in a circle"));
            }
            offset = word(offset_of!(PathSegmentHeader, next));
        }
        let segments: Vec<Segment> = found.into_values().collect();
        if segments.windows(2).any(|pair| pair[0].end() > pair[1].offset) {
            return Err(damaged("two tables of paths overlap"));
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
