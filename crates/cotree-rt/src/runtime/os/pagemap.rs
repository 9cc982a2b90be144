//! Finds the pages that the process has ever touched, from the kernel's `/proc/self/pagemap`. That file has a word
//! per page of 4096 bytes: bit 63 says that the page is in memory, bit 62 that it is swapped out. Private
//! memory with neither bit is as it was mapped.

use crate::layout::PAGE;
use crate::runtime::os::sys;
use core::ffi::c_int;
use core::mem::{MaybeUninit, size_of_val};
use core::ops::Range;
use core::slice;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

const IN_MEMORY_OR_SWAPPED: u64 = 0b11 << 62;

/// Pages that are asked for at once.
const PAGES: usize = 128;
/// The bytes of the pages that are asked for together.
const PART: usize = PAGES * PAGE as usize;
/// Pages that are passed over together.
const GROUP: usize = 16;
/// What is no larger is sooner looked at than asked for.
pub const FEW: usize = 16 * PAGE as usize;

/// Memory that was zeros when it was mapped.
#[derive(Clone, Copy)]
pub enum Memory {
    /// Private and of no file.
    Private,
    /// Shared, and mapped from a place in the open file.
    OfFile(c_int, u64),
    /// The page is of a file that can't be asked.
    OfSomeFile,
}

/// Calls with the ranges of bytes, by their place, in which everything lies that is no longer as it was mapped: with
/// everything where the kernel doesn't say.
///
/// A page of a file that has been written to is in memory, until the kernel needs it for something else; but then the
/// file has data there, whatever its file system tells of what is not written back.
pub fn for_each_touched(base: *const u8, len: usize, memory: Memory, mut act: impl FnMut(Range<usize>)) {
    let askable = len > FEW && !matches!(memory, Memory::OfSomeFile);
    let map = if askable { open() } else { None };
    let Some(map) = map else { return act(0..len) };
    let mut data = Data { memory, next: None };
    for start in (0..len).step_by(PART) {
        let part = start..len.min(start + PART);
        let known = touched_pages(map, base.wrapping_add(start), part.len()).and_then(|pages| data.add(pages, &part));
        let Some(mut pages) = known else {
            act(part);
            continue;
        };
        while pages != 0 {
            let first = pages.trailing_zeros();
            let count = (pages >> first).trailing_ones();
            let byte = |page: u32| part.end.min(start + page as usize * PAGE as usize);
            act(byte(first)..byte(first + count));
            pages &= (u128::MAX << first << (count - 1)) << 1;
        }
    }
    sys::close(map);
}

/// What the file says.
struct Data {
    memory: Memory,
    /// From where to where there is data next, as far as asked.
    next: Option<Range<u64>>,
}

impl Data {
    /// Adds the pages of that part that have data; `None` if nobody knows.
    fn add(&mut self, mut pages: u128, part: &Range<usize>) -> Option<u128> {
        let Memory::OfFile(fd, offset) = self.memory else { return Some(pages) };
        let (start, end) = (offset + part.start as u64, offset + part.end as u64);
        let mut at = start;
        while at < end {
            let next = match self.next.clone().filter(|next| next.end > at) {
                Some(next) => next,
                None => sys::next_data(fd, at).ok()?,
            };
            self.next = Some(next.clone());
            if next.start >= end {
                break;
            }
            let page = |byte: u64| (byte.clamp(start, end) - start) / PAGE;
            let first = page(next.start);
            let count = (page(next.end + PAGE - 1).max(first + 1) - first) as u32;
            pages |= (u128::MAX >> (128 - count)) << first;
            at = next.end;
        }
        Some(pages)
    }
}

/// The file, if it is this memory's: not where an emulator has other addresses or other pages than its program sees.
fn open() -> Option<c_int> {
    static WITNESS: AtomicU8 = AtomicU8::new(0);
    WITNESS.store(1, Relaxed);
    let on_stack = AtomicU8::new(1);
    let map = sys::open(c"/proc/self/pagemap", libc::O_RDONLY, 0).ok()?;
    if [&WITNESS, &on_stack].iter().any(|witness| touched_pages(map, witness.as_ptr().cast_const(), 1) == Some(0)) {
        sys::close(map);
        return None;
    }
    Some(map)
}

/// A bit for each of the pages, at most [`PAGES`], that hold the range: whether they are in memory or the swap.
fn touched_pages(map: c_int, base: *const u8, len: usize) -> Option<u128> {
    let first = base as usize / PAGE as usize;
    let pages = (base as usize + len).div_ceil(PAGE as usize) - first;
    let mut entries = [MaybeUninit::<u64>::uninit(); PAGES];
    let entries = entries.get_mut(..pages)?;
    let wanted = size_of_val(entries);
    // SAFETY: the entries are ours.
    let read = unsafe { sys::read_at(map, entries.as_mut_ptr().cast(), wanted, (first * size_of::<u64>()) as u64) };
    if read != Ok(wanted) {
        return None;
    }
    // SAFETY: they have all been read.
    let entries = unsafe { slice::from_raw_parts(entries.as_ptr().cast::<u64>(), pages) };
    let mut bits = 0;
    for (group, entries) in entries.chunks(GROUP).enumerate() {
        // Mostly there is none.
        if entries.iter().fold(0, |all, entry| all | entry) & IN_MEMORY_OR_SWAPPED != 0 {
            let touched = |bits: u64, entry: &u64| bits << 1 | u64::from(entry & IN_MEMORY_OR_SWAPPED != 0);
            bits |= u128::from(entries.iter().rev().fold(0, touched)) << (group * GROUP);
        }
    }
    Some(bits)
}
