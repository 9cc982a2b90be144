//! Caches of words by code address.
//!
//! Readers and writers on all threads and in signal handlers share them without a lock: an entry stores the word and
//! the exclusive-or of address and word, so that a torn entry fails to match (Hyatt & Mann 2002, of chess programs).
//! The word is mixed first. Otherwise two words that differ in few bits could be confused at addresses that
//! differ in the same bits.

use crate::layout::mixed;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

struct Entry {
    check: AtomicU64,
    word: AtomicU64,
}

impl Entry {
    const fn new() -> Self {
        Self { check: AtomicU64::new(0), word: AtomicU64::new(0) }
    }

    /// The word if the entry is for that address.
    fn find(&self, pc: u64) -> Option<u64> {
        let word = self.word.load(Relaxed);
        (self.check.load(Relaxed) ^ mixed(word) == pc).then_some(word)
    }

    fn put(&self, pc: u64, word: u64) {
        self.word.store(word, Relaxed);
        self.check.store(pc ^ mixed(word), Relaxed);
    }
}

/// Two addresses of the same hash have room: a program that leaves the same few frames all the time would otherwise be
/// slow or fast as its code happens to lie.
#[repr(align(32))]
struct Set([Entry; 2]);

/// A cache of `SETS` sets, a power of two, of two entries each.
pub struct Cache<const SETS: usize>([Set; SETS]);

/// Which of two entries is replaced next. (Neither is moved to the other's place: it may be forgotten at that moment.)
static TURN: AtomicUsize = AtomicUsize::new(0);

impl<const SETS: usize> Cache<SETS> {
    /// Nothing is known.
    pub const fn new() -> Self {
        Self([const { Set([const { Entry::new() }; 2]) }; SETS])
    }

    fn set(&self, hash: u64) -> &[Entry; 2] {
        const { assert!(SETS.is_power_of_two() && SETS > 1) };
        &self.0[(hash >> (64 - SETS.ilog2())) as usize].0
    }

    /// What is remembered of the address, or zero. The hash is [`crate::runtime::unit::hash`] of it.
    #[inline(always)]
    pub fn find(&self, pc: u64, hash: u64) -> u64 {
        let [first, second] = self.set(hash);
        first.find(pc).or_else(|| second.find(pc)).unwrap_or(0)
    }

    /// Remembers a word that is not zero.
    pub fn keep(&self, pc: u64, hash: u64, word: u64) {
        let [first, second] = self.set(hash);
        let full = first.word.load(Relaxed) != 0;
        let entry = if full && TURN.fetch_add(1, Relaxed).is_multiple_of(2) { second } else { first };
        entry.put(pc, word);
    }

    /// Forgets all.
    #[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
    pub fn forget(&self) {
        for entry in self.0.iter().flat_map(|set| &set.0) {
            entry.word.store(0, Relaxed);
        }
    }
}
