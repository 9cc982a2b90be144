//! Tokens as the reader has them: what is left of a number that was read.

/// Segments of more paths than this have no numbers.
pub(super) const MOST_PATHS: u64 = 1 << 62;

const _: () = assert!(MOST_PATHS < u64::MAX / 2);

/// What is left of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    /// What is left of the number of the current path; in a token of bits, all its bits.
    rest: u64,
    /// The numbers of the paths that follow, in a packed number.
    more: u64,
    /// In a packed number, the base to the power of how many paths follow; in a token of bits, how many are left.
    scale: u64,
}

impl Token {
    /// A token that is the number of one path.
    #[inline]
    pub fn path(rest: u64) -> Self {
        Self { rest, more: 0, scale: 1 }
    }

    /// The numbers of several paths: digits to a base, behind a leading 1. The first one becomes the current path.
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
        token.next_path(base)?;
        Some(token)
    }

    /// Bits behind a leading 1.
    pub fn bits(number: u64) -> Option<Self> {
        let scale = u64::from(number.checked_ilog2()?);
        Some(Self { rest: number - (1 << scale), more: 0, scale })
    }

    /// What is left of the number of the current path.
    #[inline]
    pub fn rest(&self) -> u64 {
        self.rest
    }

    /// Goes along a link, whose value it takes off the current path's number.
    #[inline]
    pub fn pass(&mut self, value: u64) {
        self.rest -= value;
    }

    /// Goes on to the next path of a packed number; `None` if there is none, or this one is not over.
    #[inline]
    pub fn next_path(&mut self, base: u64) -> Option<()> {
        if self.scale <= 1 || self.rest != 0 {
            return None;
        }
        self.scale /= base;
        self.rest = self.more / self.scale;
        self.more %= self.scale;
        Some(())
    }

    /// Takes the next paths from a packed number, the current one first: as many as `power`, which is one of the base,
    /// has digits, or all that there are. Gives them as a packed number; [`Self::next_path`] goes on behind them.
    #[inline]
    pub fn take_paths(&mut self, base: u64, power: u64) -> u64 {
        let (taken, left) = if self.scale > power { (power, self.scale / power) } else { (self.scale.max(1), 1) };
        let paths = (base + self.rest) * taken + self.more / left;
        *self = Self { rest: 0, more: self.more % left, scale: left };
        paths
    }

    /// Do numbers of more paths follow?
    #[inline]
    pub fn has_more_paths(&self) -> bool {
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

    /// Is nothing left: no bits in a token of bits, else nothing of the number of its last path?
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
            assert_eq!(token.next_path(3).is_some(), !token.is_spent(false));
        }
        assert!(Token::packed(0, 3).is_none() && Token::packed(1, 3).is_none() && Token::packed(8, 3).is_none());
    }

    #[test]
    fn several_paths_are_taken_at_once() {
        let packed = |digits: &[u64]| digits.iter().fold(1, |number, digit| number * 3 + digit);
        let mut token = Token::packed(packed(&[2, 0, 1, 2, 1]), 3).unwrap();
        assert_eq!(token.take_paths(3, 9), packed(&[2, 0, 1]));
        token.next_path(3).unwrap();
        assert_eq!(token.take_paths(3, 9), packed(&[2, 1]));
        assert!(!token.has_more_paths());
    }

    #[test]
    fn bits_come_behind_a_leading_one() {
        let mut token = Token::bits(0b10_1110).unwrap();
        assert_eq!((token.pop(2), token.pop(3), token.pop(1)), (Some(1), Some(6), None));
        assert!(Token::bits(0).is_none());
        assert!(Token::bits(1).unwrap().is_spent(true));
    }
}
