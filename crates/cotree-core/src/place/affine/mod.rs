//! Affine variables: loop variables that count for us (Frenot & Pereira 2024, whose tool is Nisse).
//!
//! A variable that only moves by constant steps while a loop runs says, when the loop is left, how often it was moved.
//! If every path around the loop moves it by the same step for each traversal of some edge, and never otherwise, it
//! counts that edge, and `(value − value at entry) / step` outside of the loop replaces a counter inside.
//!
//! **The definition.** The paper (Def. 3.5) asks that every circuit of the variable's data dependences consist of phis
//! and increments, and that any two increments be control-equivalent. As printed it admits `if (x) sum = 0; else
//! sum++`. Here a variable is described by how far it moves on each edge of its loop ([`AffineVariable::steps`]), which
//! excludes assignments. It counts an edge *e* if its movement around every cycle of the loop equals
//! *step* times the passages of *e*. In other words, movements minus *step* × \[*e*\] are differences of a *potential*
//! on the loop's blocks ([`region`]). That covers the cases of the paper, and also several backedges with an increment
//! each, exits in the middle of the loop, and increments of which only the sum matches. The potential of the block from
//! which the loop is left gives the contribution of a circuit that was begun and not finished.
//!
//! **Overflow.** Differences are taken modulo 2<sup>*w*</sup> for a variable of *w* bits, and so division by a step of
//! *t* trailing zero bits is exact if the quotient is below 2<sup>*w*−*t*</sup>. No loop runs 2⁵⁸ times, so variables
//! of 64 bits are safe with steps up to 64 (or any multiple of them that is odd but for six bits); of others something
//! must be *proven* ([`AffineVariable::never_wraps`], [`AffineVariable::circuits`]), or they are not used.
//!
//! **Shifts.** Where a number is shifted to the right by a constant, the position of its highest bit is such a
//! variable, as long as the number does not become 0.
//!
//! **Steady branches** ([`AffineVariable::steady`]). If the condition of a branch is computed before the loop is
//! entered, each run of the loop always takes the same edge there, and never the other. If a variable counts one
//! edge in the loop *without the other*, then this edge's count is the variable's count or zero, as the condition says.
//!
//! **Loops of known length** need no variable at all ([`fixed`]).
//!
//! **Early termination.** A count that is pending in a variable dies with its activation, so loops in which an
//! activation may be abandoned at a call are not used. Interruptions at arbitrary places (a kill, a jump out of a
//! signal handler) are flagged, as with counters.

pub mod fixed;
pub mod region;
pub mod replacement;

use crate::ids::{Block, Edge};
pub use replacement::{LARGE, Refusal, Replacement, Replacements};

/// A variable of a loop that moves by constant steps, as the extractor finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineVariable {
    /// The name of the variable, for people.
    pub name: String,
    /// The header of its loop. At the header the variable is what came in, or what the last circuit left.
    pub header: Block,
    /// The width of the variable in bits, up to 64.
    pub bits: u32,
    /// The variable is an address.
    pub pointer: bool,
    /// The variable is shifted to the right, and what moves is the position of its highest bit.
    pub shifted: bool,
    /// How far it moves on the edges within the loop, modulo 2^bits; 0 on those that are not listed. In edge order.
    pub steps: Vec<(Edge, i64)>,
    /// If the loop is left from one of these blocks, the available value is ahead by this much, because the next step
    /// has been made already. In block order.
    pub ahead: Vec<(Block, i64)>,
    /// The variable always enters its loop with the same number, which need not be kept while the loop runs.
    pub from_constant: bool,
    /// If the value at an exit of the loop had wrapped around since the loop was entered, the program would have had
    /// undefined behaviour before.
    pub never_wraps: bool,
    /// The loop never goes around more often than this in one activation.
    pub circuits: Option<u64>,
    /// How often the loop goes around each time that it is entered, before it is left, if that is always the same. The
    /// loop has one backedge and one exit.
    pub rounds: Option<u64>,
    /// An estimate of how often the loop goes around each time that it is entered, if there is one.
    pub trips: Option<u64>,
    /// Two-way branches, with both edges within the loop, whose condition does not change while the loop runs, and can
    /// be read wherever the loop is left. In block order.
    pub steady: Vec<Block>,
}

impl AffineVariable {
    /// By how much the value is ahead where the loop is left from the block.
    #[must_use]
    pub fn ahead_at(&self, from: Block) -> i64 {
        self.ahead.binary_search_by_key(&from, |a| a.0).map_or(0, |found| self.ahead[found].1)
    }
}

/// No loop makes this many circuits, as a power of two: at one per nanosecond this takes nine years.
pub const LONGEST_RUN: u32 = 58;

/// Division by a constant, modulo a power of two, of what is known to be a multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// Negate first.
    pub negate: bool,
    /// Then shift right by so many bits (zeros come in).
    pub shift: u32,
    /// Then multiply by this: the inverse of the divisor's odd part, modulo 2^64.
    pub inverse: u64,
    /// Then keep these bits.
    pub mask: u64,
}

impl Quotient {
    /// Division by `step`, which is not 0 modulo 2^bits.
    #[must_use]
    pub fn new(step: i64, bits: u32) -> Self {
        let magnitude = step.unsigned_abs();
        let shift = magnitude.trailing_zeros();
        let odd = magnitude >> shift.min(63);
        // Newton's iteration: an odd number is its own inverse in its lowest three bits, and each turn doubles them.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Self { negate: step < 0, shift, inverse, mask: mask(bits.saturating_sub(shift)) }
    }

    /// The quotient of a value of `bits` bits.
    #[must_use]
    pub fn of(&self, value: u64, bits: u32) -> u64 {
        let value = if self.negate { value.wrapping_neg() } else { value };
        ((value & mask(bits)) >> self.shift.min(63)).wrapping_mul(self.inverse) & self.mask
    }
}

/// The lowest `bits` bits.
#[must_use]
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::{Quotient, mask};

    #[test]
    fn quotients_are_exact_up_to_the_width() {
        for bits in [3, 8, 16, 32, 33, 64] {
            for step in [1i64, -1, 2, 3, -3, 4, 5, 6, 12, -24, 7, 40] {
                let shift = step.unsigned_abs().trailing_zeros();
                if shift >= bits {
                    continue;
                }
                let quotient = Quotient::new(step, bits);
                let most = mask(bits - shift);
                for count in [0, 1, 2, 3, 5, 100, 12345, most / 2, most - 1, most].map(|c: u64| c & most) {
                    let moved = count.wrapping_mul(step.cast_unsigned()) & mask(bits);
                    assert_eq!(quotient.of(moved, bits), count, "{count} × {step} in {bits} bits");
                }
            }
        }
    }
}
