//! Writes down the stack of the thread that ends the process or copies its profile, in a unit that counts paths: what
//! early exits say of its frames is how many there are at each call, and not in which order.

use crate::arch::registers::{AllRegisters, FrameRegisters, STACK_POINTER};
use crate::layout::{
    COUNTERS_ADDRESS, FIRST_ADDRESS, INTERRUPTED, MACHINE_REGISTER, PAGE, SegmentKind, StackEntry, State,
};
use crate::runtime::file::current;
use crate::runtime::os::sys;
use crate::runtime::record::registers;
use crate::runtime::slabs;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::slabs::segments::{self, Segment, SegmentType};
use crate::runtime::stack::walk::{Frame, Top, Walk};
use crate::runtime::unit::{self, Image};
use core::sync::atomic::Ordering::Release;

const KIND: SegmentType = SegmentType { number: SegmentKind::STACK, entry_size: size_of::<StackEntry>() as u32 };

/// At most this many frames are written down from each end of the stack.
const MOST: u64 = 4096;

/// Writes it into the profile, where that has room. The process ends in that state.
pub fn write(state: u32, top: Top<'_>) {
    if !unit::counts_paths() || !current::mapped() {
        return;
    }
    let size = Size::of(top);
    // Where `main` has returned, code that came before it is left. After `abort` or a deadly signal that alone may be
    // it, too: what it is the reader knows.
    if size.frames < if state == State::ABORTED { 1 } else { 2 } {
        return;
    }
    let Some(_held) = slabs::lock_soon() else { return };
    if let Ok(segment) = segments::add_in_file(KIND, size.capacity()) {
        fill(segment, size, top);
    }
}

/// The bytes that a copy of the profile needs for the stack.
pub fn room_in_copy(top: Top<'_>) -> usize {
    if !unit::counts_paths() {
        return 0;
    }
    KIND.size(Size::of(top).capacity()).next_multiple_of(PAGE as usize)
}

/// Adds the stack to a copy, in the room that it has for that.
pub fn write_to_copy(copy: &mut ProfileCopy, room: usize, top: Top<'_>) {
    if room > 0 {
        let size = Size::of(top);
        fill(copy.add_segment(KIND, size.capacity().min(KIND.capacity(room) as u64)), size, top);
    }
}

/// How much a stack holds.
#[derive(Clone, Copy)]
struct Size {
    frames: u64,
    entries: u64,
}

impl Size {
    fn of(top: Top<'_>) -> Self {
        let mut size = Self { frames: 0, entries: 0 };
        for_each(top.walk(), &mut |_, entry| {
            size.frames += u64::from(entry.register == 0);
            size.entries += 1;
        });
        size
    }

    /// The entries that are written down.
    fn capacity(self) -> u64 {
        self.entries.min(2 * MOST * (1 + MOST_VALUES) + MOST_OF_INTERRUPTED)
    }
}

/// Fills a segment with the stack: its two ends, if it is deep.
fn fill(segment: Segment, size: Size, top: Top<'_>) {
    let (mut used, capacity) = (0u64, segment.capacity());
    for_each(top.walk(), &mut |number, entry| {
        if (number < MOST || number >= size.frames.saturating_sub(MOST)) && used < capacity {
            // SAFETY: within the segment's entries, which nobody else writes.
            unsafe { segment.first_entry().cast::<StackEntry>().add(used as usize).write(entry) };
            used += 1;
        }
    });
    segment.used().store(used, Release);
}

/// The most values of a frame that are sure to have room.
const MOST_VALUES: u64 = 4;

/// The most entries of an interrupted frame.
const MOST_OF_INTERRUPTED: u64 = 17 + (BELOW_STACK_POINTER + MOST_STACK) / 8;
/// How much of an interrupted frame's stack is written down, from the stack pointer on.
const MOST_STACK: u64 = 0x1000;
/// Below the stack pointer, where functions that call none may keep variables.
const BELOW_STACK_POINTER: u64 = 128;

/// Calls for each entry, with how many frames of this image were above its frame.
fn for_each(mut walk: Walk, act: &mut dyn FnMut(u64, StackEntry)) {
    let image = Image::get();
    let (mut above, mut number) = (0, 0);
    while let Some(frame) = walk.next() {
        if let Some(address) = image.link_address(frame.pc) {
            entries_of(frame, address, above, walk.registers(), &mut |entry| act(number, entry));
            if let Some(registers) = walk.interrupted_registers().filter(|_| frame.interrupted && unit::tells_faults())
            {
                interrupted_at(frame, address | INTERRUPTED, registers, &mut |entry| act(number, entry));
            }
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

/// What an interrupted frame has in registers and on its stack.
fn interrupted_at(frame: Frame, address: u64, registers: &AllRegisters, act: &mut dyn FnMut(StackEntry)) {
    for (number, &value) in (0..).zip(registers) {
        act(StackEntry { address, register: MACHINE_REGISTER + number, value });
    }
    act(StackEntry { address, register: COUNTERS_ADDRESS, value: unit::descriptor().counters as u64 });
    let sp = registers[STACK_POINTER];
    if !sp.is_multiple_of(8) || sp < FIRST_ADDRESS + BELOW_STACK_POINTER {
        return;
    }
    let most = sp.saturating_add(MOST_STACK);
    let end = if frame.cfa > sp { frame.cfa.min(most) } else { most };
    let mut page = 0;
    for word in (sp - BELOW_STACK_POINTER..end).step_by(8) {
        if word & !0xFFF != page {
            if !sys::readable(word) {
                continue;
            }
            page = word & !0xFFF;
        }
        // SAFETY: a word of a page that the kernel can read.
        let value = unsafe { (word as *const u64).read_volatile() };
        act(StackEntry { address, register: word, value });
    }
}
