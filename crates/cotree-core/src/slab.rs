//! Words of a slab: what the code of a link unit counts in, a slab per thread.

/// Gives out the words of a slab, from its beginning on.
///
/// Counters come first, and the runtime adds them up over all threads. Words behind them ([`Self::end_counters`]) are the
/// code's own: each thread has them for itself, and nobody reads them in the end.
#[derive(Clone, Debug, Default)]
pub struct Words {
    next: u64,
    counters: Option<u64>,
}

impl Words {
    /// Takes so many words; gives the first.
    pub fn take(&mut self, words: u64) -> u64 {
        let first = self.next;
        self.next = self.next.saturating_add(words);
        first
    }

    /// What is taken from now on is no counter.
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
