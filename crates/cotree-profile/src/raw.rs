//! Reads raw profiles, which the runtime writes (see [`cotree_rt::layout`]).
//!
//! The file is streamed: memory is one counter array, the paths that were taken and a buffer, however many slabs there
//! are. Nothing in the header is trusted before it fits the file.

use crate::binary::UnitId;
use crate::counts::{KNOWN_FLAGS, Runs, UnitCounts};
use crate::error::ProfileError;
use crate::method::{MethodCounts, Recorded, check_header};
use crate::regular;
use cotree_rt::layout::{BodyChecksum, Flags, MAGIC, PAGE, RawHeader, State, TraceWord, VERSION, checksum};
use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use zerocopy::{IntoBytes, transmute};

mod pool;
mod segments;

pub use pool::joining;
pub use pool::pool_of;
pub(crate) use pool::read_with_left;
use segments::Segment;
pub(crate) use segments::Segments;

pub(crate) const HEADER_SIZE: usize = PAGE as usize;

/// The header page of a raw profile, checked against the length of its file.
#[derive(Clone, Debug)]
pub struct Header(Box<RawHeader>);

impl Header {
    /// Checks a header page; `length` is that of the file.
    ///
    /// # Errors
    /// For any impossible value: see [`ProfileError`].
    pub fn new(page: &[u8; HEADER_SIZE], length: u64, path: &Path) -> Result<Self, ProfileError> {
        let header = Self(Box::new(transmute!(*page)));
        let fields = &header.0;
        let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
        if fields.magic != MAGIC {
            return Err(ProfileError::NotAProfile { path: path.to_owned(), hint: "" });
        }
        if fields.version != VERSION {
            let version = fields.version;
            return Err(ProfileError::Version { path: path.to_owned(), version, expected: VERSION });
        }
        check_header(fields).map_err(damaged)?;
        if Runs::one(fields.state).is_none() {
            return Err(damaged("its state is unknown"));
        }
        if fields.state != State::RUNNING && header.checksum() != fields.header_checksum {
            return Err(damaged("the checksum of its header is wrong"));
        }
        if fields.flags & !KNOWN_FLAGS != 0 {
            return Err(damaged("it has flags that this cotree does not know"));
        }
        let text_fits =
            fields.binary_len as usize <= fields.binary.len() && fields.command_len as usize <= fields.command.len();
        if !text_fits {
            return Err(damaged("its texts are longer than their places"));
        }
        if !fields.early_capacity.is_power_of_two() {
            return Err(damaged("the size of its table of early exits is no power of two"));
        }
        let early_end = fields.early_capacity.checked_mul(16).and_then(|n| n.checked_add(fields.early_offset));
        let slab = fields.counter_count.checked_mul(8);
        let slabs = fields.slab_stride.checked_mul(fields.slab_count);
        let end = slabs.and_then(|n| n.checked_add(fields.slabs_offset));
        let (Some(early_end), Some(slab), Some(end)) = (early_end, slab, end) else {
            return Err(damaged("its sizes make no sense"));
        };
        let sensible = fields.early_offset >= PAGE
            && fields.early_offset.is_multiple_of(8)
            && early_end <= fields.slabs_offset
            && fields.slabs_offset.is_multiple_of(8)
            && slab <= fields.slab_stride
            && fields.slab_stride.is_multiple_of(8)
            && (fields.slab_count > 0 || fields.counter_count == 0)
            && (fields.trace_word == 0 || fields.trace_word.saturating_add(TraceWord::COUNT) <= fields.slab_stride / 8);
        if !sensible {
            return Err(damaged("its sizes make no sense"));
        }
        if end > length {
            return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: end });
        }
        Ok(header)
    }

    fn checksum(&self) -> u64 {
        let unsealed = RawHeader { header_checksum: 0, ..RawHeader::clone(&self.0) };
        checksum(unsealed.as_bytes())
    }

    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &RawHeader {
        &self.0
    }

    /// The build that was run.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        UnitId(self.0.unit)
    }

    /// How its runs ended, which are many only in a pool.
    fn runs(&self) -> Runs {
        match [self.0.runs_finished, self.0.runs_aborted] {
            [0, 0] => Runs::one(self.0.state).unwrap_or_default(),
            [finished, aborted] => Runs { finished, aborted, ..Runs::default() },
        }
    }

    /// Where the binary was.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.0.binary[..self.0.binary_len as usize]))
    }

    /// The command line.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let bytes = &self.0.command[..self.0.command_len as usize];
        let arguments = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        if arguments.is_empty() {
            return Vec::new();
        }
        arguments.split(|&b| b == 0).map(|a| String::from_utf8_lossy(a).into_owned()).collect()
    }

    /// The places of slabs in the file.
    pub(crate) fn slabs(&self) -> impl Iterator<Item = Range<u64>> {
        let (start, stride) = (self.0.slabs_offset, self.0.slab_stride);
        (0..self.0.slab_count).map(move |slab| start + slab * stride..start + (slab + 1) * stride)
    }

    /// Whether a slab is at this offset of the file.
    fn is_slab(&self, offset: u64) -> bool {
        let slabs = self.0.slabs_offset..self.end();
        slabs.contains(&offset) && (offset - slabs.start).is_multiple_of(self.0.slab_stride.max(1))
    }

    /// Bytes of one slab that are counters.
    fn slab_bytes(&self) -> u64 {
        self.0.counter_count * 8
    }

    /// The end of the last slab.
    pub(crate) fn end(&self) -> u64 {
        self.0.slabs_offset + self.0.slab_stride * self.0.slab_count
    }

    /// Turns the header of a running process's profile into that of a snapshot of it.
    pub(crate) fn into_snapshot(mut self, now_ns: u64, threads: u32, body: u64) -> Box<RawHeader> {
        let fields = &mut self.0;
        fields.state = State::SNAPSHOT;
        fields.threads_alive = threads;
        fields.ended_ns = now_ns;
        fields.flags |= Flags::THREADS_ALIVE;
        fields.body_checksum = body;
        self.0.header_checksum = self.checksum();
        self.0
    }
}

/// Whether a file is the profile of a process that has ended in a way that it could account for. Its name says nothing:
/// who takes away its own rights, or the folder, can't give it its final name.
#[must_use]
pub fn is_finished(path: &Path) -> bool {
    let head = || -> io::Result<bool> {
        let mut page = [0; HEADER_SIZE];
        regular::open(path)?.read_exact(&mut page)?;
        let header: RawHeader = transmute!(page);
        Ok(header.magic == MAGIC && matches!(header.state, State::FINISHED | State::ABORTED))
    };
    head().unwrap_or(false)
}

/// More counters than this are refused: no program has them, and a sparse file could claim them for free.
const MAX_COUNTERS: u64 = 1 << 30;

/// Reads a raw profile whose first bytes are [`MAGIC`]. The file is at its start.
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
    let mut counts = UnitCounts {
        unit: header.unit(),
        binary: header.binary(),
        // A pool has the command line of the run that made it, and not those of the others.
        command: if header.runs().total() > 1 { Vec::new() } else { header.command() },
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
    let wraps = fields.flags & Flags::CALL_SUMS != 0;
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
    let vouched = fields.state != State::RUNNING && fields.flags & Flags::THREADS_ALIVE == 0;
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
