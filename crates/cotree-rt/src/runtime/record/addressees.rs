//! Paths across functions (Melski & Reps 1998, §9.2.1): whom callers have named when signal handlers begin.
//!
//! A caller names the function for which it leaves a path in words of the slab. A handler may begin before that
//! function reads them, and may call it. So there is no name while the handler runs, and it comes back when the handler
//! ends.

use super::Recorder;
use super::handler_stack::HandlerStack;
use super::slab_words::SlabWords;
use crate::runtime::os::sys;
use crate::runtime::unit;

/// The recorder.
pub struct Addressees;

impl Recorder for Addressees {
    type Destination = ();

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    /// Comes after the recorder that gives the thread its slab.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        if unit::threaded()
            && let Some((_, words, word)) = handlers(|| unit::slab_of(thread_pointer))
        {
            words.write(word, 0);
        }
    }

    fn handler_begins(frame: u64) {
        if let Some((handlers, words, word)) = handlers(unit::own_slab) {
            let signals = sys::set_signal_mask(u64::MAX);
            if let Some((_, kept)) = handlers.begin(frame) {
                words.write(kept, words.read(word));
                words.write(word, 0);
            }
            sys::set_signal_mask(signals);
        }
    }

    /// Where a handler is left for good, so is the call that it interrupted.
    fn handler_ends(frame: u64, left: bool) {
        if let Some((handlers, words, word)) = handlers(unit::own_slab) {
            let signals = sys::set_signal_mask(u64::MAX);
            if let Some((_, kept)) = handlers.end(frame) {
                words.write(word, if left { 0 } else { words.read(kept) });
            }
            sys::set_signal_mask(signals);
        }
    }
}

/// The handlers of a thread, its words, and the place of that with the name; `None` if paths do not pass between
/// functions.
#[inline(always)]
fn handlers(slab: impl FnOnce() -> *mut u64) -> Option<(HandlerStack, SlabWords, u64)> {
    unit::passes_paths().then(|| {
        let words = SlabWords::new(slab());
        (HandlerStack::new(words, 1), words, unit::descriptor().addressee_word)
    })
}
