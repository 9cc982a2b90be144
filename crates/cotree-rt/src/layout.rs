//! The raw profile: what the runtime writes while the program runs, as it stands in the file mapping.
//!
//! All integers are little-endian and naturally aligned. The file is
//!
//! ```text
//! RawHeader            one page (4096 bytes)
//! EarlyEntry × early_capacity     an open-addressing hash table (linear probing by `early_slot`), at early_offset
//! slab 0, slab 1, …    counter_count × u64 each, padded to slab_stride (whole pages), from slabs_offset on
//! PathSegmentHeader, PathBucket × capacity     hash tables of paths, each on whole pages, anywhere behind slab 0
//! ```
//!
//! Counters of paths, and what is behind them in a slab, may be holes of the file ([`slab_hole`]).
//!
//! A counter's value is the sum over the slabs. Path segments form a list that begins at `path_head`, newest first; they may
//! take the places of slabs: a slab that a segment overlaps is none. The count of a key is the sum over all buckets of all
//! segments that have it. While the program runs the file is called `NAME.PID.live` and its state
//! is [`State::RUNNING`]; when the run ends it is completed, checksummed and renamed to `NAME`. A process that is killed
//! leaves the `.live` file: its counters are right, the frames that were alive are unknown. (A finished file keeps its
//! `.live` name if the program took away the right to rename it: the state counts, not the name.)
//!
//! `NAME` is the pattern in the environment variable `COTREE_FILE`, or `%n.%p.cotree`, where `%n` is the unit's name
//! (without the hash that cargo links it with, where the program runs by a name without it),
//! `%p` the process, `%m` the unit id in hexadecimal, `%h` the host and `%%` a percent sign. A name that is taken by an
//! earlier process of the same number gets `%p` = `PID-2` and so on. Where a pattern can't tell apart the files of one
//! run, what is missing is put before the final `.cotree`, or at the end: `.NAME` of a shared library if there is neither
//! `%n` nor `%m`, `.PID` of a forked child if there is no `%p`.

pub use crate::checksum::{BodyChecksum, Checksum, checksum};

/// First bytes of a raw profile.
pub const MAGIC: [u8; 8] = *b"COTREERW";
/// Version of this layout.
pub const VERSION: u32 = 4;
/// The oldest version that readers still understand: without path segments.
pub const OLDEST_VERSION: u32 = 1;
/// Version of the interface between generated code, unit descriptor and runtime.
pub const ABI: u32 = 5;
/// Page size that offsets and strides are multiples of.
pub const PAGE: u64 = 4096;

/// Values of [`RawHeader::state`].
pub struct State;
impl State {
    /// The program runs, or was killed.
    pub const RUNNING: u32 = 1;
    /// It ended by `exit`, a return from `main`, `_exit`, `quick_exit`, or called `exec`.
    pub const FINISHED: u32 = 2;
    /// It called `abort`; the frames alive then were recorded.
    pub const ABORTED: u32 = 3;
    /// A snapshot of a running process: live frames are not accounted for unless it was taken by the process itself.
    pub const SNAPSHOT: u32 = 4;
}

/// Bits of [`RawHeader::flags`]: what happened that recovery must know.
pub struct Flags;
impl Flags {
    /// Built for one thread, but threads were started: increments may have been lost.
    pub const THREADS_UNEXPECTED: u64 = 1 << 0;
    /// Threads (see `threads_alive`) were still alive at the end and their frames are not accounted for. Ordinarily they
    /// are: threads are stopped to account for themselves, but not before an `exec`, and one may fail to answer, or be gone
    /// already by the system call itself.
    pub const THREADS_ALIVE: u64 = 1 << 1;
    /// A walk of a dying stack did not reach its bottom.
    pub const WALK_INCOMPLETE: u64 = 1 << 2;
    /// The table of early exits was full: some are missing.
    pub const EARLY_TABLE_FULL: u64 = 1 << 3;
    /// `longjmp` to a frame that was not on the walked stack.
    pub const FOREIGN_JUMP: u64 = 1 << 4;
    /// A frame was abandoned at an instruction that is no call (left by a jump out of a signal handler). It concerns the
    /// functions that have an [`INTERRUPTED`] entry, and none if that lies in code that is not profiled.
    pub const INTERRUPTED_FRAME: u64 = 1 << 5;
    /// A thread ended by cancellation that could not be followed.
    pub const THREAD_CANCELLED: u64 = 1 << 6;
    /// A thread ran without being registered: it shared the main thread's slab.
    pub const THREAD_UNREGISTERED: u64 = 1 << 7;
    /// Counters were not in a file mapping; the file was written at the end.
    pub const NOT_MAPPED: u64 = 1 << 8;
    /// `cotree_reset` was called: the counts begin there.
    pub const RESET: u64 = 1 << 9;
    /// No room for another thread's slab (disk or memory full): its counts went to the shared slab.
    pub const SLAB_SHARED: u64 = 1 << 10;
    /// Another process wrote into this mapping (made by a raw `clone`, or by a `vfork` that ended unseen).
    pub const FOREIGN_PROCESS: u64 = 1 << 11;
    /// A shared library in a program that is not profiled: jumps, exceptions, threads and `_exit` went unseen. Or an
    /// executable with an unwinder of its own, linked without the hooks: exceptions went unseen.
    pub const UNHOOKED: u64 = 1 << 12;
    /// No room for a table of paths: counts of paths in hash tables are missing, and path registers of abandoned
    /// activations.
    pub const PATHS_MISSING: u64 = 1 << 13;
    /// Code of the unit's image was a signal handler at the end, though nothing in the program installs handlers (a shared
    /// library did, or a system call). If one of the [`HANDLER`] entries is a function that counts, increments that it
    /// interrupted may have been lost.
    pub const HANDLER_UNFORESEEN: u64 = 1 << 14;
}

/// The header page.
#[repr(C)]
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
    /// Bits of [`Flags`].
    pub flags: u64,
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
    /// Its slots (a power of two).
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
    /// File offset of the newest path segment; 0: there is none. (Since version 2.)
    pub path_head: u64,
    /// What is added up along paths, in [`PathBucket::metric`] and in words behind the counts of arrays and windows: 0
    /// nothing, 1 what the program reports with `cotree_events`, 2 time stamps of the processor.
    pub path_metric: u32,
    /// Zeros up to the end of the page.
    pub reserved: [u8; 876],
}
const _: () = assert!(core::mem::size_of::<RawHeader>() == PAGE as usize);

/// A slot of the table of early exits.
///
/// The runtime does not know which code is profiled: it records every frame in the unit's image, those of start-up code
/// and of libraries linked statically too. Addresses that are no known call site of a profiled function mean nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyEntry {
    /// Return address of the call during which the activation left, as the link-time address (run-time address less
    /// load bias); 0: free slot. For an interrupted frame (see [`INTERRUPTED`]) the address of the instruction.
    pub address: u64,
    /// Activations abandoned there less activations revived there.
    pub count: i64,
}

/// Set in [`EarlyEntry::address`] when it is not a return address: the frame was interrupted there by a signal.
pub const INTERRUPTED: u64 = 1 << 63;
/// Set in [`EarlyEntry::address`] when an exception landed in this frame while it was in the call that returns to the
/// address: of the functions inlined there only those inside the first invoke are abandoned.
pub const LANDED: u64 = 1 << 62;

/// Both: no activation, but the address of a function that was a signal handler at the end
/// ([`Flags::HANDLER_UNFORESEEN`]).
pub const HANDLER: u64 = INTERRUPTED | LANDED;

/// First bytes of a path segment.
pub const PATH_MAGIC: [u8; 8] = *b"COTPATHS";

/// Before the buckets of a path segment, on a page boundary.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathSegmentHeader {
    /// [`PATH_MAGIC`].
    pub magic: [u8; 8],
    /// How many buckets follow: a power of two.
    pub capacity: u64,
    /// File offset of the next older segment; 0: this is the oldest.
    pub next: u64,
    /// Buckets in use, about.
    pub used: u64,
    /// Zeros.
    pub reserved: [u64; 4],
}
const _: () = assert!(core::mem::size_of::<PathSegmentHeader>() == 64);

/// A slot of the hash table of paths. A key, once there, never changes or moves; it may be there several times. A bucket
/// with count 0 means nothing, whatever its key: a process that was killed may have left it half written.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathBucket {
    /// 0: free. Else 1 + the number of the function in the unit; or, with [`ABANDONED`], a call during which activations
    /// were abandoned: [`LANDED`] as in the table of early exits, in bits 48..56 which of the values known there `path` is, and
    /// below the return address.
    pub function: u64,
    /// 1 + the number of the path, or the path register at the call. Before version 4 just the number.
    pub path: u64,
    /// How often; for abandoned activations an `i64`, less those revived.
    pub count: u64,
    /// The sum of [`RawHeader::path_metric`].
    pub metric: u64,
}
const _: () = assert!(core::mem::size_of::<PathBucket>() == 32);

/// Set in [`PathBucket::function`] when the bucket counts abandoned activations by their path register.
pub const ABANDONED: u64 = 1 << 63;
/// Where [`PathBucket::function`] says which of the values known at the return address the register is.
pub const VALUE_SHIFT: u32 = 48;
/// The bits of the return address in [`PathBucket::function`].
pub const ADDRESS_MASK: u64 = (1 << VALUE_SHIFT) - 1;

/// First slot to try for an address in a table of `capacity` (a power of two) slots.
#[must_use]
pub const fn early_slot(address: u64, capacity: u64) -> u64 {
    (mixed(address) >> 32) & (capacity - 1)
}

/// The address with its bits mixed, in the upper half.
#[must_use]
pub const fn mixed(address: u64) -> u64 {
    address.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Values of [`UnitDescriptor::threaded`]: how generated code reaches its counters.
pub struct Access;
impl Access {
    /// They are the globals `__cotree_counters`.
    pub const DIRECT: u32 = 0;
    /// Through the thread's slab pointer, the TLS word `__cotree_slab`.
    pub const WORD: u32 = 1;
    /// At `__cotree_counters` plus the base of the segment register GS. Functions that others may call count their entries
    /// in the slab that the TLS word leads to, or write to its spare counter: in slab 0 that tells of threads that were not
    /// given a slab.
    pub const SEGMENT: u32 = 2;
}

/// What the linked unit tells the runtime; symbol `__cotree_unit` (hidden).
#[repr(C)]
pub struct UnitDescriptor {
    /// [`ABI`].
    pub abi: u32,
    /// One of [`Access`].
    pub threaded: u32,
    /// The unit id.
    pub id: [u8; 16],
    /// `__cotree_counters`: page-aligned, padded to whole pages; slab 0.
    pub counters: *mut u64,
    /// How many, without the spare one behind them, whose value means nothing.
    pub counter_count: u64,
    /// Suggested capacity of the table of early exits (a power of two).
    pub early_capacity: u64,
    /// The unit's name, NUL-terminated: `%n` in file name patterns.
    pub name: *const core::ffi::c_char,
    /// 1 for an executable, 0 for a shared library.
    pub executable: u32,
    /// 1: generated code counts paths.
    pub counts_paths: u32,
    /// Words of a slab behind the counters that say how many bytes behind the slab's bucket of zeros some bucket is.
    /// [`MORE_WORDS`] follow.
    pub cache_count: u64,
    /// How many machine functions `register_index` knows.
    pub register_functions: u64,
    /// Per machine function by its number, and one more: where its part of `register_returns` begins.
    pub register_index: *const u32,
    /// By offset in each function; one more at the end.
    pub register_returns: *const RegisterReturn,
    /// See [`RegisterValue`]; long constants are among them.
    pub register_values: *const u64,
    /// The first counter that counts paths, in an array or a window; the number of counters if there is none.
    pub path_words: u64,
    /// As [`RawHeader::path_metric`].
    pub path_metric: u32,
    /// 1: whatever function has its address taken may interrupt any other and not cost a count. 0: the link saw nobody who
    /// would install handlers.
    pub handlers_foreseen: u32,
    /// How many there are of `announcing`.
    pub announcing_count: u64,
    /// The counters that are reached by the TLS word though all others are reached by segment.
    pub announcing: *const u64,
}

/// Words of a slab behind counters and caches: one that nobody reads, the address of the table of paths in use, and a
/// [`PathBucket`] that stays zeros.
pub const MORE_WORDS: u64 = 6;
/// The first word of that bucket, from the one that nobody reads.
pub const TO_ZEROS: u64 = 2;

/// Bytes of a slab: counters, caches, and [`MORE_WORDS`].
#[must_use]
pub const fn slab_stride(counter_count: u64, cache_count: u64) -> u64 {
    ((counter_count + cache_count + MORE_WORDS) * 8).next_multiple_of(PAGE)
}

/// The bytes of a slab of an executable that take room on the disk only as they are written to: whole pages of path
/// arrays, windows and caches, unless these are few. Of the rest each byte has its room from the start, so that counting needs none.
#[must_use]
pub const fn slab_hole(path_words: u64, counter_count: u64, cache_count: u64) -> core::ops::Range<u64> {
    let start = (path_words * 8).next_multiple_of(PAGE);
    let end = (counter_count + cache_count) * 8 / PAGE * PAGE;
    if end < start + SMALL_HOLE { start..start } else { start..end }
}

/// Below this a slab has no hole.
const SMALL_HOLE: u64 = 1 << 20;

/// What stands before the first instruction of a machine function whose calls have values in [`RegisterReturn`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionPrefix {
    /// [`FUNCTION_MAGIC`].
    pub magic: u64,
    /// Its number in the code map.
    pub number: u32,
    /// Zero.
    pub reserved: u32,
}

/// First bytes of a [`FunctionPrefix`].
pub const FUNCTION_MAGIC: u64 = 0xC07E_1EA7_0F9A_7495;

/// A call at which path registers can be found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterReturn {
    /// The return address, relative to the function.
    pub offset: u32,
    /// Its first value; the next one's ends them.
    pub value: u32,
}

/// Where a value is while a call is under way, as one word: the kind in bits 0–7, a register (by its DWARF number) in bits
/// 8–15, a signed number in bits 32–63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterValue {
    /// It is always this.
    Constant(i32),
    /// It is always this element of the table.
    LongConstant(u32),
    /// In a register that callees preserve.
    Register(u8),
    /// In memory, so far from the register's value (the stack pointer's is that after the return).
    Memory(u8, i32),
    /// The number of a word of slab 0, less this table's element after that one; that one says, as such a word, where the
    /// address of that word is.
    Address(u32),
}

impl RegisterValue {
    /// As a word.
    #[must_use]
    pub const fn pack(self) -> u64 {
        let (kind, register, number) = match self {
            Self::Constant(number) => (1, 0, number),
            Self::LongConstant(index) => (2, 0, index.cast_signed()),
            Self::Register(register) => (3, register, 0),
            Self::Memory(register, offset) => (4, register, offset),
            Self::Address(index) => (5, 0, index.cast_signed()),
        };
        kind | (register as u64) << 8 | (number.cast_unsigned() as u64) << 32
    }

    /// From a word.
    #[must_use]
    pub const fn unpack(word: u64) -> Option<Self> {
        let (register, number) = ((word >> 8) as u8, (word >> 32) as i32);
        Some(match word & 0xFF {
            1 => Self::Constant(number),
            2 => Self::LongConstant(number.cast_unsigned()),
            3 => Self::Register(register),
            4 => Self::Memory(register, number),
            5 => Self::Address(number.cast_unsigned()),
            _ => return None,
        })
    }
}

/// First bucket to try for a key in a path table of `capacity` (a power of two) buckets.
#[must_use]
pub const fn path_slot(function: u64, path: u64, capacity: u64) -> u64 {
    let mixed = path.wrapping_add(function.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) & (capacity - 1)
}
