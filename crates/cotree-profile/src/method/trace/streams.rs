//! The streams of a raw profile ([`cotree_rt::layout::TraceChunk`]).
//!
//! Opening one reads only where the bytes are: a few words per chunk. The bytes are read, and those of a compressed
//! chunk decoded, when they are asked for.

use crate::error::ProfileError;
use crate::method::Contents;
use crate::raw::{HEADER_SIZE, Header, Segments};
use crate::regular;
use cotree_core::method::trace::Source;
use cotree_rt::layout::{
    Flags, PAGE, State, TRACE_SLACK, TRACE_WINDOW, TraceChunk, TraceInterrupted, TraceState, TraceWord,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::mem::size_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerocopy::{IntoBytes, transmute};

const CHUNK_HEADER: u64 = size_of::<TraceChunk>() as u64;

/// Some bytes of a stream: those of a chunk or a window, but for the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    /// The position of the first.
    position: u64,
    /// How many there are.
    length: u64,
    /// Where those of the chunk are in the file.
    offset: u64,
    /// How many of the chunk's come before them.
    skip: u64,
    /// How many the file has of the chunk: fewer than its own if they are compressed.
    stored: u64,
    /// How many bytes before them tell the stack at their beginning; 0: that is not told.
    snapshot: u64,
    /// See [`TraceChunk::interrupted`].
    interrupted: bool,
}

impl Piece {
    /// The position behind the last byte.
    fn end(&self) -> u64 {
        self.position + self.length
    }

    /// How many bytes of the chunk they are, with those before them.
    fn whole(&self) -> u64 {
        self.skip + self.length
    }

    fn is_packed(&self) -> bool {
        self.stored < self.whole()
    }
}

/// The stream of one thread.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The number of the stream in the process, from 1.
    pub number: u64,
    /// There was no room for what comes behind its end.
    pub cut: bool,
    /// What comes behind its end can't be told.
    pub lost: bool,
    /// The stream of a signal handler has the stream that this interrupted, and where. A part of that stream may be
    /// gone.
    pub inside: Option<(u64, u64)>,
    /// What it had at first is gone, as the ring shows, and nothing else of it is there.
    pub gone: bool,
    /// The stream grew when the profile was read, or when the process ended: it is in the window of a slab.
    open: bool,
    /// By position; none overlaps another.
    pieces: Vec<Piece>,
}

impl Stream {
    /// Is it that of a signal handler that has returned, or was left, and does it end with this part? Then all that it
    /// says has happened.
    #[must_use]
    pub fn is_over_with(&self, part: Part<'_>) -> bool {
        let last = self.pieces.last().is_some_and(|piece| piece.end() == part.end());
        self.inside.is_some() && !self.open && !self.cut && !self.lost && last
    }

    /// The parts of it that are there. If only the newest is kept, there may be several: as long as a thread does
    /// nothing, others write over what it did before.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = Part<'_>> {
        let follows = |a: &Piece, b: &Piece| a.end() == b.position;
        self.pieces.chunk_by(follows).map(Part)
    }
}

/// Bytes of a stream that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a>(&'a [Piece]);

impl<'a> Part<'a> {
    /// The positions in it from which it can be read, the first one at least if that is where the stream begins.
    pub fn entrances(&self) -> impl DoubleEndedIterator<Item = u64> + use<'a> {
        self.0.iter().filter(|piece| piece.snapshot > 0 || piece.position == 0).map(|piece| piece.position)
    }

    /// Where in the stream it begins.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.0[0].position
    }

    /// Where it ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.0[self.0.len() - 1].end()
    }

    /// How many bytes of the file it takes, but for headers of pieces.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.0.iter().map(|piece| piece.stored).sum()
    }
}

/// The streams of one process in one link unit.
#[derive(Debug)]
pub struct Streams {
    file: File,
    path: PathBuf,
    streams: Vec<Stream>,
    threads_are_over: bool,
    paused: bool,
    ring: Ring,
}

/// The ring in which the newest part of traces is kept, and what it has lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// There is one.
    pub exists: bool,
    /// Some chunks were written over.
    pub overwritten: bool,
    /// How many streams are gone, with all that they had: of threads that ended, and of signal handlers.
    pub streams_gone: u64,
}

impl Streams {
    /// Finds the streams of a raw profile; there are none where nothing was traced.
    ///
    /// # Errors
    /// See [`ProfileError`].
    pub fn open(path: &Path) -> Result<Self, ProfileError> {
        let io = |cause| ProfileError::Io { path: path.to_owned(), cause };
        let file = regular::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length < PAGE {
            return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: PAGE });
        }
        let mut page = [0; HEADER_SIZE];
        file.read_exact_at(&mut page, 0).map_err(io)?;
        let header = Header::new(&page, length, path)?;
        let fields = header.fields();
        let segments = Segments::find(&file, &header, length, path)?;
        let mut found =
            Found { file: &file, streams: BTreeMap::new(), in_ring: BTreeSet::new(), ring: Ring::default() };
        for segment in segments.iter() {
            let outcome = match segment.kind {
                Contents::Trace => found.chunks(segment.entries(), segment.used),
                Contents::TraceRing => found.ring(segment.entries(), segment.capacity),
                Contents::Paths | Contents::Stack => continue,
            };
            outcome.map_err(io)?.map_err(|what| damaged(path, what))?;
        }
        if fields.trace_word != 0 {
            for slab in header.slabs().filter(|slab| !segments.overlap(slab.start, slab.end)) {
                found.window(slab.start + fields.trace_word * 8).map_err(io)?.map_err(|what| damaged(path, what))?;
            }
        }
        let came = segments.iter().filter(|segment| segment.kind == Contents::TraceRing).map(|segment| segment.streams);
        found.ring.streams_gone = came.sum::<u64>().saturating_sub(found.in_ring.len() as u64);
        let ring = found.ring;
        let streams = found.finish().map_err(|what| damaged(path, what))?;
        let over = matches!(fields.state, State::FINISHED | State::ABORTED);
        let threads_are_over = over && !fields.flags.has(Flags::THREADS_ALIVE);
        let paused = fields.flags.has(Flags::TRACE_PAUSED);
        Ok(Self { file, path: path.to_owned(), streams, threads_are_over, paused, ring })
    }

    /// Was no thread left when the process ended, but for the one that ended it? Then those that say that they end have
    /// also run all of their destructors.
    #[must_use]
    pub const fn threads_are_over(&self) -> bool {
        self.threads_are_over
    }

    /// Was there a thread that did not record all the time?
    #[must_use]
    pub const fn are_paused(&self) -> bool {
        self.paused
    }

    /// The ring that they are in, if they are in one.
    #[must_use]
    pub const fn ring(&self) -> Ring {
        self.ring
    }

    /// By number.
    pub fn iter(&self) -> std::slice::Iter<'_, Stream> {
        self.streams.iter()
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a part from one of its [entrances](Part::entrances) on, but for so many that have been `read`
    /// already, in runs: behind each run but the last, the thread was interrupted outside of calls and did not go on
    /// ([`TraceChunk::interrupted`]). Where the first is not the beginning of the stream, the record of the stack comes
    /// first.
    pub fn runs<'a>(&'a self, part: Part<'a>, entrance: u64, read: u64) -> impl Iterator<Item = Bytes<'a>> + use<'a> {
        let first = part.0.partition_point(|piece| piece.position < entrance);
        let pieces = &part.0[first..];
        let told = pieces.first().map_or(0, |piece| piece.snapshot);
        let mut snapshot = told.saturating_sub(read);
        let position = entrance.saturating_add(read.saturating_sub(told));
        // An interruption at that very place is still to come.
        let done =
            |piece: &Piece| piece.end() < position || (piece.end() == position && !piece.interrupted && read > 0);
        let pieces = &pieces[pieces.partition_point(done)..];
        let mut done = pieces.first().map_or(0, |piece| position.saturating_sub(piece.position));
        pieces.split_inclusive(|piece| piece.interrupted).map(move |pieces| {
            let (snapshot, done) = (std::mem::take(&mut snapshot), std::mem::take(&mut done));
            Bytes { file: &self.file, pieces, snapshot, done, decoded: None }
        })
    }
}

fn damaged(path: &Path, what: &'static str) -> ProfileError {
    ProfileError::Damaged { path: path.to_owned(), what }
}

/// What has been found so far, by the numbers of streams.
struct Found<'a> {
    file: &'a File,
    streams: BTreeMap<u64, Stream>,
    /// The streams that have come to the ring, as far as that is known.
    in_ring: BTreeSet<u64>,
    ring: Ring,
}

impl Found<'_> {
    fn stream(&mut self, number: u64) -> &mut Stream {
        self.streams.entry(number).or_insert_with(|| Stream { number, ..Stream::default() })
    }

    /// Notes the chunks in `words` words of a segment. They may be compressed.
    fn chunks(&mut self, start: u64, words: u64) -> io::Result<Result<(), &'static str>> {
        let (mut at, end) = (start, start + words * 8);
        while at < end {
            match self.chunk(at, end - at, true)? {
                Ok(size) => at += size,
                Err(what) => return Ok(Err(what)),
            }
        }
        Ok(Ok(()))
    }

    /// The chunks in so many places of a ring.
    fn ring(&mut self, start: u64, places: u64) -> io::Result<Result<(), &'static str>> {
        self.ring.exists = true;
        let (mut newest, mut busy) = (0, false);
        for place in 0..places {
            let at = start + place * TraceChunk::PLACE;
            let mut bytes = [0; 16];
            self.file.read_exact_at(&mut bytes, at)?;
            let [sequence, stream] = [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("a word")));
            match sequence {
                0 => {}
                TraceChunk::BUSY => busy = true,
                _ => {
                    newest = newest.max(sequence);
                    self.in_ring.insert(stream);
                    if let Err(what) = self.chunk(at, TraceChunk::PLACE, false)? {
                        return Ok(Err(what));
                    }
                }
            }
        }
        // What is being written may have been written over a chunk once all places are taken.
        self.ring.overwritten |= newest > places || (busy && newest >= places);
        Ok(Ok(()))
    }

    /// A stream with a window, and where that begins: what came before it has been in the ring, if there is one.
    fn has_window(&mut self, number: u64, position: u64) {
        if position > 0 {
            self.in_ring.insert(number);
        }
        let stream = self.stream(number);
        stream.open = true;
        stream.gone = position > 0;
    }

    /// Notes the chunk at an offset where there is room for `room` bytes, and gives its size. `packed`: it may be
    /// compressed.
    fn chunk(&mut self, at: u64, room: u64, packed: bool) -> io::Result<Result<u64, &'static str>> {
        const DAMAGED: &str = "a piece of the trace does not fit its place";
        if room < CHUNK_HEADER {
            return Ok(Err(DAMAGED));
        }
        let mut bytes = [0; CHUNK_HEADER as usize];
        self.file.read_exact_at(&mut bytes, at)?;
        let chunk: TraceChunk = transmute!(bytes);
        let [length, stored, snapshot] = [chunk.length, chunk.stored, chunk.snapshot].map(u64::from);
        let size = TraceChunk::words(stored) * 8;
        // Nobody writes more at once than a window holds.
        let fits = stored == length || (packed && stored < length && length <= TRACE_WINDOW + TRACE_SLACK);
        if size > room || !fits || chunk.stream == 0 {
            return Ok(Err(DAMAGED));
        }
        let Some(length) = length.checked_sub(snapshot) else { return Ok(Err(DAMAGED)) };
        let (position, offset) = (chunk.position, at + CHUNK_HEADER);
        let interrupted = chunk.interrupted != 0;
        let stream = self.stream(chunk.stream);
        stream.pieces.push(Piece { position, length, offset, skip: snapshot, stored, snapshot, interrupted });
        stream.inside = Some((chunk.inside, chunk.inside_at)).filter(|inside| inside.0 != 0);
        Ok(Ok(size))
    }

    /// The window of a slab, whose words for the trace are at that offset: the part of a signal handler, if one runs,
    /// and of whom it interrupted.
    fn window(&mut self, offset: u64) -> io::Result<Result<(), &'static str>> {
        const NOWHERE: &str = "the end of a thread's trace is nowhere";
        let mut words = [0_u64; TraceWord::WINDOW as usize];
        self.file.read_exact_at(words.as_mut_bytes(), offset)?;
        let word = |word: u64| words[usize::try_from(word).expect("a few")];
        let state = word(TraceWord::STATE);
        let mut at = TraceInterrupted {
            cursor: word(TraceWord::CURSOR),
            position: word(TraceWord::POSITION),
            stream: word(TraceWord::STREAM),
            start: word(TraceWord::START),
            snapshot: word(TraceWord::SNAPSHOT),
            interrupted: word(TraceWord::INTERRUPTED),
            frame: 0,
        };
        if at.stream == 0 {
            return Ok(Ok(()));
        }
        if state != TraceState::ON {
            self.has_window(at.stream, at.position);
            let stream = self.stream(at.stream);
            (stream.cut, stream.lost) = (state == TraceState::CUT, state == TraceState::LOST);
            return Ok(Ok(()));
        }
        let mut end = TRACE_WINDOW + TRACE_SLACK;
        loop {
            let [from, to] = [at.start, at.cursor].map(|cursor| cursor.wrapping_add(TRACE_WINDOW));
            if from > to || to > end || at.stream == 0 {
                return Ok(Err(NOWHERE));
            }
            self.has_window(at.stream, at.position);
            // A process that was killed has not told all of its stack, and nothing after it.
            if let Some(length) = (to - from).checked_sub(at.snapshot) {
                let offset = offset + TraceWord::WINDOW * 8 + from;
                let (position, snapshot, stored) = (at.position, at.snapshot, to - from);
                let piece = Piece { position, length, offset, skip: snapshot, stored, snapshot, interrupted: false };
                self.stream(at.stream).pieces.push(piece);
            }
            let Some(header) = at.interrupted.checked_sub(1) else { return Ok(Ok(())) };
            if header.saturating_add(size_of::<TraceInterrupted>() as u64) > from {
                return Ok(Err(NOWHERE));
            }
            let mut bytes = [0; size_of::<TraceInterrupted>()];
            self.file.read_exact_at(&mut bytes, offset + TraceWord::WINDOW * 8 + header)?;
            let outer: TraceInterrupted = transmute!(bytes);
            let written = outer.cursor.wrapping_sub(outer.start).wrapping_sub(outer.snapshot);
            self.stream(at.stream).inside = Some((outer.stream, outer.position.wrapping_add(written)));
            (at, end) = (outer, header);
        }
    }

    /// All streams, with each byte of them once: a process that was killed while it emptied a window has it twice.
    fn finish(self) -> Result<Vec<Stream>, &'static str> {
        let mut streams: Vec<Stream> = self.streams.into_values().collect();
        for stream in &mut streams {
            stream.pieces.sort_unstable();
            let mut end = 0_u64;
            for piece in &mut stream.pieces {
                let next = piece.position.checked_add(piece.length).ok_or("a piece of the trace is nowhere")?;
                let twice = end.saturating_sub(piece.position).min(piece.length);
                piece.position += twice;
                piece.length -= twice;
                piece.skip += twice;
                piece.snapshot = if twice > 0 { 0 } else { piece.snapshot };
                end = end.max(next);
            }
            stream.pieces.retain(|piece| piece.length > 0 || piece.snapshot > 0 || piece.interrupted);
            stream.gone &= stream.pieces.is_empty();
        }
        Ok(streams)
    }
}

/// Reads the pieces of a stream.
#[derive(Debug)]
pub struct Bytes<'a> {
    file: &'a File,
    /// The pieces that are left, the first in part.
    pieces: &'a [Piece],
    /// How many bytes of the record before the first piece are left.
    snapshot: u64,
    done: u64,
    /// The bytes of the compressed chunk that was decoded last, and where that is in the file.
    decoded: Option<(u64, Vec<u8>)>,
}

impl Bytes<'_> {
    /// Was the thread interrupted behind the last of them?
    pub(super) fn are_interrupted(&self) -> bool {
        self.pieces.last().is_some_and(|piece| piece.interrupted)
    }

    /// Reads bytes of a piece's chunk, from one of them on, up to so many.
    fn read_chunk(&mut self, piece: Piece, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if !piece.is_packed() {
            return self.file.read_at(buffer, piece.offset + from);
        }
        let decoded = match self.decoded.take() {
            Some((offset, decoded)) if offset == piece.offset => decoded,
            _ => self.decode(piece)?,
        };
        let read = (&decoded[usize::try_from(from).unwrap_or(usize::MAX).min(decoded.len())..]).read(buffer)?;
        self.decoded = Some((piece.offset, decoded));
        Ok(read)
    }

    fn decode(&self, piece: Piece) -> io::Result<Vec<u8>> {
        const DAMAGED: &str = "a compressed piece of the trace is damaged";
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, DAMAGED);
        let [mut stored, mut whole] =
            [piece.stored, piece.whole()].map(|bytes| vec![0; usize::try_from(bytes).unwrap_or(0)]);
        self.file.read_exact_at(&mut stored, piece.offset)?;
        let length = lz4_flex::block::decompress_into(&stored, &mut whole).map_err(|_| damaged())?;
        if length == whole.len() { Ok(whole) } else { Err(damaged()) }
    }
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.snapshot == 0 && self.pieces.first().is_some_and(|piece| piece.length == 0) {
            self.pieces = &self.pieces[1..];
        }
        let Some(&piece) = self.pieces.first() else { return Ok(0) };
        let (from, left) = match self.snapshot {
            0 => (piece.skip + self.done, piece.length - self.done),
            snapshot => (piece.skip - snapshot, snapshot),
        };
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.read_chunk(piece, from, &mut buffer[..wanted])?;
        if read == 0 && wanted > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match self.snapshot {
            0 => self.done += read as u64,
            _ => self.snapshot -= read as u64,
        }
        if self.snapshot == 0 && self.done == piece.length {
            self.pieces = &self.pieces[1..];
            self.done = 0;
        }
        Ok(read)
    }
}

/// More bytes at once are not read.
const AT_ONCE: usize = 1 << 16;

impl Source for Bytes<'_> {
    fn more(&mut self, to: &mut Vec<u8>) -> Result<bool, String> {
        let length = to.len();
        to.resize(length + AT_ONCE, 0);
        let read = self.read(&mut to[length..]).map_err(|error| error.to_string());
        to.truncate(length + read.as_ref().copied().unwrap_or(0));
        read.map(|read| read > 0)
    }
}
