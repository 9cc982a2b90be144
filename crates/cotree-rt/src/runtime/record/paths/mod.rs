//! The recorder of paths: functions with too many paths for an array count them in hash tables, and so are the path
//! registers of activations that end early.
//!
//! Generated code caches the places of recently used buckets in words of the slab, and calls `__cotree_path` for
//! any other ([`entry`]). The [`table`]s are in the profile file, between the slabs.

mod entry;
mod table;

use super::registers;
use super::{Activation, Child, Recorder};
use crate::layout::{ABANDONED, Flags, INTERRUPTED, RawHeader, VALUE_SHIFT};
use crate::runtime::file::current;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::stack::walk::Top;
use crate::runtime::{slabs, unit};
use core::ffi::c_int;

/// The recorder.
pub struct Paths;

impl Recorder for Paths {
    type Destination = ();

    const LASTING_FLAGS: Flags = Flags::PATHS_MISSING;

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn frame((): (), frame: &Activation) {
        for_each_register(frame, |key, register| table::count(key, register, frame.delta));
    }

    fn is_recording_at(pc: u64) -> bool {
        entry::contains(pc)
    }

    fn make_room(file: c_int) {
        if unit::counts_paths() {
            // Without it, there may be room later.
            let _ = slabs::make_first_room(file, table::FIRST_SIZE);
        }
    }

    fn begin(front: *mut u8) {
        // SAFETY: the header page, which nobody else writes yet.
        unsafe { (*front.cast::<RawHeader>()).path_metric = unit::descriptor().path_metric };
        table::open();
    }

    fn forked(_child: &Child) {
        table::detach();
    }

    fn complete(alone: bool) {
        if alone {
            table::move_into_file();
        } else if table::keys_in_memory() > 0 {
            current::flag(Flags::PATHS_MISSING);
        }
    }

    fn loss(flags: Flags) -> Option<&'static str> {
        flags.has(Flags::PATHS_MISSING).then_some("counts of paths are missing in")
    }

    fn close() {
        table::close();
    }

    fn clear() {
        table::clear();
    }

    /// One more segment, for what is not in the file and for the registers of frames.
    fn room_in_copy(top: Top<'_>) -> usize {
        if unit::counts_paths() {
            table::room_in_copy(table::keys_in_memory() + registers::count_on_stack(top))
        } else {
            0
        }
    }

    fn copy(copy: &mut ProfileCopy, room: usize) {
        table::fill_copy(copy, room);
    }

    fn frame_in_copy(copy: &mut ProfileCopy, frame: &Activation) {
        for_each_register(frame, |key, register| {
            if !table::count_in_copy(copy, key, register, frame.delta) {
                copy.flag(Flags::PATHS_MISSING);
            }
        });
    }
}

/// Calls with the path registers of an activation, each with its key in the table. One that was interrupted in the
/// middle of something has none that could be found.
#[inline(always)]
fn for_each_register(frame: &Activation, mut act: impl FnMut(u64, u64)) {
    if frame.tag == INTERRUPTED {
        return;
    }
    if let Some(values) = frame.registers {
        let address = frame.address | frame.tag;
        registers::for_each(frame.pc, values, |number, value| act(ABANDONED | number << VALUE_SHIFT | address, value));
    }
}
