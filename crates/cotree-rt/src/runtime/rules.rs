//! The cache of unwind rules: code address to a rule packed into one word.
//!
//! Readers and writers on all threads and in signal handlers share it without a lock: an entry stores the rule and the
//! exclusive-or of rule and address, so that a torn entry fails to match (Hyatt & Mann 2002, of chess programs).

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How to get from a frame to its caller: the CFA is rsp or rbp plus an offset, the return address lies just below it,
/// preserved registers are where they were or a little below it. Never zero.
///
/// Bits: 0 always set, 1 end of the stack, 2 from rbp, 3 some place is far below, 4–5 free, then six fields of 6 bits for the places of rbx, rbp,
/// r12 … r15 below the CFA in words (0: not saved), then 22 bits for the CFA's offset in words.
#[derive(Clone, Copy)]
pub struct Rule(u64);

impl Rule {
    /// There is no caller.
    pub const END: Self = Self(3);

    /// None if it does not fit.
    pub fn pack(from_rbp: bool, cfa_offset: u64, saved_below: [u64; 6]) -> Option<Self> {
        let mut bits = 1 | u64::from(from_rbp) << 2;
        for (field, below) in saved_below.into_iter().enumerate() {
            if !below.is_multiple_of(8) || below / 8 >= 64 {
                return None;
            }
            bits |= (below / 8) << (6 + 6 * field) | u64::from(below > NEAR) << 3;
        }
        (cfa_offset.is_multiple_of(8) && cfa_offset / 8 < 1 << 22).then_some(Self(bits | (cfa_offset / 8) << 42))
    }

    pub fn is_end(self) -> bool {
        self.0 & 2 != 0
    }

    /// There is a caller, and nothing lies far below the CFA.
    pub fn is_common(self) -> bool {
        self.0 & 0b1010 == 0
    }

    pub fn is_from_rbp(self) -> bool {
        self.0 & 4 != 0
    }

    pub fn cfa_offset(self) -> u64 {
        (self.0 >> 42) * 8
    }

    /// It refers to nothing that lies further below the CFA, in bytes.
    pub fn reach(self) -> u64 {
        if self.0 & 8 != 0 { 64 * 8 } else { NEAR }
    }

    /// Bytes below the CFA where the preserved register was saved; 0: it was not.
    pub fn saved_below(self, field: usize) -> u64 {
        (self.0 >> (6 + 6 * field) & 63) * 8
    }
}

/// Where a prologue pushes all that callees preserve, in bytes below the CFA.
const NEAR: u64 = 64;

struct Entry {
    check: AtomicU64,
    rule: AtomicU64,
}

impl Entry {
    const fn new() -> Self {
        Self { check: AtomicU64::new(0), rule: AtomicU64::new(0) }
    }

    fn find(&self, at: u64) -> Option<Rule> {
        let rule = self.rule.load(Relaxed);
        (rule != 0 && self.check.load(Relaxed) ^ rule == at).then_some(Rule(rule))
    }

    fn put(&self, at: u64, rule: Rule) {
        self.rule.store(rule.0, Relaxed);
        self.check.store(at ^ rule.0, Relaxed);
    }
}

const SETS: usize = 1024;
/// Two addresses of the same hash have room: a program that leaves the same few frames all the time would otherwise be slow or fast as
/// its code happens to lie.
static CACHE: [[Entry; 2]; SETS] = [const { [const { Entry::new() }; 2] }; SETS];

fn set(at: u64) -> &'static [Entry; 2] {
    &CACHE[(at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize]
}

/// The rule at a code address, if it is known.
pub fn find(at: u64) -> Option<Rule> {
    let [first, second] = set(at);
    first.find(at).or_else(|| second.find(at))
}

/// Which of two entries gives way next. (Neither is moved to the other's place: it may be forgotten at that moment.)
static TURN: AtomicUsize = AtomicUsize::new(0);

/// Remembers a rule.
pub fn keep(at: u64, rule: Rule) {
    set(at)[TURN.fetch_add(1, Relaxed) % 2].put(at, rule);
}

/// Forgets all: code is about to leave the address space.
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub fn forget() {
    for entry in CACHE.as_flattened() {
        entry.rule.store(0, Relaxed);
    }
}
