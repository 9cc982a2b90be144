//! An array that grows without moving: segment *k* has 64·2ᵏ elements, all zero at first. Readers need no lock.

use crate::runtime::os::sys;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

const SEGMENTS: usize = 18;

/// The array. `T` must be valid when all its bytes are zero, and safe to share.
pub struct GrowingArray<T> {
    segments: [AtomicPtr<T>; SEGMENTS],
}

/// Segment and place in it.
const fn split(index: usize) -> (usize, usize) {
    let segment = ((index >> 6) + 1).ilog2() as usize;
    (segment, index - (((1 << segment) - 1) << 6))
}

impl<T: Sync + 'static> GrowingArray<T> {
    /// # Safety
    /// All zeros must be a valid `T`.
    pub const unsafe fn new() -> Self {
        Self { segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS] }
    }

    /// The element, if its segment is there.
    pub fn get(&self, index: usize) -> Option<&'static T> {
        let (segment, place) = split(index);
        let base = self.segments.get(segment)?.load(Ordering::Acquire);
        // SAFETY: a segment that is there has 64 << segment elements and is never freed.
        (!base.is_null()).then(|| unsafe { &*base.add(place) })
    }

    /// The element, making its segment; None without memory. One thread at a time.
    pub fn make(&self, index: usize) -> Option<&'static T> {
        let (segment, _) = split(index);
        let slot = self.segments.get(segment)?;
        if slot.load(Ordering::Acquire).is_null() {
            let memory = sys::map_anonymous((64 << segment) * size_of::<T>()).ok()?;
            slot.store(memory.cast(), Ordering::Release);
        }
        self.get(index)
    }

    /// All elements whose segments are there, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &'static T)> + '_ {
        (0..).map_while(|index| self.get(index).map(|element| (index, element)))
    }
}
