//! Skips zeros quickly: most counters are zero.

use crate::arch::vectors;
use core::ops::Range;

/// Bytes that are looked at together.
pub const BLOCK: usize = 1024;

/// From where to where the first block reaches that is not all zeros. The last one may be shorter than the others.
pub fn first_block(bytes: &[u8]) -> Option<Range<usize>> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let zeros = leading(blocks);
    let start = zeros * BLOCK;
    (zeros < blocks.len() || any(rest)).then(|| start..bytes.len().min(start + BLOCK))
}

/// Is any byte not zero?
#[inline(always)]
pub fn any(bytes: &[u8]) -> bool {
    // As many words at once as fit, also where this is compiled to be small.
    let (lines, rest) = bytes.as_chunks::<LINE>();
    let all = lines.iter().fold(0, |all, line| {
        let (words, _) = line.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        all | (word(0) | word(1) | word(2) | word(3)) | (word(4) | word(5) | word(6) | word(7))
    });
    let (words, rest) = rest.as_chunks::<8>();
    let all = words.iter().fold(all, |all, word| all | u64::from_le_bytes(*word));
    all != 0 || rest.iter().any(|byte| *byte != 0)
}

/// Bytes whose place is told.
pub const LINE: usize = 64;
const _: () = assert!(BLOCK.is_multiple_of(LINE) && BLOCK / LINE <= 16);

/// A bit for each of the lines of a block, the lowest for the first: whether it is not all zeros.
pub fn lines(block: &[[u8; LINE]]) -> u16 {
    vectors::lines(block).unwrap_or_else(|| block.iter().rev().fold(0, |bits, line| bits << 1 | u16::from(any(line))))
}

/// How many blocks at the beginning are zero.
fn leading(blocks: &[[u8; BLOCK]]) -> usize {
    vectors::leading(blocks).unwrap_or_else(|| blocks.iter().take_while(|block| !any(*block)).count())
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, any, first_block};
    use std::ops::Range;
    use std::vec;

    #[test]
    fn any_byte_is_found_at_any_alignment_and_length() {
        let mut bytes = [0; 200];
        for start in 0..64 {
            for length in [0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, 128] {
                // What stands around it doesn't count.
                bytes.fill(1);
                bytes[start..start + length].fill(0);
                assert!(!any(&bytes[start..start + length]), "{start} {length}");
                for at in start..start + length {
                    bytes[at] = 0x80;
                    assert!(any(&bytes[start..start + length]), "{start} {length} {at}");
                    bytes[at] = 0;
                }
            }
        }
    }

    /// One byte after the other.
    fn naive(bytes: &[u8]) -> Option<Range<usize>> {
        let start = bytes.iter().position(|byte| *byte != 0)? / BLOCK * BLOCK;
        Some(start..bytes.len().min(start + BLOCK))
    }

    #[test]
    fn first_blocks_are_those_that_bytes_tell() {
        let mut bytes = vec![0; 70_100];
        for start in [0, 1, 8, 31, 32, 33, 63] {
            for length in [0, 1, 8, 511, 1023, 1024, 1025, 5000, 32_768, 33_793, 40_000, 70_000] {
                bytes.fill(0xFF);
                bytes[start..start + length].fill(0);
                assert_eq!(first_block(&bytes[start..start + length]), None, "{start} {length}");
                for at in (0..length).step_by(509).chain(length.checked_sub(1)) {
                    bytes[start + at] = 1 << (at % 8);
                    let all = &bytes[start..start + length];
                    assert_eq!(first_block(all), naive(all), "{start} {length} {at}");
                    bytes[start + at] = 0;
                }
            }
        }
    }
}
