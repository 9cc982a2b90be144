//! Which pages of its private memory the process has ever touched, as the kernel has it in `/proc/self/pagemap`: a word
//! per page of 4096 bytes, of which bit 63 says that the page is in memory, and bit 62 that it is in the swap. Private
//! memory of which neither is true is as it was mapped.

use super::sys;
use crate::layout::PAGE;
use core::ffi::c_int;
use core::mem::size_of_val;
use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

const IN_MEMORY_OR_SWAPPED: u64 = 0b11 << 62;

/// Pages that are asked for at once.
const PAGES: usize = 128;
/// The same in bytes.
const PART: usize = PAGES * PAGE as usize;
/// What is no larger is sooner looked at than asked for.
const FEW: usize = 16 * PAGE as usize;

/// Calls with parts of so many bytes of private memory, by their place, in which everything lies that is no longer as it
/// was mapped: all parts where the kernel doesn't say.
pub fn for_each_touched(base: *const u8, len: usize, mut act: impl FnMut(Range<usize>)) {
    let map = if len > FEW { open() } else { None };
    for start in (0..len).step_by(PART) {
        let part = start..len.min(start + PART);
        if !map.is_some_and(|map| is_untouched(map, base.wrapping_add(start), part.len())) {
            act(part);
        }
    }
    map.inspect(|map| sys::close(*map));
}

/// The file, if it is this memory's: not where an emulator has other addresses or other pages than its program sees.
fn open() -> Option<c_int> {
    static WITNESS: AtomicU8 = AtomicU8::new(0);
    WITNESS.store(1, Relaxed);
    let on_stack = AtomicU8::new(1);
    let map = sys::open(c"/proc/self/pagemap", libc::O_RDONLY, 0).ok()?;
    if [&WITNESS, &on_stack].iter().any(|witness| is_untouched(map, witness.as_ptr(), 1)) {
        sys::close(map);
        return None;
    }
    Some(map)
}

/// Whether the kernel says so of the pages that hold the range, at most [`PAGES`].
fn is_untouched(map: c_int, base: *const u8, len: usize) -> bool {
    let first = base as usize / PAGE as usize;
    let pages = (base as usize + len).div_ceil(PAGE as usize) - first;
    let mut entries = [0_u64; PAGES];
    let entries = &mut entries[..pages];
    let wanted = size_of_val(entries);
    // SAFETY: the entries are ours.
    let read = unsafe { sys::read_at(map, entries.as_mut_ptr().cast(), wanted, (first * size_of::<u64>()) as u64) };
    read == Ok(wanted) && entries.iter().all(|entry| entry & IN_MEMORY_OR_SWAPPED == 0)
}
