//! Hooks what seeds hash tables: a run may ask for random numbers that are those of each other run.

use crate::arch::entries::tail_hook;
use crate::runtime::hooks::interpose::real;
use crate::runtime::process::pinned;
use core::ffi::{c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

tail_hook!("getrandom", choose);
real!(weak real_getrandom = "getrandom");

/// The function that the program gets.
extern "C" fn choose() -> usize {
    if pinned::is_pinned() {
        numbers as unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize as usize
    } else {
        real_getrandom() as usize
    }
}

/// The next number: a multiple of the golden ratio.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Fills the buffer with the next bytes of a fixed row, as `getrandom` fills it with random ones.
unsafe extern "C" fn numbers(buffer: *mut c_void, length: usize, _flags: c_uint) -> isize {
    for at in 0..length {
        let number = NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed);
        // SAFETY: the caller's buffer has so many bytes.
        unsafe { buffer.cast::<u8>().add(at).write((number >> 56) as u8) };
    }
    length as isize
}
