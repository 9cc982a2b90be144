//! The descriptor of a link unit, by which its generated code describes itself to the runtime.

#[cfg(doc)]
use super::QueryWord;
use super::RegisterReturn;
#[cfg(doc)]
use super::RegisterValue;
#[cfg(doc)]
use super::{MORE_WORDS, RawHeader, TraceWord};

/// Version of the interface between generated code, unit descriptor and runtime.
pub const ABI: u32 = 2;

/// Values of [`UnitDescriptor::threaded`]: how generated code reaches its counters.
pub struct Access;
impl Access {
    /// Counters are the globals `__cotree_counters`.
    pub const DIRECT: u32 = 0;
    /// Through the thread's slab pointer, the TLS word `__cotree_slab`.
    pub const WORD: u32 = 1;
    /// At `__cotree_counters` plus the base of the segment register GS. Functions that others may call count their
    /// entries in the slab that the TLS word leads to, or write to its spare counter: in slab 0 that tells of threads
    /// that were not given a slab.
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
    /// 1: generated code counts paths; 2: debug information says, too, which path was under way at a fault.
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
    /// 1: whatever function has its address taken may interrupt any other and not cost a count. 0: the link saw nobody
    /// who would install handlers.
    pub handlers_foreseen: u32,
    /// How many there are of `thread_word_counters`.
    pub thread_word_counter_count: u64,
    /// The counters that are reached by the TLS word though all others are reached by segment.
    pub thread_word_counters: *const u64,
    /// The first of the [`TraceWord`]s of a slab; 0: nothing is traced.
    pub trace_word: u64,
    /// Bytes of the ring that all threads share and whose oldest part makes room for the newest; 0: all of the trace is
    /// kept.
    pub trace_ring: u64,
    /// 1: threads record nothing before they call `cotree_trace_start`.
    pub trace_off: u64,
    /// The kinds of events that are counted, each a bit by its number.
    pub event_kinds: u64,
    /// The first of their counters; each kind has two, one that is added to, and one for what is taken away.
    pub event_words: u64,
    /// The first of the [`QueryWord`]s of a slab, those of the first kind; 0: the program asks for nothing while it
    /// runs.
    pub query_words: u64,
    /// 1: there are safe points, at which the program learns that a limit is reached.
    pub event_limits: u64,
    /// 1: calls are measured ([`Flags::CALL_SUMS`](super::Flags::CALL_SUMS)).
    pub call_sums: u64,
    /// The first of the words of a slab that keep what signal handlers interrupt
    /// ([`HandlerWord`](super::HandlerWord)).
    pub handler_words: u64,
    /// The first of the words of a slab that say which activations are the outermost ones
    /// ([`OUTERMOST`](super::OUTERMOST)). Behind them stand those that keep what signal handlers interrupt
    /// ([`HiddenWord`](super::HiddenWord)).
    pub outermost_words: u64,
    /// How many there are; 0: none.
    pub outermost_count: u64,
    /// The sums of the first of them: one for each kind of events. Those of the others follow.
    pub outermost_sums: u64,
    /// How many words are kept at most while signal handlers run.
    pub most_hidden: u64,
    /// The word of a slab that says for which function a caller has left the path with which it calls; 0: paths do not
    /// pass between functions.
    pub addressee_word: u64,
    /// The pattern for the names of profiles that was built in, NUL-terminated, which holds where the environment has
    /// none; null: there is none.
    pub file_pattern: *const core::ffi::c_char,
    /// The first of the words of a slab that keep what the sums of outermost activations were when the thread began,
    /// one for each of [`Self::outermost_sums`]; 0: the program asks for nothing while it runs.
    pub outermost_bases: u64,
    /// How many lines there are whose calls the program asks about.
    pub queried_lines: u64,
    /// Per such line, and one more: where its part of `queried_words` begins.
    pub queried_index: *const u32,
    /// The outermost activations of which calls count for each line: numbers of their words.
    pub queried_words: *const u32,
}
