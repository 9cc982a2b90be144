//! Tokens as the reader has them: what is left of a number that was read.

/// More ways than that have no number.
pub(super) const MOST_WAYS: u64 = 1 << 62;

const _: () = assert!(MOST_WAYS < u64::MAX / 2);

/// What is left of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    /// What is left of the way under way, in a number of ways; all bits, in a token of bits.
    rest: u64,
    /// The numbers of the ways that follow, in a packed number.
    more: u64,
    /// The base to the power of how many ways follow, in a packed number; how many bits are left, in a token of bits.
    scale: u64,
}

impl Token {
    /// The number of a way.
    #[inline]
    pub fn way(rest: u64) -> Self {
        Self { rest, more: 0, scale: 1 }
    }

    /// The numbers of several ways: digits to a base, behind a leading 1. The first one is under way.
    pub fn packed(number: u64, base: u64) -> Option<Self> {
        // The largest power that is no larger.
        let mut scale = 1u64;
        while let Some(next) = scale.checked_mul(base).filter(|&next| next <= number) {
            scale = next;
        }
        // Only the leading digit is left, which is 1, and there are others.
        if scale == 1 || number - scale >= scale {
            return None;
        }
        let mut token = Self { rest: 0, more: number - scale, scale };
        token.next_way(base)?;
        Some(token)
    }

    /// Bits behind a leading 1.
    pub fn bits(number: u64) -> Option<Self> {
        let scale = u64::from(number.checked_ilog2()?);
        Some(Self { rest: number - (1 << scale), more: 0, scale })
    }

    /// The number of the way under way.
    #[inline]
    pub fn rest(&self) -> u64 {
        self.rest
    }

    /// Goes along a link of a way.
    #[inline]
    pub fn pass(&mut self, value: u64) {
        self.rest -= value;
    }

    /// Goes on to the next way of a packed number; `None` if there is none, or this one is not over.
    #[inline]
    pub fn next_way(&mut self, base: u64) -> Option<()> {
        if self.scale <= 1 || self.rest != 0 {
            return None;
        }
        self.scale /= base;
        self.rest = self.more / self.scale;
        self.more %= self.scale;
        Some(())
    }

    /// Takes the next ways from a packed number, the one under way first: as many as `power`, which is one of the base,
    /// has digits, or all that there are. Gives them as a packed number; [`Self::next_way`] goes on behind them.
    #[inline]
    pub fn take_ways(&mut self, base: u64, power: u64) -> u64 {
        let (taken, left) = if self.scale > power { (power, self.scale / power) } else { (self.scale.max(1), 1) };
        let ways = (base + self.rest) * taken + self.more / left;
        *self = Self { rest: 0, more: self.more % left, scale: left };
        ways
    }

    /// Are there numbers of more ways?
    #[inline]
    pub fn has_more_ways(&self) -> bool {
        self.scale > 1
    }

    /// The next bits; `None` if there are not as many.
    #[inline]
    pub fn pop(&mut self, bits: u8) -> Option<u64> {
        self.scale = self.scale.checked_sub(u64::from(bits))?;
        let next = self.rest >> self.scale;
        self.rest -= next << self.scale;
        Some(next)
    }

    /// The next bits, which stay; `None` if there are not as many.
    #[inline]
    pub fn peek(&self, bits: u8) -> Option<u64> {
        Some(self.rest >> self.scale.checked_sub(u64::from(bits))?)
    }

    /// Nothing is left of it: bits, if it is of bits, else the number of its last way.
    #[inline]
    pub fn is_spent(&self, of_bits: bool) -> bool {
        if of_bits { self.scale == 0 } else { self.rest == 0 && self.scale <= 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_digits_behind_a_leading_one() {
        let number = [2, 0, 1, 2].iter().fold(1, |number, digit| number * 3 + digit);
        let mut token = Token::packed(number, 3).unwrap();
        for digit in [2, 0, 1, 2] {
            assert_eq!(token.rest(), digit);
            token.pass(digit);
            assert_eq!(token.next_way(3).is_some(), !token.is_spent(false));
        }
        assert!(Token::packed(0, 3).is_none() && Token::packed(1, 3).is_none() && Token::packed(8, 3).is_none());
    }

    #[test]
    fn several_ways_are_taken_at_once() {
        let packed = |digits: &[u64]| digits.iter().fold(1, |number, digit| number * 3 + digit);
        let mut token = Token::packed(packed(&[2, 0, 1, 2, 1]), 3).unwrap();
        assert_eq!(token.take_ways(3, 9), packed(&[2, 0, 1]));
        token.next_way(3).unwrap();
        assert_eq!(token.take_ways(3, 9), packed(&[2, 1]));
        assert!(!token.has_more_ways());
    }

    #[test]
    fn bits_come_behind_a_leading_one() {
        let mut token = Token::bits(0b10_1110).unwrap();
        assert_eq!((token.pop(2), token.pop(3), token.pop(1)), (Some(1), Some(6), None));
        assert!(Token::bits(0).is_none());
        assert!(Token::bits(1).unwrap().is_spent(true));
    }
}
