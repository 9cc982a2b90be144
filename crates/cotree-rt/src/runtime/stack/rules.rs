//! The cache of unwind rules, from a code address to a rule packed into one word. A frame's address is its return
//! address, or the address after the first byte of the interrupted instruction.

use crate::runtime::stack::cache::Cache;
use crate::runtime::unit;

/// The field of rbp.
pub const RBP_FIELD: usize = 1;

/// How to get from a frame to its caller: the CFA is rsp or rbp plus an offset, the return address lies just below it,
/// preserved registers are where they were or a little below it. Zero is no rule.
///
/// Bits: 0 always set, 1 end of the stack, 2 from rbp, 3 not common, 4–5 free, then six fields of 6 bits for the places
/// of rbx, rbp, r12 … r15 below the CFA in words (0: not saved), then 22 bits for the CFA's offset in words.
#[derive(Clone, Copy)]
pub struct Rule(u64);

impl Rule {
    /// Where a prologue pushes all that callees preserve, in bytes below the CFA.
    pub const NEAR: u64 = 64;

    /// There is no caller.
    pub const END: Self = Self(3);

    /// None if it does not fit.
    pub fn pack(from_rbp: bool, cfa_offset: u64, saved_below: [u64; 6]) -> Option<Self> {
        let mut bits = 1 | u64::from(from_rbp) << 2 | u64::from(cfa_offset == 0) << 3;
        for (field, below) in saved_below.into_iter().enumerate() {
            if !below.is_multiple_of(8) || below / 8 >= 64 {
                return None;
            }
            bits |= (below / 8) << (6 + 6 * field) | u64::from(below > Self::NEAR) << 3;
        }
        (cfa_offset.is_multiple_of(8) && cfa_offset / 8 < 1 << 22).then_some(Self(bits | (cfa_offset / 8) << 42))
    }

    pub fn is_end(self) -> bool {
        self.0 & 2 != 0
    }

    /// There is a caller, its stack pointer is higher (but for what rbp says), nothing lies far below the CFA, and the
    /// frame is none that walks are to look at.
    pub fn is_common(self) -> bool {
        self.0 & 0b1011 == 1
    }

    /// Is there a rule?
    pub fn is_known(self) -> bool {
        self.0 != 0
    }

    /// Is the rule common, with its CFA from rsp?
    #[cfg(not(feature = "shared-library"))]
    pub fn is_plain(self) -> bool {
        self.0 & 0b1111 == 0b0001
    }

    /// Is the rule common, with its CFA from rbp?
    #[cfg(not(feature = "shared-library"))]
    pub fn is_plain_from_rbp(self) -> bool {
        self.0 & 0b1111 == 0b0101
    }

    /// Marks the rule as not common.
    pub fn uncommon(self) -> Self {
        Self(self.0 | 1 << 3)
    }

    pub fn is_from_rbp(self) -> bool {
        self.0 & 4 != 0
    }

    pub fn cfa_offset(self) -> u64 {
        (self.0 >> 42) * 8
    }

    /// How far below the CFA the rule may refer to, in bytes.
    pub fn reach(self) -> u64 {
        if self.0 & 8 != 0 { 64 * 8 } else { Self::NEAR }
    }

    /// Bytes below the CFA where the preserved register was saved; 0: it was not.
    pub fn saved_below(self, field: usize) -> u64 {
        (self.0 >> (6 + 6 * field) & 63) * 8
    }
}

static CACHE: Cache<1024> = Cache::new();

/// The rule of a frame, or no rule (which is not even common) if that is not known.
///
/// The hash is [`unit::hash`] of the address.
#[inline(always)]
pub fn look_up(pc: u64, hash: u64) -> Rule {
    Rule(CACHE.find(pc, hash))
}

/// The rule of a frame, if it is known.
pub fn find(pc: u64) -> Option<Rule> {
    Some(look_up(pc, unit::hash(pc))).filter(|rule| rule.is_known())
}

/// Remembers a rule.
pub fn keep(pc: u64, rule: Rule) {
    CACHE.keep(pc, unit::hash(pc), rule.0);
}

/// Forgets all: code is about to leave the address space.
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub fn forget() {
    CACHE.forget();
}
