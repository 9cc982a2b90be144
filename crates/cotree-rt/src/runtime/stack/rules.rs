//! The cache of unwind rules, from a code address to a rule packed into one word. A frame's address is its return
//! address, or the address after the first byte of the interrupted instruction.

use crate::arch::rules::Rule;
use crate::runtime::stack::cache::Cache;
use crate::runtime::unit;

static CACHE: Cache<1024> = Cache::new();

/// The rule of a frame, or no rule (which is not even common) if that is not known.
///
/// The hash is [`unit::hash`] of the address.
#[inline(always)]
pub fn look_up(pc: u64, hash: u64) -> Rule {
    Rule::from_word(CACHE.find(pc, hash))
}

/// The rule of a frame, if it is known.
pub fn find(pc: u64) -> Option<Rule> {
    Some(look_up(pc, unit::hash(pc))).filter(|rule| rule.is_known())
}

/// Remembers a rule.
pub fn keep(pc: u64, rule: Rule) {
    CACHE.keep(pc, unit::hash(pc), rule.word());
}

/// Forgets all: code is about to leave the address space.
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub fn forget() {
    CACHE.forget();
}
