//! A copy of the profile in another file, as recorders see it.

#[cfg(not(feature = "counters-alone"))]
use super::segments::{self, Segment, SegmentType};
use crate::layout::{Flags, PAGE, RawHeader};
use crate::runtime::file::current;
use crate::runtime::file::early_table::Slot;
use crate::runtime::os::sys;

/// The mapping of the copy. Recorders add to it what is not in the file of the profile, and the activations on the
/// stack.
pub struct ProfileCopy {
    pub base: *mut u8,
    pub len: usize,
    /// Where the room of the next recorder begins.
    #[cfg(not(feature = "counters-alone"))]
    pub room: usize,
}

impl ProfileCopy {
    /// The header page.
    pub fn header(&mut self) -> &mut RawHeader {
        // SAFETY: the mapping begins with a header page, and only this thread has it.
        unsafe { &mut *self.base.cast() }
    }

    /// What readers have to know.
    pub fn flag(&mut self, flags: Flags) {
        self.header().flags |= flags;
    }

    /// The table of early exits.
    pub fn early_exits(&mut self) -> &[Slot] {
        let slots = self.header().early_capacity as usize;
        // SAFETY: copied with the header page, which it follows.
        unsafe { core::slice::from_raw_parts(self.base.add(PAGE as usize).cast(), slots) }
    }

    /// Slab 0.
    pub fn slab_zero(&mut self) -> *mut u64 {
        // SAFETY: within the mapping.
        unsafe { self.base.add(current::slabs_offset() as usize).cast() }
    }

    /// Adds a segment in the room that the recorder has asked for, which is large enough.
    #[cfg(not(feature = "counters-alone"))]
    pub fn add_segment(&mut self, kind: SegmentType, capacity: u64) -> Segment {
        let (base, offset) = (self.base, self.room);
        self.room += kind.size(capacity);
        // SAFETY: behind all that was copied; the segment is used no longer than the mapping.
        unsafe { segments::add_to_copy(base, offset as u64, kind, capacity, &mut self.header().segment_head) }
    }

    /// The newest segment of a kind.
    #[cfg(not(feature = "counters-alone"))]
    pub fn newest_segment(&mut self, kind: SegmentType) -> Option<Segment> {
        let head = self.header().segment_head;
        // SAFETY: all segments of the file have been copied; they are used no longer than the mapping.
        unsafe { segments::newest_in_copy(self.base, head, kind) }
    }
}

impl Drop for ProfileCopy {
    fn drop(&mut self) {
        // SAFETY: mapped for this, used no more.
        unsafe { sys::unmap(self.base, self.len) };
    }
}
