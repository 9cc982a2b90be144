//! The name of the test that the program runs in, as the environment had it at the start.
//!
//! The name is copied, since programs may overwrite the memory of their environment, and forked children need it. Names
//! that are too long are cut, and end with `#` and a hash of the whole name (FNV-1a): two of them stay apart that begin
//! alike.

use crate::layout::TEST_NAME_SIZE;
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The length of `#` and the digits of a hash.
const MARK: usize = 17;

static NAME: [AtomicU8; TEST_NAME_SIZE] = [const { AtomicU8::new(0) }; TEST_NAME_SIZE];
/// The length of the whole name.
static LENGTH: AtomicUsize = AtomicUsize::new(0);
/// The hash of the whole name.
static HASH: AtomicU64 = AtomicU64::new(0xcbf2_9ce4_8422_2325);

/// Adds a part to the name.
pub fn add(part: &[u8]) {
    let used = LENGTH.load(Relaxed);
    for (place, &byte) in NAME.iter().skip(used).zip(part) {
        place.store(byte, Relaxed);
    }
    let mut hash = HASH.load(Relaxed);
    for &byte in part {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    HASH.store(hash, Relaxed);
    LENGTH.store(used.saturating_add(part.len()), Relaxed);
}

/// Copies the name; gives the length, 0 if there is none.
pub fn copy(name: &mut [u8; TEST_NAME_SIZE]) -> usize {
    for (to, from) in name.iter_mut().zip(&NAME) {
        *to = from.load(Relaxed);
    }
    let length = LENGTH.load(Relaxed);
    if length <= TEST_NAME_SIZE {
        return length;
    }
    // No character of UTF-8 is cut in two.
    let mut end = TEST_NAME_SIZE - MARK;
    while end > 0 && name[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let mut hash = HASH.load(Relaxed);
    name[end] = b'#';
    for place in &mut name[end + 1..end + MARK] {
        *place = b"0123456789abcdef"[(hash >> 60) as usize];
        hash <<= 4;
    }
    end + MARK
}
