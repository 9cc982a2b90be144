//! Variable-length numbers: LEB128, signed ones zigzagged.

/// Why no number can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// The bytes end before it does.
    Ends,
    /// The number has more than 64 bits.
    TooLong,
}

/// Appends a number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a number off the front.
pub(crate) fn take(bytes: &mut &[u8]) -> Result<u64, NumberError> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = bytes.split_first().ok_or(NumberError::Ends)?;
        *bytes = tail;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            break;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(NumberError::TooLong)
}

/// Small numbers for small amounts, whatever their sign: 0, −1, 1, −2, … become 0, 1, 2, 3, …
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec((any::<u64>(), 0u32..64), 0..20)) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| put(&mut bytes, value));
            let mut rest = bytes.as_slice();
            for value in values {
                prop_assert_eq!(take(&mut rest), Ok(value));
                prop_assert_eq!(zigzag(unzigzag(value)), value);
            }
            prop_assert_eq!(take(&mut rest), Err(NumberError::Ends));
        }
    }

    #[test]
    fn zigzag_keeps_small_amounts_small() {
        assert_eq!([0, -1, 1, -2, i64::MAX, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX - 1, u64::MAX]);
    }

    #[test]
    fn a_number_has_64_bits_at_most() {
        let mut bytes = vec![0xFF; 9];
        bytes.push(1);
        assert_eq!(take(&mut bytes.as_slice()), Ok(u64::MAX));
        bytes[9] = 2;
        assert_eq!(take(&mut bytes.as_slice()), Err(NumberError::TooLong));
        assert_eq!(take(&mut [0x80; 3].as_slice()), Err(NumberError::Ends));
    }
}
