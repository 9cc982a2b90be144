//! The header page of a raw profile.

use super::PAGE;
#[cfg(doc)]
use super::{EarlyEntry, HANDLER, INTERRUPTED, PathBucket, TOTAL, TraceState, TraceWord, checksum};

/// First bytes of a raw profile.
pub const MAGIC: [u8; 8] = *b"COTREERW";
/// The longest name of a test, in bytes.
pub const TEST_NAME_SIZE: usize = 512;
/// Version of this layout.
pub const VERSION: u32 = 1;

/// Values of [`RawHeader::state`].
pub struct State;
impl State {
    /// The program runs, or was killed.
    pub const RUNNING: u32 = 1;
    /// The process ended by `exit`, a return from `main`, `_exit`, `quick_exit`, or called `exec`.
    pub const FINISHED: u32 = 2;
    /// The process called `abort`, or was ended by a signal that it left at its default; the frames alive then were
    /// recorded.
    pub const ABORTED: u32 = 3;
    /// A snapshot of a running process: live frames are not accounted for unless it was taken by the process itself.
    pub const SNAPSHOT: u32 = 4;
}

/// What happened that recovery must know: a set of such things.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct Flags(u64);

impl Flags {
    /// Nothing of it.
    pub const NONE: Self = Self(0);
    /// Built for one thread, but threads were started: increments may have been lost.
    pub const THREADS_UNEXPECTED: Self = Self(1 << 0);
    /// Threads (see `threads_alive`) were still alive at the end and their frames are not accounted for. Ordinarily
    /// they are: threads are stopped to account for themselves, but not before an `exec`, and one may fail to answer,
    /// or be gone already by the system call itself.
    pub const THREADS_ALIVE: Self = Self(1 << 1);
    /// A walk of a dying stack did not reach its bottom.
    pub const WALK_INCOMPLETE: Self = Self(1 << 2);
    /// The table of early exits was full: some are missing.
    pub const EARLY_TABLE_FULL: Self = Self(1 << 3);
    /// `longjmp` to a frame that was not on the walked stack.
    pub const FOREIGN_JUMP: Self = Self(1 << 4);
    /// A frame was abandoned at an instruction that is no call (left by a jump out of a signal handler). It concerns
    /// the functions that have an [`INTERRUPTED`] entry, and none if that lies in code that is not profiled.
    pub const INTERRUPTED_FRAME: Self = Self(1 << 5);
    /// A thread ended by cancellation that could not be followed.
    pub const THREAD_CANCELLED: Self = Self(1 << 6);
    /// A thread ran without being registered: it shared the main thread's slab.
    pub const THREAD_UNREGISTERED: Self = Self(1 << 7);
    /// Counters were not in a file mapping; the file was written at the end.
    pub const NOT_MAPPED: Self = Self(1 << 8);
    /// The counts begin at a call of `cotree_reset`, or where the run asked for it.
    pub const RESET: Self = Self(1 << 9);
    /// No room for another thread's slab (disk or memory full): its counts went to the shared slab.
    pub const SLAB_SHARED: Self = Self(1 << 10);
    /// Another process wrote into this mapping (made by a raw `clone`, or by a `vfork` that ended unseen).
    pub const FOREIGN_PROCESS: Self = Self(1 << 11);
    /// A shared library in a program that is not profiled: jumps, exceptions, threads and `_exit` went unseen. Or an
    /// executable with an unwinder of its own, linked without the hooks: exceptions went unseen.
    pub const UNHOOKED: Self = Self(1 << 12);
    /// No room for a table of paths: counts of paths in hash tables are missing, and path registers of abandoned
    /// activations.
    pub const PATHS_MISSING: Self = Self(1 << 13);
    /// Code of the unit's image was a signal handler at the end, though nothing in the program installs handlers (a
    /// shared library did, or a system call). If one of the [`HANDLER`] entries is a function that counts, increments
    /// that it interrupted may have been lost.
    pub const HANDLER_UNFORESEEN: Self = Self(1 << 14);
    /// There was no room for the whole trace: some streams end early ([`TraceState::CUT`]).
    pub const TRACE_CUT: Self = Self(1 << 15);
    /// Parts of the trace are not known ([`TraceState::LOST`]), or may be wrong: a signal handler forked, or was
    /// installed in a way that was not seen.
    pub const TRACE_LOST: Self = Self(1 << 16);
    /// Calls are measured ([`TOTAL`]): counters and the entries of early exits are sums modulo 2⁶⁴, and are added as
    /// such.
    pub const CALL_SUMS: Self = Self(1 << 17);
    /// The events of a signal handler may count for the calls that it interrupted, or its paths may go on with theirs:
    /// handlers interrupted each other too deep, one forked, or was installed in a way that was not seen.
    pub const HANDLERS_MIXED: Self = Self(1 << 18);
    /// Some thread did not record for a while ([`TraceState::OFF`]).
    pub const TRACE_PAUSED: Self = Self(1 << 19);
    /// Other threads were there when the counts began ([`Flags::RESET`]): their frames were not accounted for.
    pub const RESET_AMONG_THREADS: Self = Self(1 << 20);

    /// All that this version knows.
    pub const KNOWN: Self = Self((Self::RESET_AMONG_THREADS.0 << 1) - 1);

    /// The set of these bits, whether they are known or not.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits of the set.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether any of the others is in the set.
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// What is in either set.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// What is in both sets.
    #[must_use]
    pub const fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// The set without the others.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

impl core::ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, others: Self) -> Self {
        self.with(others)
    }
}

impl core::ops::BitOrAssign for Flags {
    fn bitor_assign(&mut self, others: Self) {
        self.0 |= others.0;
    }
}

/// The header page.
#[repr(C)]
#[cfg_attr(feature = "readers", derive(Clone, Debug, PartialEq, Eq))]
#[cfg_attr(
    feature = "readers",
    derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)
)]
pub struct RawHeader {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// One of [`State`].
    pub state: u32,
    /// The link unit's id: ties the profile to one build of one binary.
    pub unit: [u8; 16],
    /// The process.
    pub pid: u32,
    /// Threads alive at the end whose frames are not accounted for.
    pub threads_alive: u32,
    /// Nanoseconds since the epoch at start.
    pub started_ns: u64,
    /// Nanoseconds since the epoch at the end; 0 while running.
    pub ended_ns: u64,
    /// What happened.
    pub flags: Flags,
    /// Counters per slab.
    pub counter_count: u64,
    /// File offset of slab 0.
    pub slabs_offset: u64,
    /// Bytes from one slab to the next.
    pub slab_stride: u64,
    /// Slabs in the file.
    pub slab_count: u64,
    /// File offset of the table of early exits.
    pub early_offset: u64,
    /// The slots of that table (a power of two).
    pub early_capacity: u64,
    /// [`checksum`] of all the bytes after the header page; meaningful unless RUNNING or THREADS_ALIVE.
    pub body_checksum: u64,
    /// [`checksum`] of the header page with this field zero; meaningful unless RUNNING.
    pub header_checksum: u64,
    /// Bytes used of `binary`.
    pub binary_len: u32,
    /// Bytes used of `command`.
    pub command_len: u32,
    /// Absolute path of the link unit's file as it was loaded.
    pub binary: [u8; 2048],
    /// The command line, arguments separated by NUL, cut if longer.
    pub command: [u8; 1024],
    /// File offset of the newest segment; 0: there is none.
    pub segment_head: u64,
    /// What is added up along paths, in [`PathBucket::metric`] and in words behind the counts of arrays and windows: 0
    /// nothing, 1 what the program reports with `cotree_events`, 2 time stamps of the processor.
    pub path_metric: u32,
    /// Zero.
    pub reserved_word: u32,
    /// The first of the [`TraceWord`]s of a slab; 0: nothing is traced.
    pub trace_word: u64,
    /// How many runs of a pool, which is the sum of several, ended in [`State::FINISHED`]. Both this and the next one
    /// are 0 in the profile of one run. (`started_ns` is then the first one's, `ended_ns` the last one's.)
    pub runs_finished: u64,
    /// How many ended in [`State::ABORTED`].
    pub runs_aborted: u64,
    /// In a pool, `started_ns` of the run that was added last. `pid` is that one's, too.
    pub last_started_ns: u64,
    /// Bytes used of `test`.
    pub test_len: u32,
    /// Zero.
    pub reserved_half: u32,
    /// The name of the test that the program ran in: what the environment said at the start, in `COTREE_TEST`, or as
    /// nextest or pytest tell it to programs that they run. A longer one is cut, and ends with `#` and a hash.
    pub test: [u8; TEST_NAME_SIZE],
    /// Zeros up to the end of the page.
    pub reserved: [u8; 320],
}
const _: () = assert!(core::mem::size_of::<RawHeader>() == PAGE as usize);
