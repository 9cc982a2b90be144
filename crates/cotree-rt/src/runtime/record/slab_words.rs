//! Words of a thread's slab that the runtime itself reads and writes.

/// The words of a slab.
#[derive(Clone, Copy)]
pub struct SlabWords(*mut u64);

impl SlabWords {
    /// The words of the slab at this address.
    pub fn new(slab: *mut u64) -> Self {
        Self(slab)
    }

    /// Reads a word, by its place in the slab.
    pub fn read(self, word: u64) -> u64 {
        // SAFETY: a word of the slab.
        unsafe { self.0.add(word as usize).read_volatile() }
    }

    /// Writes a word, by its place in the slab.
    pub fn write(self, word: u64, value: u64) {
        // SAFETY: a word of the slab, which belongs to this thread, or to one that does not run yet or counts anew.
        unsafe { self.0.add(word as usize).write_volatile(value) };
    }
}
