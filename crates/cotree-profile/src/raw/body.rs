//! Reads what is behind the header of a raw profile, from front to back.

use super::header::{HEADER_SIZE, Header};
use super::segments::{Segment, Segments};
use crate::counts::UnitCounts;
use crate::error::ProfileError;
use crate::method::{MethodCounts, Recorded};
use cotree_rt::layout::{BodyChecksum, Flags, PAGE, State};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// More counters than this are refused: no program has them, and a sparse file could claim them for free.
const MAX_COUNTERS: u64 = 1 << 30;

/// Reads a raw profile whose first bytes are [`cotree_rt::layout::MAGIC`]. The file is at its start.
///
/// # Errors
/// See [`ProfileError`].
pub fn read(mut file: impl Read + Seek, length: u64, path: &Path) -> Result<UnitCounts, ProfileError> {
    let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
    let mut page = [0; HEADER_SIZE];
    if length < PAGE {
        return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: PAGE });
    }
    file.read_exact(&mut page).map_err(io)?;
    let header = Header::new(&page, length, path)?;
    let fields = header.fields();
    if fields.counter_count > MAX_COUNTERS {
        return Err(ProfileError::Damaged {
            path: path.to_owned(),
            what: "it claims more counters than any program has",
        });
    }
    let is_pool = header.runs().total() > 1;
    let mut counts = UnitCounts {
        unit: header.unit(),
        binary: header.binary(),
        // A pool has the command line and the test of the run that made it, and not those of the others.
        command: if is_pool { Vec::new() } else { header.command() },
        tests: if is_pool { BTreeSet::new() } else { header.test().into_iter().collect() },
        runs: header.runs(),
        weight: header.runs().total(),
        flags: fields.flags,
        threads_alive: u64::from(fields.threads_alive),
        started_ns: fields.started_ns,
        ended_ns: fields.ended_ns,
        ..UnitCounts::default()
    };
    let segments = Segments::find(&mut file, &header, length, path)?;
    file.seek(SeekFrom::Start(PAGE)).map_err(io)?;
    let sum = BodyChecksum::new(length - PAGE);
    let mut body = Body { file, position: PAGE, sum, buffer: vec![0; 1 << 18] };

    body.skip_to(fields.early_offset).map_err(io)?;
    let mut address = None;
    let early = &mut counts.early;
    let mut saturated = false;
    let wraps = fields.flags.has(Flags::CALL_SUMS);
    body.words(fields.early_capacity * 2, |word| match address.take() {
        None => address = Some(word),
        Some(0) => {}
        Some(address) => {
            let sum = early.entry(address).or_insert(0i64);
            let (new, over) = sum.overflowing_add(word.cast_signed());
            saturated |= over && !wraps;
            *sum = new;
        }
    })
    .map_err(io)?;

    let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
    let mut recorded = Recorded::new(fields).map_err(damaged)?;
    let mut segments_left = segments.iter().peekable();
    // Without counters all slabs are empty, so the file's length does not bound their number.
    let slabs = if fields.counter_count == 0 { 0 } else { fields.slab_count };
    for slab in 0..slabs {
        let offset = fields.slabs_offset + slab * fields.slab_stride;
        while let Some(segment) = segments_left.next_if(|segment| segment.offset < offset) {
            body.segment(segment, &mut recorded).map_err(io)?.map_err(damaged)?;
        }
        if segments.overlap(offset, offset + fields.slab_stride) {
            continue;
        }
        body.skip_to(offset).map_err(io)?;
        if slab == 0 {
            body.words(fields.counter_count, |word| counts.counters.push(word)).map_err(io)?;
            continue;
        }
        let mut sums = counts.counters.iter_mut();
        body.words(fields.counter_count, |word| {
            let sum = sums.next().expect("as many counters in each slab");
            let (new, over) = sum.overflowing_add(word);
            saturated |= over && !wraps;
            *sum = if over && !wraps { u64::MAX } else { new };
        })
        .map_err(io)?;
    }
    for segment in segments_left {
        body.segment(segment, &mut recorded).map_err(io)?.map_err(damaged)?;
    }
    let (method, cut, stack) = recorded.finish();
    counts.method = if fields.trace_word == 0 { method } else { MethodCounts::Streams };
    counts.stack = stack;
    counts.saturated = saturated || cut;
    body.skip_to(length).map_err(io)?;
    let vouched = fields.state != State::RUNNING && !fields.flags.has(Flags::THREADS_ALIVE);
    if vouched && body.sum.finish() != fields.body_checksum {
        return Err(ProfileError::Damaged { path: path.to_owned(), what: "the checksum of its counters is wrong" });
    }
    Ok(counts)
}

/// The part after the header page, read once from front to back.
struct Body<R> {
    file: R,
    position: u64,
    sum: BodyChecksum,
    buffer: Vec<u8>,
}

impl<R: Read> Body<R> {
    fn piece(&mut self, left: u64) -> io::Result<&[u8]> {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
        self.file.read_exact(&mut self.buffer[..length])?;
        self.sum.add(&self.buffer[..length]);
        self.position += length as u64;
        Ok(&self.buffer[..length])
    }

    fn skip_to(&mut self, position: u64) -> io::Result<()> {
        while self.position < position {
            self.piece(position - self.position)?;
        }
        Ok(())
    }

    /// A segment; what is wrong with it comes inside.
    fn segment(&mut self, segment: &Segment, into: &mut Recorded) -> io::Result<Result<(), &'static str>> {
        if !segment.kind.is_counted() {
            return self.skip_to(segment.end()).map(Ok);
        }
        self.skip_to(segment.entries())?;
        let words = segment.kind.entry_size() / 8;
        let mut entry = vec![0; usize::try_from(words).expect("an entry is small")];
        let (mut filled, mut outcome) = (0, Ok(()));
        self.words(segment.capacity * words, |word| {
            entry[filled] = word;
            filled += 1;
            if filled == entry.len() {
                filled = 0;
                if outcome.is_ok() {
                    outcome = into.add(segment.kind, &entry);
                }
            }
        })?;
        Ok(outcome)
    }

    fn words(&mut self, count: u64, mut each: impl FnMut(u64)) -> io::Result<()> {
        // Checked with the header: so many words are in the file.
        let end = self.position + count * 8;
        while self.position < end {
            for word in self.piece(end - self.position)?.chunks_exact(8) {
                each(u64::from_le_bytes(word.try_into().expect("eight bytes")));
            }
        }
        Ok(())
    }
}
