//! Skips zeros quickly: most counters are zero.

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
    #[cfg(target_arch = "x86_64")]
    if avx2::is_known() {
        // SAFETY: it is there.
        return unsafe { avx2::lines(block) };
    }
    lines_here(block)
}

/// As [`leading_here`].
#[inline(always)]
fn lines_here(block: &[[u8; LINE]]) -> u16 {
    block.iter().rev().fold(0, |bits, line| bits << 1 | u16::from(any(line)))
}

/// How many blocks at the beginning are zero.
fn leading(blocks: &[[u8; BLOCK]]) -> usize {
    // Asking the processor what it can may take longer, in a virtual machine, than looking at these few.
    const FEW: usize = 32;
    #[cfg(target_arch = "x86_64")]
    if avx2::is_known() || blocks.len() > FEW && avx2::is_there() {
        // SAFETY: it is there.
        return unsafe { avx2::leading(blocks) };
    }
    leading_here(blocks)
}

/// Counts leading zero blocks with the instructions of the function that it becomes part of.
#[inline(always)]
fn leading_here(blocks: &[[u8; BLOCK]]) -> usize {
    blocks.iter().take_while(|block| !any(*block)).count()
}

/// With vectors twice as long.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, LINE};
    use core::arch::asm;
    use core::arch::x86_64::{
        __cpuid, __cpuid_count, __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_testz_si256,
    };
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

    /// Bytes that are put together before it is looked whether any is not zero.
    const TOGETHER: usize = 256;
    const _: () = assert!(BLOCK.is_multiple_of(TOGETHER) && TOGETHER.is_multiple_of(LINE) && LINE == 64);

    #[target_feature(enable = "avx2")]
    pub fn leading(blocks: &[[u8; BLOCK]]) -> usize {
        blocks.iter().take_while(|block| block.as_chunks::<TOGETHER>().0.iter().all(|bytes| are_zero(bytes))).count()
    }

    #[target_feature(enable = "avx2")]
    pub fn lines(block: &[[u8; LINE]]) -> u16 {
        block.iter().rev().fold(0, |bits, line| bits << 1 | u16::from(!is_zero(all_of(line))))
    }

    // Written out, since the runtime is compiled to be small.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn are_zero(bytes: &[u8; TOGETHER]) -> bool {
        let (lines, _) = bytes.as_chunks::<LINE>();
        let pair = |at: usize| _mm256_or_si256(all_of(&lines[at]), all_of(&lines[at + 1]));
        is_zero(_mm256_or_si256(pair(0), pair(2)))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn all_of(line: &[u8; LINE]) -> __m256i {
        let line = line.as_ptr().cast::<__m256i>();
        // SAFETY: the two halves of the line.
        unsafe { _mm256_or_si256(_mm256_loadu_si256(line), _mm256_loadu_si256(line.add(1))) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn is_zero(vector: __m256i) -> bool {
        _mm256_testz_si256(vector, vector) != 0
    }

    const NO: u8 = 1;
    const YES: u8 = 2;
    static KNOWN: AtomicU8 = AtomicU8::new(0);

    /// Whether the processor has it and the kernel keeps its registers.
    pub fn is_there() -> bool {
        if KNOWN.load(Relaxed) == 0 {
            KNOWN.store(if ask() { YES } else { NO }, Relaxed);
        }
        is_known()
    }

    /// Whether somebody has asked and it is.
    pub fn is_known() -> bool {
        KNOWN.load(Relaxed) == YES
    }

    fn ask() -> bool {
        const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
        const XMM_AND_YMM: u32 = 0b110;
        const AVX2: u32 = 1 << 5;
        if __cpuid(0).eax < 7 || __cpuid(1).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
            return false;
        }
        let kept: u32;
        // SAFETY: OSXSAVE says that the instruction may be used.
        unsafe { asm!("xgetbv", in("ecx") 0, out("eax") kept, out("edx") _, options(nomem, nostack, preserves_flags)) };
        kept & XMM_AND_YMM == XMM_AND_YMM && __cpuid_count(7, 0).ebx & AVX2 != 0
    }
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

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_of_any_length_see_the_same() {
        use super::{LINE, avx2, leading_here, lines_here};
        const ALL: usize = 3 * BLOCK;
        assert_eq!(avx2::is_there(), std::is_x86_feature_detected!("avx2"));
        let mut bytes = vec![0; 32 + ALL];
        for start in 0..32 {
            for at in 0..ALL {
                bytes[start + at] = 4;
                let (blocks, _) = bytes[start..start + ALL].as_chunks::<BLOCK>();
                assert_eq!(leading_here(blocks), at / BLOCK, "{start} {at}");
                let (lines, _) = blocks[at / BLOCK].as_chunks::<LINE>();
                let line = 1 << (at % BLOCK / LINE);
                assert_eq!([lines_here(lines), super::lines(lines)], [line; 2], "{start} {at}");
                if avx2::is_there() {
                    // SAFETY: it is there.
                    assert_eq!(unsafe { avx2::leading(blocks) }, at / BLOCK, "{start} {at}");
                }
                bytes[start + at] = 0;
            }
        }
    }
}
