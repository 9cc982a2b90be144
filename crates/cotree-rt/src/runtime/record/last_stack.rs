//! Writes down the stack of the thread that ends the process, in a unit that counts paths: what early exits say of its
//! frames is how many there are at each call, and not in which order.

use crate::arch::registers::FrameRegisters;
use crate::layout::{INTERRUPTED, SegmentKind, StackEntry, State};
use crate::runtime::file::current;
use crate::runtime::record::registers;
use crate::runtime::slabs;
use crate::runtime::slabs::segments::{self, SegmentType};
use crate::runtime::stack::walk::{Frame, Walk};
use crate::runtime::unit::{self, Image};
use core::sync::atomic::Ordering::Release;

const KIND: SegmentType = SegmentType { number: SegmentKind::STACK, entry_size: size_of::<StackEntry>() as u32 };

/// At most this many frames are written down from each end of the stack.
const MOST: u64 = 4096;

/// Writes it into the profile, where that has room. `walk` begins a walk over the stack; the process ends in that
/// state.
pub fn write(state: u32, walk: impl Fn() -> Walk) {
    if !unit::counts_paths() || !current::mapped() {
        return;
    }
    let (mut frames, mut entries) = (0u64, 0u64);
    for_each(walk(), &mut |_, entry| {
        frames += u64::from(entry.register == 0);
        entries += 1;
    });
    // Where `main` has returned, code that came before it is left. After `abort` or a deadly signal that alone may be
    // it, too: what it is the reader knows.
    if frames < if state == State::ABORTED { 1 } else { 2 } {
        return;
    }
    let capacity = entries.min(2 * MOST * (1 + MOST_VALUES));
    let Some(_held) = slabs::lock_soon() else { return };
    let Ok(segment) = segments::add_in_file(KIND, capacity) else { return };
    let mut used = 0;
    for_each(walk(), &mut |number, entry| {
        if (number < MOST || number >= frames.saturating_sub(MOST)) && used < capacity {
            // SAFETY: within the segment's entries, which nobody else writes.
            unsafe { segment.first_entry().cast::<StackEntry>().add(used as usize).write(entry) };
            used += 1;
        }
    });
    segment.used().store(used, Release);
}

/// The most values of a frame that are sure to have room.
const MOST_VALUES: u64 = 4;

/// Calls for each entry, with how many frames of this image were above its frame.
fn for_each(mut walk: Walk, act: &mut dyn FnMut(u64, StackEntry)) {
    let image = Image::get();
    let (mut above, mut number) = (0, 0);
    while let Some(frame) = walk.next() {
        if let Some(address) = image.link_address(frame.pc) {
            entries_of(frame, address, above, walk.registers(), &mut |entry| act(number, entry));
            number += 1;
        }
        above += 1;
    }
}

fn entries_of(
    frame: Frame,
    address: u64,
    above: u64,
    registers: Option<&FrameRegisters>,
    act: &mut dyn FnMut(StackEntry),
) {
    let address = if frame.interrupted { address | INTERRUPTED } else { address };
    act(StackEntry { address, register: 0, value: above });
    if let (false, Some(known)) = (frame.interrupted, registers) {
        registers::for_each(frame.pc, known, |number, value| act(StackEntry { address, register: number + 1, value }));
    }
}
