//! What signal handlers interrupt, as words of the thread's slab keep it while they run ([`HandlerWord`]).

use super::slab_words::SlabWords;
use super::{Child, Recorder};
use crate::layout::{Flags, HandlerWord, RawHeader};
use crate::runtime::file::current;
use crate::runtime::unit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The recorder of what is the same whatever is kept.
pub struct HandlerStacks;

/// A child was forked in a handler, whose beginning its words do not know.
static FORKED_IN_HANDLER: AtomicBool = AtomicBool::new(false);

impl Recorder for HandlerStacks {
    type Destination = ();

    const LASTING_FLAGS: Flags = Flags::HANDLERS_MIXED;

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    fn begin(front: *mut u8) {
        if is_kept() && FORKED_IN_HANDLER.swap(false, Relaxed) {
            // SAFETY: the header page, which nobody else knows yet.
            unsafe { (*front.cast::<RawHeader>()).flags |= Flags::HANDLERS_MIXED };
        }
    }

    fn forked(child: &Child) {
        FORKED_IN_HANDLER.store(child.interrupted, Relaxed);
    }

    /// Comes after the recorder that gives the thread its slab. No handler runs.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        if unit::threaded() && is_kept() {
            HandlerStack::new(SlabWords::new(unit::slab_of(thread_pointer)), 0).set_depth(0);
        }
    }
}

/// Whether the unit has words for what handlers interrupt.
fn is_kept() -> bool {
    unit::descriptor().handler_words != 0
}

/// The handlers that run on a thread, outermost first.
#[derive(Clone, Copy)]
pub struct HandlerStack {
    words: SlabWords,
    /// How many words are kept for each.
    kept: u64,
}

impl HandlerStack {
    /// The handlers of the thread with that slab, each with so many words. The unit has words for them.
    pub fn new(words: SlabWords, kept: u64) -> Self {
        Self { words, kept }
    }

    fn depth(self) -> u64 {
        self.words.read(unit::descriptor().handler_words + HandlerWord::DEPTH).min(HandlerWord::MOST)
    }

    fn set_depth(self, depth: u64) {
        self.words.write(unit::descriptor().handler_words + HandlerWord::DEPTH, depth);
    }

    /// The words of the handler that has so many around it: its frame, then what is kept.
    fn handler(self, depth: u64) -> u64 {
        unit::descriptor().handler_words + HandlerWord::FIRST + depth * (1 + self.kept)
    }

    /// A handler begins with that frame. Returns how many are around it, and the first of its words; `None` if there
    /// are too many handlers, which the profile says then.
    pub fn begin(self, frame: u64) -> Option<(u64, u64)> {
        let depth = self.depth();
        if depth >= HandlerWord::MOST {
            current::flag(Flags::HANDLERS_MIXED);
            return None;
        }
        self.words.write(self.handler(depth), frame);
        self.set_depth(depth + 1);
        Some((depth, self.handler(depth) + 1))
    }

    /// The handler with that frame is over, and all that have interrupted it. Returns how many are around it, and the
    /// first of its words, which hold until the next handler begins.
    pub fn end(self, frame: u64) -> Option<(u64, u64)> {
        let own = (0..self.depth()).rev().find(|&depth| self.words.read(self.handler(depth)) == frame)?;
        self.set_depth(own);
        Some((own, self.handler(own) + 1))
    }

    /// The first of the words that are kept for the handler that has so many around it.
    pub fn kept_of(self, depth: u64) -> u64 {
        self.handler(depth) + 1
    }

    /// The first words of the handlers that run.
    pub fn each(self, mut visit: impl FnMut(u64)) {
        (0..self.depth()).for_each(|depth| visit(self.handler(depth) + 1));
    }
}
