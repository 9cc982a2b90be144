//! The layout of a slab: the counters of one thread, then words for the internal use of generated code and the runtime.

use super::PAGE;
#[cfg(doc)]
use super::PathBucket;

/// Words of a slab behind counters and caches: one that nobody reads, the address of the table of paths in use, and a
/// [`PathBucket`] that stays zeros.
pub const MORE_WORDS: u64 = 6;
/// The first word of that bucket, from the one that nobody reads.
pub const TO_ZEROS: u64 = 2;

/// Words of a slab that serve queries of events, one set per kind, from [`super::UnitDescriptor::query_words`] on.
pub struct QueryWord;
impl QueryWord {
    /// 2^63 less the count at which the kind's limit is reached; 0 if there is none. Counters and this add up to a
    /// negative number, as signed ones go, once the limit has been reached.
    pub const LIMIT: u64 = 0;
    /// What the counters were when the thread began.
    pub const BASE: u64 = 1;
    /// Whom to call when the limit is reached.
    pub const CALLBACK: u64 = 2;
    /// The limit that the thread has set itself, as [`Self::LIMIT`] has it, which is the earlier one of this and
    /// [`Self::SHARE`].
    pub const OWN: u64 = 3;
    /// The thread's share of what is left to a limit of the whole process, as [`Self::LIMIT`] has it: 2^63 less the
    /// count at which it is used up.
    pub const SHARE: u64 = 4;
    /// How many there are.
    pub const COUNT: u64 = 5;
}

/// Words of a slab that keep what signal handlers interrupt while they run, from
/// [`super::UnitDescriptor::handler_words`] on. From [`Self::FIRST`] on stand, per handler: the address of its frame,
/// and what was kept where it began: the counter of each kind of event, or the word at
/// [`super::UnitDescriptor::addressee_word`].
pub struct HandlerWord;
impl HandlerWord {
    /// How many handlers run.
    pub const DEPTH: u64 = 0;
    /// Where the outermost one's words begin.
    pub const FIRST: u64 = 1;
    /// Handlers that interrupt each other deeper are not told apart.
    pub const MOST: u64 = 16;
}

/// Set in a word that says which activation of a function, or a call, is the outermost one: the other bits are the
/// address at which its return address stands. Without it there is none; the other bits then say where the last one was
/// that ended early, or nothing.
pub const OUTERMOST: u64 = 1 << 63;

/// Words of a slab that keep who was outermost where signal handlers began, behind the words that say so. From
/// [`Self::FIRST`] on stand pairs: the number of the word, with how many handlers ran already in its upper half, and
/// what the word was.
pub struct HiddenWord;
impl HiddenWord {
    /// How many pairs there are.
    pub const COUNT: u64 = 0;
    /// Where the first one stands.
    pub const FIRST: u64 = 1;
}

/// Bytes of a slab: counters, caches, and [`MORE_WORDS`].
#[must_use]
pub const fn slab_stride(counter_count: u64, cache_count: u64) -> u64 {
    ((counter_count + cache_count + MORE_WORDS) * 8).next_multiple_of(PAGE)
}

/// The bytes of a slab of an executable that take room on the disk only as they are written to: whole pages of path
/// arrays, windows and caches, unless these are few. Of the rest each byte has its room from the start, so that
/// counting needs none.
#[must_use]
pub const fn slab_sparse_bytes(path_words: u64, counter_count: u64, cache_count: u64) -> core::ops::Range<u64> {
    let start = (path_words * 8).next_multiple_of(PAGE);
    let end = (counter_count + cache_count) * 8 / PAGE * PAGE;
    if end < start + LEAST_SPARSE { start..start } else { start..end }
}

/// Below this a slab has no sparse part.
const LEAST_SPARSE: u64 = 1 << 20;
