//! The name of the test that the program runs in, as the environment had it at the start.
//!
//! The name is copied, since programs may overwrite the memory of their environment, and forked children need it.

use crate::layout::TEST_NAME_SIZE;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

static NAME: [AtomicU8; TEST_NAME_SIZE] = [const { AtomicU8::new(0) }; TEST_NAME_SIZE];
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Adds a part to the name, which is cut where it becomes too long.
pub fn add(part: &[u8]) {
    let used = LENGTH.load(Relaxed);
    for (place, &byte) in NAME[used..].iter().zip(part) {
        place.store(byte, Relaxed);
    }
    LENGTH.store((used + part.len()).min(TEST_NAME_SIZE), Relaxed);
}

/// Copies the name; gives the length, 0 if there is none.
pub fn copy(name: &mut [u8; TEST_NAME_SIZE]) -> usize {
    for (to, from) in name.iter_mut().zip(&NAME) {
        *to = from.load(Relaxed);
    }
    LENGTH.load(Relaxed)
}
