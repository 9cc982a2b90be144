//! Reads raw profiles, which the runtime writes (see [`cotree_rt::layout`]).
//!
//! The file is streamed: memory is one counter array, the paths that were taken and a buffer, however many slabs there
//! are. Nothing in the header is trusted before it fits the file.

use crate::binary::UnitId;
use crate::counts::{KNOWN_FLAGS, Runs, UnitCounts};
use crate::error::ProfileError;
use crate::method::{MethodCounts, Recorded, check_header};
use crate::regular;
use cotree_rt::layout::{BodyChecksum, Checksum, Flags, MAGIC, PAGE, State, TraceWord, VERSION};
use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

mod pool;
mod segments;

pub use pool::joining;
pub use pool::pool_of;
pub(crate) use pool::read_with_left;
use segments::Segment;
pub(crate) use segments::Segments;

/// Byte offsets in the header page; the layout's own order and sizes.
mod at {
    use cotree_rt::layout::RawHeader;
    use std::mem::offset_of;

    pub(super) const VERSION: usize = offset_of!(RawHeader, version);
    pub(super) const STATE: usize = offset_of!(RawHeader, state);
    pub(super) const UNIT: usize = offset_of!(RawHeader, unit);
    pub(super) const PID: usize = offset_of!(RawHeader, pid);
    pub(super) const THREADS_ALIVE: usize = offset_of!(RawHeader, threads_alive);
    pub(super) const STARTED: usize = offset_of!(RawHeader, started_ns);
    pub(super) const ENDED: usize = offset_of!(RawHeader, ended_ns);
    pub(super) const FLAGS: usize = offset_of!(RawHeader, flags);
    pub(super) const COUNTERS: usize = offset_of!(RawHeader, counter_count);
    pub(super) const SLABS_OFFSET: usize = offset_of!(RawHeader, slabs_offset);
    pub(super) const SLAB_STRIDE: usize = offset_of!(RawHeader, slab_stride);
    pub(super) const SLAB_COUNT: usize = offset_of!(RawHeader, slab_count);
    pub(super) const EARLY_OFFSET: usize = offset_of!(RawHeader, early_offset);
    pub(super) const EARLY_CAPACITY: usize = offset_of!(RawHeader, early_capacity);
    pub(super) const BODY_CHECKSUM: usize = offset_of!(RawHeader, body_checksum);
    pub(super) const HEADER_CHECKSUM: usize = offset_of!(RawHeader, header_checksum);
    pub(super) const BINARY_LEN: usize = offset_of!(RawHeader, binary_len);
    pub(super) const COMMAND_LEN: usize = offset_of!(RawHeader, command_len);
    pub(super) const BINARY: usize = offset_of!(RawHeader, binary);
    pub(super) const COMMAND: usize = offset_of!(RawHeader, command);
    pub(super) const SEGMENT_HEAD: usize = offset_of!(RawHeader, segment_head);
    pub(super) const TRACE_WORD: usize = offset_of!(RawHeader, trace_word);
    pub(super) const RUNS_FINISHED: usize = offset_of!(RawHeader, runs_finished);
    pub(super) const RUNS_ABORTED: usize = offset_of!(RawHeader, runs_aborted);
    pub(super) const LAST_STARTED: usize = offset_of!(RawHeader, last_started_ns);
}

pub(crate) const HEADER_SIZE: usize = PAGE as usize;

/// The header page of a raw profile, checked against the length of its file.
#[derive(Clone, Debug)]
pub struct Header {
    page: Box<[u8; HEADER_SIZE]>,
}

impl Header {
    /// Checks a header page; `length` is that of the file.
    ///
    /// # Errors
    /// For any impossible value: see [`ProfileError`].
    pub fn new(page: Box<[u8; HEADER_SIZE]>, length: u64, path: &Path) -> Result<Self, ProfileError> {
        let header = Self { page };
        let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
        if !header.page.starts_with(&MAGIC) {
            return Err(ProfileError::NotAProfile { path: path.to_owned(), hint: "" });
        }
        let version = header.u32(at::VERSION);
        if version != VERSION {
            return Err(ProfileError::Version { path: path.to_owned(), version, expected: VERSION });
        }
        check_header(&header).map_err(damaged)?;
        if Runs::one(header.state()).is_none() {
            return Err(damaged("its state is unknown"));
        }
        if header.state() != State::RUNNING && header.checksum() != header.u64(at::HEADER_CHECKSUM) {
            return Err(damaged("the checksum of its header is wrong"));
        }
        if header.flags() & !KNOWN_FLAGS != 0 {
            return Err(damaged("it has flags that this cotree does not know"));
        }
        let text_fits = header.u32(at::BINARY_LEN) as usize <= at::COMMAND - at::BINARY
            && header.u32(at::COMMAND_LEN) as usize <= at::SEGMENT_HEAD - at::COMMAND;
        if !text_fits {
            return Err(damaged("its texts are longer than their places"));
        }
        if !header.early_capacity().is_power_of_two() {
            return Err(damaged("the size of its table of early exits is no power of two"));
        }
        let early_end = header.early_capacity().checked_mul(16).and_then(|n| n.checked_add(header.early_offset()));
        let slab = header.counter_count().checked_mul(8);
        let slabs = header.slab_stride().checked_mul(header.slab_count());
        let end = slabs.and_then(|n| n.checked_add(header.slabs_offset()));
        let (Some(early_end), Some(slab), Some(end)) = (early_end, slab, end) else {
            return Err(damaged("its sizes make no sense"));
        };
        let sensible = header.early_offset() >= PAGE
            && header.early_offset().is_multiple_of(8)
            && early_end <= header.slabs_offset()
            && header.slabs_offset().is_multiple_of(8)
            && slab <= header.slab_stride()
            && header.slab_stride().is_multiple_of(8)
            && (header.slab_count() > 0 || header.counter_count() == 0)
            && (header.trace_word() == 0
                || header.trace_word().saturating_add(TraceWord::COUNT) <= header.slab_stride() / 8);
        if !sensible {
            return Err(damaged("its sizes make no sense"));
        }
        if end > length {
            return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: end });
        }
        Ok(header)
    }

    /// The field of four bytes at an offset of the page.
    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.page[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.page[at..at + 8].try_into().expect("eight bytes"))
    }

    fn checksum(&self) -> u64 {
        let mut sum = Checksum::new(PAGE);
        sum.add(&self.page[..at::HEADER_CHECKSUM]);
        sum.add(&[0; 8]);
        sum.add(&self.page[at::HEADER_CHECKSUM + 8..]);
        sum.finish()
    }

    /// One of [`State`].
    #[must_use]
    pub fn state(&self) -> u32 {
        self.u32(at::STATE)
    }

    /// The build that was run.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        UnitId(self.page[at::UNIT..at::UNIT + 16].try_into().expect("sixteen bytes"))
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.u32(at::PID)
    }

    /// How its runs ended, which are many only in a pool.
    fn runs(&self) -> Runs {
        match [self.u64(at::RUNS_FINISHED), self.u64(at::RUNS_ABORTED)] {
            [0, 0] => Runs::one(self.state()).unwrap_or_default(),
            [finished, aborted] => Runs { finished, aborted, ..Runs::default() },
        }
    }

    /// Bits of [`Flags`].
    #[must_use]
    pub fn flags(&self) -> u64 {
        self.u64(at::FLAGS)
    }

    /// Where the binary was.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        let length = self.u32(at::BINARY_LEN) as usize;
        PathBuf::from(OsStr::from_bytes(&self.page[at::BINARY..at::BINARY + length]))
    }

    /// The command line.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let length = self.u32(at::COMMAND_LEN) as usize;
        let bytes = &self.page[at::COMMAND..at::COMMAND + length];
        let arguments = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        if arguments.is_empty() {
            return Vec::new();
        }
        arguments.split(|&b| b == 0).map(|a| String::from_utf8_lossy(a).into_owned()).collect()
    }

    fn counter_count(&self) -> u64 {
        self.u64(at::COUNTERS)
    }

    fn slabs_offset(&self) -> u64 {
        self.u64(at::SLABS_OFFSET)
    }

    fn slab_stride(&self) -> u64 {
        self.u64(at::SLAB_STRIDE)
    }

    fn slab_count(&self) -> u64 {
        self.u64(at::SLAB_COUNT)
    }

    fn early_offset(&self) -> u64 {
        self.u64(at::EARLY_OFFSET)
    }

    fn early_capacity(&self) -> u64 {
        self.u64(at::EARLY_CAPACITY)
    }

    /// File offset of the newest segment; 0: there is none.
    fn segment_head(&self) -> u64 {
        self.u64(at::SEGMENT_HEAD)
    }

    /// The first of a slab's words for the trace; 0: nothing is traced.
    pub(crate) fn trace_word(&self) -> u64 {
        self.u64(at::TRACE_WORD)
    }

    /// The places of slabs in the file.
    pub(crate) fn slabs(&self) -> impl Iterator<Item = Range<u64>> {
        let (start, stride) = (self.slabs_offset(), self.slab_stride());
        (0..self.slab_count()).map(move |slab| start + slab * stride..start + (slab + 1) * stride)
    }

    /// Whether a slab is at this offset of the file.
    fn is_slab(&self, offset: u64) -> bool {
        let slabs = self.slabs_offset()..self.end();
        slabs.contains(&offset) && (offset - slabs.start).is_multiple_of(self.slab_stride().max(1))
    }

    /// Bytes of one slab that are counters.
    fn slab_bytes(&self) -> u64 {
        self.counter_count() * 8
    }

    /// The end of the last slab.
    pub(crate) fn end(&self) -> u64 {
        self.slabs_offset() + self.slab_stride() * self.slab_count()
    }

    /// Turns the header of a running process's profile into that of a snapshot of it.
    pub(crate) fn into_snapshot(mut self, now_ns: u64, threads: u32, body: u64) -> Box<[u8; HEADER_SIZE]> {
        let flags = self.flags() | Flags::THREADS_ALIVE;
        self.page[at::STATE..at::STATE + 4].copy_from_slice(&State::SNAPSHOT.to_le_bytes());
        self.page[at::THREADS_ALIVE..at::THREADS_ALIVE + 4].copy_from_slice(&threads.to_le_bytes());
        self.page[at::ENDED..at::ENDED + 8].copy_from_slice(&now_ns.to_le_bytes());
        self.page[at::FLAGS..at::FLAGS + 8].copy_from_slice(&flags.to_le_bytes());
        self.page[at::BODY_CHECKSUM..at::BODY_CHECKSUM + 8].copy_from_slice(&body.to_le_bytes());
        let sum = self.checksum();
        self.page[at::HEADER_CHECKSUM..at::HEADER_CHECKSUM + 8].copy_from_slice(&sum.to_le_bytes());
        self.page
    }
}

/// Whether a file is the profile of a process that has ended in a way that it could account for. Its name says nothing:
/// who takes away its own rights, or the folder, can't give it its final name.
#[must_use]
pub fn is_finished(path: &Path) -> bool {
    let head = || -> io::Result<bool> {
        let mut head = [0; at::STATE + 4];
        regular::open(path)?.read_exact(&mut head)?;
        let state = u32::from_le_bytes(head[at::STATE..].try_into().expect("four bytes"));
        Ok(head.starts_with(&MAGIC) && matches!(state, State::FINISHED | State::ABORTED))
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
    let mut page = Box::new([0; HEADER_SIZE]);
    if length < PAGE {
        return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: PAGE });
    }
    file.read_exact(&mut page[..]).map_err(io)?;
    let header = Header::new(page, length, path)?;
    if header.counter_count() > MAX_COUNTERS {
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
        flags: header.flags(),
        threads_alive: u64::from(header.u32(at::THREADS_ALIVE)),
        started_ns: header.u64(at::STARTED),
        ended_ns: header.u64(at::ENDED),
        ..UnitCounts::default()
    };
    let segments = Segments::find(&mut file, &header, length, path)?;
    file.seek(SeekFrom::Start(PAGE)).map_err(io)?;
    let sum = BodyChecksum::new(length - PAGE);
    let mut body = Body { file, position: PAGE, sum, buffer: vec![0; 1 << 18] };

    body.skip_to(header.early_offset()).map_err(io)?;
    let mut address = None;
    let early = &mut counts.early;
    let mut saturated = false;
    let wraps = header.flags() & Flags::CALL_SUMS != 0;
    body.words(header.early_capacity() * 2, |word| match address.take() {
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
    let mut recorded = Recorded::new(&header).map_err(damaged)?;
    let mut segments_left = segments.iter().peekable();
    // Without counters all slabs are empty, so the file's length does not bound their number.
    let slabs = if header.counter_count() == 0 { 0 } else { header.slab_count() };
    for slab in 0..slabs {
        let offset = header.slabs_offset() + slab * header.slab_stride();
        while let Some(segment) = segments_left.next_if(|segment| segment.offset < offset) {
            body.segment(segment, &mut recorded).map_err(io)?.map_err(damaged)?;
        }
        if segments.overlap(offset, offset + header.slab_stride()) {
            continue;
        }
        body.skip_to(offset).map_err(io)?;
        if slab == 0 {
            body.words(header.counter_count(), |word| counts.counters.push(word)).map_err(io)?;
            continue;
        }
        let mut sums = counts.counters.iter_mut();
        body.words(header.counter_count(), |word| {
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
    counts.method = if header.trace_word() == 0 { method } else { MethodCounts::Streams };
    counts.stack = stack;
    counts.saturated = saturated || cut;
    body.skip_to(length).map_err(io)?;
    let vouched = header.state() != State::RUNNING && header.flags() & Flags::THREADS_ALIVE == 0;
    if vouched && body.sum.finish() != header.u64(at::BODY_CHECKSUM) {
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
