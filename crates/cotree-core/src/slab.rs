//! The words of a slab, in which the code of a link unit counts; each thread has a slab.

/// How many signal handlers may interrupt each other and have words that keep what they interrupted.
pub const MOST_HANDLERS: u64 = 16;

/// Allocates the words of a slab, from its beginning on.
///
/// Counters come first, and the runtime adds them up over all threads. Words after them ([`Self::end_counters`]) are
/// for internal use of the code: each thread has its own, and they are not part of the profile.
#[derive(Clone, Debug, Default)]
pub struct Words {
    next: u64,
    counters: Option<u64>,
}

impl Words {
    /// Allocates this many words and returns the first.
    pub fn take(&mut self, words: u64) -> u64 {
        let first = self.next;
        self.next = self.next.saturating_add(words);
        first
    }

    /// Ends the counters: words that are allocated from now on are not counters.
    pub fn end_counters(&mut self) {
        self.counters.get_or_insert(self.next);
    }

    /// How many words of counters have been taken.
    #[must_use]
    pub fn counter_count(&self) -> u64 {
        self.counters.unwrap_or(self.next)
    }

    /// How many words have been taken that are no counters.
    #[must_use]
    pub fn own_count(&self) -> u64 {
        self.next - self.counter_count()
    }
}
