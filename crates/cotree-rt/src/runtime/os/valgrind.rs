//! Tells valgrind's detectors of races which memory is the runtime's.
//!
//! Helgrind and DRD know the locks of libpthread and not ours, so that they would report what threads hand on to each
//! other under these. Tools other than the one that a request is for take no notice.

use crate::arch::valgrind::request;

/// `VALGRIND_HG_DISABLE_CHECKING` of `helgrind.h`.
const HELGRIND_IGNORE: usize = 0x4847_0127;
/// `DRD_IGNORE_VAR` of `drd.h`.
const DRD_IGNORE: usize = 0x4452_0002;

/// Memory that the detectors don't look at, until it is unmapped.
#[inline(never)]
pub fn ignore(at: *const u8, len: usize) {
    for kind in [HELGRIND_IGNORE, DRD_IGNORE] {
        request(&[kind, at as usize, len, 0, 0, 0]);
    }
}
