//! Looks for bytes that are not zero with vectors of AVX2, where the processor has them.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count, __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_testz_si256};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Bytes that are put together before it is looked whether any is not zero.
const TOGETHER: usize = 256;
const LINE: usize = 64;

/// How many blocks at the beginning are zero; `None` without such vectors.
#[inline(always)]
pub fn leading<const BLOCK: usize>(blocks: &[[u8; BLOCK]]) -> Option<usize> {
    // Asking the processor what it can may take longer, in a virtual machine, than looking at these few.
    const FEW: usize = 32;
    const { assert!(BLOCK.is_multiple_of(TOGETHER)) };
    // SAFETY: they are there.
    (is_known() || blocks.len() > FEW && is_there()).then(|| unsafe { leading_zeros(blocks) })
}

/// A bit for each of the lines, the lowest for the first: whether it is not all zeros. `None` unless it is known that
/// there are such vectors.
#[inline(always)]
pub fn lines(block: &[[u8; LINE]]) -> Option<u16> {
    // SAFETY: they are there.
    is_known().then(|| unsafe { lines_with_bytes(block) })
}

#[target_feature(enable = "avx2")]
fn leading_zeros<const BLOCK: usize>(blocks: &[[u8; BLOCK]]) -> usize {
    blocks.iter().take_while(|block| block.as_chunks::<TOGETHER>().0.iter().all(|bytes| are_zero(bytes))).count()
}

#[target_feature(enable = "avx2")]
fn lines_with_bytes(block: &[[u8; LINE]]) -> u16 {
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

/// Whether the processor has them and the kernel keeps their registers.
fn is_there() -> bool {
    if KNOWN.load(Relaxed) == 0 {
        KNOWN.store(if ask() { YES } else { NO }, Relaxed);
    }
    is_known()
}

/// Whether somebody has asked and they are there.
fn is_known() -> bool {
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

#[cfg(test)]
mod tests {
    use super::{LINE, is_there, leading_zeros, lines_with_bytes};
    use std::vec;

    #[test]
    fn vectors_at_any_alignment_find_any_byte() {
        const BLOCK: usize = 1024;
        const ALL: usize = 3 * BLOCK;
        assert_eq!(is_there(), std::is_x86_feature_detected!("avx2"));
        if !is_there() {
            return;
        }
        let mut bytes = vec![0; 32 + ALL];
        for start in 0..32 {
            for at in 0..ALL {
                bytes[start + at] = 4;
                let (blocks, _) = bytes[start..start + ALL].as_chunks::<BLOCK>();
                let (lines, _) = blocks[at / BLOCK].as_chunks::<LINE>();
                let line = 1 << (at % BLOCK / LINE);
                // SAFETY: they are there.
                let found = unsafe { (leading_zeros(blocks), lines_with_bytes(lines)) };
                assert_eq!(found, (at / BLOCK, line), "{start} {at}");
                bytes[start + at] = 0;
            }
        }
    }
}
