//! The raw profile: what the runtime writes while the program runs, as it stands in the file mapping.
//!
//! All integers are little-endian and naturally aligned. The file is
//!
//! ```text
//! RawHeader            one page (4096 bytes)
//! EarlyEntry × early_capacity     an open-addressing hash table (linear probing by `early_slot`), at early_offset
//! slab 0, slab 1, …    counter_count × u64 each, padded to slab_stride (whole pages), from slabs_offset on
//! SegmentHeader, entries × capacity     segments, each on whole pages, anywhere behind slab 0
//! ```
//!
//! Counters of paths, and what is behind them in a slab, may be holes of the file ([`slab_sparse_bytes`]).
//!
//! A counter's value is the sum over the slabs. [Segments](SegmentHeader) form a list that begins at `segment_head`,
//! newest first; they may take the places of slabs: a slab that a segment overlaps is none. Hash tables of paths are
//! segments; the count of a key is the sum over all buckets of all of them that have it. While the program runs the
//! file is called `NAME.PID.live` and its state is [`State::RUNNING`]; when the run ends it is completed, checksummed
//! and renamed to `NAME`. A process that is killed leaves the `.live` file: its counters are right, the frames that
//! were alive are unknown. (A finished file keeps its `.live` name if the program took away the right to rename it: the
//! state counts, not the name.)
//!
//! `NAME` is the pattern in the environment variable `COTREE_FILE`, or the one that was built in, or `%n.%p.cotree`,
//! where `%n` is the unit's name (without the hash that cargo links it with, where the program runs by a name without
//! it), `%p` the process, `%m` the unit id in hexadecimal, `%h` the host and `%%` a percent sign. A name that is taken
//! by an earlier process of the same number gets `%p` = `PID-2` and so on. Where a pattern can't tell apart the files
//! of one run, what is missing is put before the final `.cotree`, or at the end: `.NAME` of a shared library if there
//! is neither `%n` nor `%m`, `.PID` of a forked child if there is no `%p`, and `.2`, `.3` and so on where this very
//! process has written a profile of that name before.
//!
//! With `%4m` (1 to 9) the profile is added to one of four files of that name when it is complete, where `%4m` is the
//! unit id, `_` and a number from 0: pools. Until then, and if it can't be added (it has segments), `%4m` is the unit
//! id, a dot and `%p`. Beside a pool there may be a file of its name and `.joining`, after a kill: the profile of one
//! run more, unless the pool's header says that it was added last.

mod descriptor;
mod early;
mod header;
mod paths;
mod registers;
mod segment;
mod slab;
mod stack;
mod trace;
pub mod until;

pub use crate::checksum::{BodyChecksum, Checksum, checksum};
pub use descriptor::{ABI, Access, UnitDescriptor};
pub use early::{AT_LANDING_PAD, EarlyEntry, HANDLER, INTERRUPTED, TOTAL, early_slot, mixed, total_kind, total_of};
pub use header::{Flags, MAGIC, RawHeader, State, TEST_NAME_SIZE, VERSION};
pub use paths::{ABANDONED, ADDRESS_MASK, PathBucket, VALUE_SHIFT, path_slot};
pub use registers::{FUNCTION_MAGIC, FunctionPrefix, RegisterReturn, RegisterValue};
pub use segment::{SEGMENT_MAGIC, SegmentHeader, SegmentKind, segment_size};
pub use slab::{HandlerWord, HiddenWord, MORE_WORDS, OUTERMOST, QueryWord, TO_ZEROS, slab_sparse_bytes, slab_stride};
pub use stack::{COUNTERS_ADDRESS, FIRST_ADDRESS, MACHINE_REGISTER, StackEntry};
pub use trace::{
    TRACE_GAP, TRACE_SLACK, TRACE_STACK_CUT, TRACE_WINDOW, TraceChunk, TraceInterrupted, TracePlace, TraceRecord,
    TraceState, TraceWord,
};

/// Page size that offsets and strides are multiples of.
pub const PAGE: u64 = 4096;
