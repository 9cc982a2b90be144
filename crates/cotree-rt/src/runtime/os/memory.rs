//! Our own versions of the memory functions that the compiler calls, so that the runtime does not use those of the
//! program, which may be instrumented. The build makes them local to the runtime's object.

use crate::arch::memory::{copy_down, copy_vectors, fill};

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    // SAFETY: pieces of the caller's ranges. `memmove` comes here with ranges that overlap, of which `to` begins first:
    // all that is stored was loaded before, or lies before what is still to be loaded.
    unsafe {
        match len {
            16.. => copy_vectors(to, from, len),
            8.. => copy_ends::<u64>(to, from, len),
            4.. => copy_ends::<u32>(to, from, len),
            2.. => copy_ends::<u16>(to, from, len),
            1 => *to = *from,
            0 => {}
        }
    }
    to
}

/// At least one value, and at most two: the first and the last one, which may overlap.
#[inline(always)]
unsafe fn copy_ends<T>(to: *mut u8, from: *const u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: within the caller's ranges, at any place.
    unsafe {
        let values = [from, from.add(last)].map(|from| from.cast::<T>().read_unaligned());
        let [first, second] = values;
        to.cast::<T>().write_unaligned(first);
        to.add(last).cast::<T>().write_unaligned(second);
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= len {
        // SAFETY: copying upward overwrites nothing that is still to be read.
        return unsafe { memcpy(to, from, len) };
    }
    // SAFETY: downward, from the last byte on.
    unsafe { copy_down(to, from, len) };
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, len: usize) -> *mut u8 {
    // SAFETY: the caller's range.
    unsafe { fill(to, byte as u8, len) };
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    for at in 0..len {
        // SAFETY: the caller's ranges; volatile keeps the loop from becoming a call of this function.
        let (x, y) = unsafe { (a.add(at).read_volatile(), b.add(at).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
    }
    0
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    // SAFETY: the same contract.
    unsafe { memcmp(a, b, len) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut len = 0;
    // SAFETY: NUL-terminated; volatile as above.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}
