//! How to get from a frame to its caller, if the rule is a common one: packed into a word.

use super::registers::{FRAME_POINTER, PRESERVED, RETURN_ADDRESS, STACK_POINTER};
use gimli::{CfaRule, RegisterRule, UnwindContextStorage, UnwindTableRow};

/// The CFA is rsp or rbp plus an offset, the return address lies just below it, preserved registers are where they were
/// or a little below it. Zero is no rule.
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

    /// Bytes below the CFA where the return address is.
    pub const RETURN_BELOW: u64 = 8;

    /// The rule of such a word, or no rule if that is zero.
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// The rule as a word.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The row of an unwind table as a rule, if it is of the common kind.
    pub fn of<S: UnwindContextStorage<usize>>(row: &UnwindTableRow<usize, S>) -> Option<Self> {
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let from_rbp = usize::from(register.0) == FRAME_POINTER;
        if !from_rbp && usize::from(register.0) != STACK_POINTER {
            return None;
        }
        let mut saved = [0; 6];
        for &(register, ref rule) in row.registers() {
            let offset = match *rule {
                RegisterRule::Offset(offset) => offset,
                RegisterRule::SameValue | RegisterRule::Undefined => continue,
                _ => return None,
            };
            if register == RETURN_ADDRESS {
                if offset != -8 {
                    return None;
                }
            } else if let Some(field) = PRESERVED.iter().position(|&r| r == usize::from(register.0)) {
                saved[field] = u64::try_from(-offset).ok()?;
            }
            // Unwinders save more than callees preserve, for themselves: no rule of a caller refers to it.
        }
        Self::pack(from_rbp, u64::try_from(offset).ok()?, saved)
    }

    /// None if it does not fit.
    fn pack(from_rbp: bool, cfa_offset: u64, saved_below: [u64; 6]) -> Option<Self> {
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

    /// There is a caller, its stack pointer is higher (but for what the frame pointer says), nothing lies far below the
    /// CFA, and the frame is none that walks are to look at.
    pub fn is_common(self) -> bool {
        self.0 & 0b1011 == 1
    }

    /// Is there a rule?
    pub fn is_known(self) -> bool {
        self.0 != 0
    }

    /// Is the rule common, with its CFA from the stack pointer?
    #[cfg(not(feature = "shared-library"))]
    pub fn is_plain(self) -> bool {
        self.0 & 0b1111 == 0b0001
    }

    /// Is the rule common, with its CFA from the frame pointer?
    #[cfg(not(feature = "shared-library"))]
    pub fn is_plain_from_frame_pointer(self) -> bool {
        self.0 & 0b1111 == 0b0101
    }

    /// Marks the rule as not common.
    pub fn uncommon(self) -> Self {
        Self(self.0 | 1 << 3)
    }

    pub fn is_from_frame_pointer(self) -> bool {
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
