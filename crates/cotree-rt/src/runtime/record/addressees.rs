//! Paths across functions (Melski & Reps 1998, §9.2.1): whom callers have named when signal handlers begin.
//!
//! A caller names the function for which it leaves a path in words of the slab. A handler may begin before that
//! function reads them, and may call it. So there is no name while the handler runs, and it comes back when the handler
//! ends.

use super::handler_stack::HandlerStack;
use super::{Child, Recorder};
use crate::layout::{Flags, RawHeader};
use crate::runtime::os::sys;
use crate::runtime::unit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The recorder.
pub struct Addressees;

/// A child was forked in a handler, which may have interrupted a call between the callee's return and the caller that
/// reads the path; nor do the words of the child know of the handler's beginning.
static FORKED_IN_HANDLER: AtomicBool = AtomicBool::new(false);

impl Recorder for Addressees {
    type Destination = ();

    const LASTING_FLAGS: Flags = Flags::HANDLERS_MIXED;

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    fn begin(front: *mut u8) {
        if unit::passes_paths() && FORKED_IN_HANDLER.swap(false, Relaxed) {
            // SAFETY: the header page, which nobody else knows yet.
            unsafe { (*front.cast::<RawHeader>()).flags |= Flags::HANDLERS_MIXED };
        }
    }

    fn forked(child: &Child) {
        FORKED_IN_HANDLER.store(child.interrupted, Relaxed);
    }

    /// Comes after the recorder that gives the thread its slab.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        if unit::threaded()
            && let Some((handlers, word)) = handlers(|| unit::slab_of(thread_pointer))
        {
            handlers.start();
            handlers.write(word, 0);
        }
    }

    fn handler_begins(frame: u64) {
        if let Some((handlers, word)) = handlers(unit::own_slab) {
            let signals = sys::set_signal_mask(u64::MAX);
            if let Some((_, kept)) = handlers.begin(frame) {
                handlers.write(kept, handlers.read(word));
                handlers.write(word, 0);
            }
            sys::set_signal_mask(signals);
        }
    }

    /// Where a handler is left for good, so is the call that it interrupted.
    fn handler_ends(frame: u64, left: bool) {
        if let Some((handlers, word)) = handlers(unit::own_slab) {
            let signals = sys::set_signal_mask(u64::MAX);
            if let Some((_, kept)) = handlers.end(frame) {
                handlers.write(word, if left { 0 } else { handlers.read(kept) });
            }
            sys::set_signal_mask(signals);
        }
    }
}

/// The handlers of a thread and the word with the name; `None` if paths do not pass between functions.
#[inline(always)]
fn handlers(slab: impl FnOnce() -> *mut u64) -> Option<(HandlerStack, u64)> {
    unit::passes_paths().then(|| (HandlerStack::new(slab(), 1), unit::descriptor().addressee_word))
}
