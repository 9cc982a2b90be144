//! The counts in the slabs: moves them, adds them up, clears them, or passes them to a writer. Of the
//! sparse parts of slabs only touched pages are read, so that the rest takes no memory.

use super::chunks::{Chunk, chunks};
use super::sparse::{OpenFile, for_each_part, pieces, pieces_of_slab, words_in};
use crate::runtime::file::current;
use crate::runtime::os::pagemap::{self, Memory};
use crate::runtime::unit;
use crate::zeros;
use core::ops::Range;
use core::slice;

/// Adds what is in these words of one slab to another and clears it. Untouched pages of both stay so.
pub(super) fn move_counts(from: *mut u64, to: *mut u64, words: Range<usize>) {
    each_counted(from, words, |index| {
        // SAFETY: both are slabs.
        unsafe {
            let value = from.add(index).read_volatile();
            to.add(index).write_volatile(to.add(index).read_volatile().wrapping_add(value));
            from.add(index).write_volatile(0);
        }
    });
}

/// Calls for every slab with the parts in which anything may have been counted.
fn for_each_slab(mut act: impl FnMut(*mut u64, Range<usize>)) {
    let file = OpenFile::new();
    for_each_part(unit::counters(), file.at(current::slabs_offset()), |part| act(unit::counters(), part));
    for chunk in chunks() {
        for (index, slab) in chunk.each().enumerate() {
            let offset = chunk.offset() + (index * unit::stride()) as u64;
            let memory = if chunk.is_in_memory() { Memory::Private } else { file.at(offset) };
            for_each_part(slab, memory, |part| act(slab, part));
        }
    }
}

/// Calls for every counter of these words of a slab that is not zero.
fn each_counted(slab: *const u64, words: Range<usize>, mut act: impl FnMut(usize)) {
    let mut act_on = |index: usize| {
        // SAFETY: within the slab.
        if unsafe { slab.add(index).read_volatile() } != 0 {
            act(index);
        }
    };
    let mut rest = words.start..words.end.min(unit::counter_count());
    while let Some(block) = first_counted_block(slab, &rest) {
        rest.start = block.end;
        block.for_each(&mut act_on);
    }
    if words.contains(&unit::spare()) {
        act_on(unit::spare());
    }
}

/// The first block of these counters of a slab in which anything was counted.
pub(super) fn first_counted_block(slab: *const u64, words: &Range<usize>) -> Option<Range<usize>> {
    // SAFETY: within the slab.
    let bytes = unsafe { slice::from_raw_parts(slab.add(words.start).cast(), words.len() * size_of::<u64>()) };
    let word = |byte: usize| words.start + byte / size_of::<u64>();
    zeros::first_block(bytes).map(|block| word(block.start)..word(block.end))
}

/// Moves what is in slabs that are not in the file to slab 0, which is.
pub fn move_into_file() {
    for_each_in_memory(|slab| {
        for_each_part(slab, Memory::Private, |part| move_counts(slab, unit::counters(), words_in(&part)));
    });
}

/// Is there any slab that is not in the file?
pub fn any_in_memory() -> bool {
    chunks().any(|chunk| chunk.is_in_memory() && !chunk.is_for_segments())
}

/// Adds what is in slabs that are not in the file to a copy of slab 0.
pub fn add_from_memory(to: *mut u64) {
    for_each_in_memory(|slab| {
        for_each_part(slab, Memory::Private, |part| {
            for index in words_in(&part).start..words_in(&part).end.min(unit::counter_count()) {
                // SAFETY: both are slabs.
                unsafe { *to.add(index) = (*to.add(index)).wrapping_add(slab.add(index).read_volatile()) };
            }
        });
    });
}

fn for_each_in_memory(act: impl FnMut(*mut u64)) {
    chunks().filter(|chunk| chunk.is_in_memory()).flat_map(Chunk::each).for_each(act);
}

/// Every slab of the unit.
#[cfg(not(feature = "counters-alone"))]
pub fn each(act: impl FnMut(*mut u64)) {
    let of_threads = chunks().filter(|chunk| !chunk.is_for_segments()).flat_map(Chunk::each);
    core::iter::once(unit::counters()).chain(of_threads).for_each(act);
}

/// Every slab, and what takes the places of slabs, in file order, in pieces, each with how many bytes follow that
/// nobody has written to: they are zero, and not looked at they take no memory.
pub fn for_each(act: &mut dyn FnMut(&[u8], usize)) {
    let file = OpenFile::new();
    pieces_of_slab(unit::counters(), file.at(current::slabs_offset()), act);
    for chunk in chunks().filter(|chunk| !chunk.is_in_memory()) {
        let (base, used) = (chunk.base(), chunk.used());
        if chunk.is_for_segments() {
            let memory = file.at(chunk.offset());
            pieces(base, chunk.len(), act, |act| pagemap::for_each_touched(base, used, memory, act));
            continue;
        }
        for (index, slab) in chunk.each().enumerate() {
            let at = index * unit::stride();
            if at < used {
                pieces_of_slab(slab, file.at(chunk.offset() + at as u64), act);
            } else {
                act(&[], unit::stride());
            }
        }
    }
}

/// All counters zero.
pub fn clear() {
    for_each_slab(|slab, part| {
        // SAFETY: within the slab.
        each_counted(slab, words_in(&part), |index| unsafe { slab.add(index).write_volatile(0) });
    });
}
