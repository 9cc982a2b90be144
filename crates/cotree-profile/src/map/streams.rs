//! Byte streams: the wire form keeps each kind of number in a stream of its own.
//!
//! Line deltas resemble line deltas and branch shapes resemble branch shapes, so a general compressor does several
//! times better on each of them alone than on records that mix them. All numbers are LEB128; signed ones are zigzagged.

use super::MapError;

macro_rules! streams {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The streams of a map section, in file order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Stream { $($(#[$doc])* $name,)* }
        /// How many streams there are.
        pub(super) const STREAMS: usize = [$(Stream::$name,)*].len();
        /// Their names.
        pub(super) const NAMES: [&str; STREAMS] = [$(stringify!($name),)*];
    };
}

streams! {
    /// Counts and scalars of the unit.
    Unit,
    /// Lengths of the strings of the table.
    TextLength,
    /// The strings.
    Text,
    /// References to strings.
    TextRef,
    /// Per function: flags, position, counts.
    Function,
    /// Per block: what its terminator is.
    Shape,
    /// Targets of edges.
    Target,
    /// Values of switch cases, and the parts of edges that have no usual shape.
    Case,
    /// Instructions of a block that are neither of the following.
    Plain,
    /// Loads.
    Loads,
    /// Stores.
    Stores,
    /// Calls besides the call sites: how many.
    Calls,
    /// Floating-point operations.
    Float,
    /// Spans per block.
    SpanCount,
    /// Per span: which of its parts follow.
    SpanFlags,
    /// Line deltas.
    Line,
    /// Columns.
    Column,
    /// Files, inlined copies and preceding call sites of spans, where they are not foreseen.
    SpanContext,
    /// Per call site: flags.
    SiteFlags,
    /// Per call site: steps to its block; probe numbers out of order.
    SiteBlock,
    /// Callees.
    Callee,
    /// Inlined copies: flags, and parents that are not foreseen.
    Inlined,
    /// Inlined copies that are not foreseen: symbols.
    InlinedName,
    /// Inlined copies that are not foreseen: where they are called.
    InlinedCall,
    /// Per plan: its form.
    PlanForm,
    /// Per counter: where its probe stands.
    ProbeKind,
    /// Per counter of plans in no particular order: the block or edge, as a step from the one before.
    ProbeId,
    /// A bit per edge: is it measured?
    ProbeBits,
    /// Plans of no usual form.
    OddPlan,
    /// Machine functions.
    Code,
    /// Return offsets.
    Return,
    /// Chains of call sites at return points.
    Chain,
    /// Per function with path plans: flags and how many paths there are.
    Path,
    /// Where paths are cut.
    Cut,
    /// Per block with call sites: what the path register says there.
    AtCalls,
    /// What is added to the register, or its value.
    Prefix,
    /// Per return point: whose path registers can be found there.
    Register,
    /// Per function whose entries follow from its callers: which, and how many calls are not as its call sites tell.
    Entry,
    /// Those calls: their functions.
    Caller,
    /// Their blocks.
    CallBlock,
    /// How many call sites come before them.
    CallAfter,
    /// Paths that have words of their own in functions with too many for an array.
    Window,
    /// What is added up along paths, if anything is.
    Metric,
    /// Edges that need no counter: in which functions, how many, which, and what they follow from.
    Fixed,
    /// Arcs of path graphs that are numbered apart.
    Apart,
    /// Per call that is no call site: flags.
    CallFlags,
    /// Per call that is no call site: how many call sites of the block come before it.
    CallPlace,
    /// Callees of calls that are no call sites.
    CallName,
    /// Per call: whether the source has it, and in which span of its block, as a step from the likely one.
    CallLine,
    /// Per call that the source has: the step from its span's column to its own.
    CallColumn,
}

/// How many streams maps of version 1 have: the first ones.
pub(super) const STREAMS_1: usize = Stream::Path as usize;
/// The same of version 2.
pub(super) const STREAMS_2: usize = Stream::Entry as usize;
/// How many of them version 3 had.
pub(super) const STREAMS_3: usize = Stream::Window as usize;
/// How many of them version 4 had.
pub(super) const STREAMS_4: usize = Stream::Metric as usize;
/// How many of them version 5 had.
pub(super) const STREAMS_5: usize = Stream::Fixed as usize;
/// How many of them version 6 had.
pub(super) const STREAMS_6: usize = Stream::Apart as usize;
/// How many of them versions 7 and 8 had.
pub(super) const STREAMS_8: usize = Stream::CallFlags as usize;

/// Streams being written.
pub(super) struct Writer {
    streams: Vec<Vec<u8>>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self { streams: vec![Vec::new(); STREAMS] }
    }

    pub(super) fn put(&mut self, stream: Stream, mut value: u64) {
        let bytes = &mut self.streams[stream as usize];
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    }

    pub(super) fn put_signed(&mut self, stream: Stream, value: i64) {
        self.put(stream, ((value << 1) ^ (value >> 63)) as u64);
    }

    /// The step from one 32-bit number to another.
    pub(super) fn put_step(&mut self, stream: Stream, from: u32, to: u32) {
        self.put_signed(stream, i64::from(to) - i64::from(from));
    }

    pub(super) fn put_bytes(&mut self, stream: Stream, bytes: &[u8]) {
        self.streams[stream as usize].extend_from_slice(bytes);
    }

    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.streams
    }
}

/// Streams being read.
pub(super) struct Reader<'a> {
    rest: Vec<&'a [u8]>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(streams: &'a [Vec<u8>]) -> Self {
        Self { rest: streams.iter().map(Vec::as_slice).collect() }
    }

    pub(super) fn get(&mut self, stream: Stream) -> Result<u64, MapError> {
        let rest = &mut self.rest[stream as usize];
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, tail) = rest.split_first().ok_or(MapError::Ends(stream as usize))?;
            *rest = tail;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(MapError::Invalid("a number has more than 64 bits"))
    }

    pub(super) fn get_u32(&mut self, stream: Stream) -> Result<u32, MapError> {
        u32::try_from(self.get(stream)?).map_err(|_| MapError::Invalid("a number has more than 32 bits"))
    }

    pub(super) fn get_signed(&mut self, stream: Stream) -> Result<i64, MapError> {
        let value = self.get(stream)?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn get_step(&mut self, stream: Stream, from: u32) -> Result<u32, MapError> {
        let to = i64::from(from).checked_add(self.get_signed(stream)?);
        to.and_then(|to| u32::try_from(to).ok()).ok_or(MapError::Invalid("a step leads out of range"))
    }

    /// A number of things of which each takes at least one byte of `of`.
    pub(super) fn get_count(&mut self, stream: Stream, of: Stream) -> Result<usize, MapError> {
        let count = self.get(stream)?;
        let left = self.left(of);
        usize::try_from(count).ok().filter(|&n| n <= left).ok_or(MapError::Invalid("a count is larger than its stream"))
    }

    /// Bytes left in a stream.
    pub(super) fn left(&self, stream: Stream) -> usize {
        self.rest[stream as usize].len()
    }

    pub(super) fn get_bytes(&mut self, stream: Stream, length: usize) -> Result<&'a [u8], MapError> {
        let rest = &mut self.rest[stream as usize];
        let (bytes, tail) = rest.split_at_checked(length).ok_or(MapError::Ends(stream as usize))?;
        *rest = tail;
        Ok(bytes)
    }

    /// Nothing may be left over.
    pub(super) fn finish(self) -> Result<(), MapError> {
        if self.rest.iter().all(|rest| rest.is_empty()) {
            Ok(())
        } else {
            Err(MapError::Invalid("bytes are left over"))
        }
    }
}
