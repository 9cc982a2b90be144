//! What signal handlers interrupt, as words of the thread's slab keep it while they run ([`HandlerWord`]).

use crate::layout::{Flags, HandlerWord};
use crate::runtime::file::current;
use crate::runtime::unit;

/// The handlers that run on a thread, outermost first.
#[derive(Clone, Copy)]
pub struct HandlerStack {
    slab: *mut u64,
    /// How many words are kept for each.
    kept: u64,
}

impl HandlerStack {
    /// The handlers of the thread with that slab, each with so many words. The unit has words for them.
    pub fn new(slab: *mut u64, kept: u64) -> Self {
        Self { slab, kept }
    }

    /// A word of the slab.
    pub fn read(self, word: u64) -> u64 {
        // SAFETY: a word of the slab.
        unsafe { self.slab.add(word as usize).read_volatile() }
    }

    /// Writes a word of the slab.
    pub fn write(self, word: u64, value: u64) {
        // SAFETY: a word of the slab, which belongs to this thread, or to one that does not run yet or counts anew.
        unsafe { self.slab.add(word as usize).write_volatile(value) };
    }

    fn depth(self) -> u64 {
        self.read(unit::descriptor().handler_words + HandlerWord::DEPTH).min(HandlerWord::MOST)
    }

    fn set_depth(self, depth: u64) {
        self.write(unit::descriptor().handler_words + HandlerWord::DEPTH, depth);
    }

    /// The words of the handler that has so many around it: its frame, then what is kept.
    fn handler(self, depth: u64) -> u64 {
        unit::descriptor().handler_words + HandlerWord::FIRST + depth * (1 + self.kept)
    }

    /// No handler runs.
    pub fn start(self) {
        self.set_depth(0);
    }

    /// A handler begins with that frame. Returns how many are around it, and the first of its words; `None` if there
    /// are too many handlers, which the profile says then.
    pub fn begin(self, frame: u64) -> Option<(u64, u64)> {
        let depth = self.depth();
        if depth >= HandlerWord::MOST {
            current::flag(Flags::HANDLERS_MIXED);
            return None;
        }
        self.write(self.handler(depth), frame);
        self.set_depth(depth + 1);
        Some((depth, self.handler(depth) + 1))
    }

    /// The handler with that frame is over, and all that have interrupted it. Returns how many are around it, and the
    /// first of its words, which hold until the next handler begins.
    pub fn end(self, frame: u64) -> Option<(u64, u64)> {
        let own = (0..self.depth()).rev().find(|&depth| self.read(self.handler(depth)) == frame)?;
        self.set_depth(own);
        Some((own, self.handler(own) + 1))
    }

    /// The first words of the handlers that run.
    pub fn each(self, mut visit: impl FnMut(u64)) {
        (0..self.depth()).for_each(|depth| visit(self.handler(depth) + 1));
    }
}
