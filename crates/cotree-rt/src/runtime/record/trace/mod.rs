//! The recorder of traces (Ball & Larus 1994, §4): it empties the windows that generated code fills, and writes down
//! what happens to activations without a return.
//!
//! Each thread has a [`window`] in its slab. A full one makes generated code call `__cotree_trace_full` ([`entry`]),
//! which moves the bytes into a chunk of the profile file ([`chunks`]), [compressed](compress) unless that is a ring.
//! What is in a window needs no help: it is in the file already.
//!
//! Frames come by the same walks as early exits, innermost first, in the thread that they belong to. So what is written
//! for them stands in the stream where they end.

mod chunks;
mod compress;
mod entry;
mod stream;
mod switch;
mod window;

use super::{Activation, Child, Recorder};
use crate::layout::{Flags, INTERRUPTED, RawHeader, TraceRecord};
use crate::runtime::file::current;
use crate::runtime::{slabs, unit};
use window::Window;

/// Reasons of [`TraceRecord::ENDED`].
const THREAD_OVER: u8 = 0;
const PROCESS_OVER: u8 = 1;

/// The recorder.
pub struct Trace;

impl Recorder for Trace {
    type Destination = Option<Window>;

    const LASTING_FLAGS: Flags = Flags::TRACE_CUT.with(Flags::TRACE_LOST).with(Flags::TRACE_PAUSED);

    #[inline(always)]
    fn walk_begins() -> Option<Self::Destination> {
        Some(Window::own())
    }

    #[inline(always)]
    fn frame(window: Self::Destination, frame: &Activation) {
        if let Some(window) = window {
            match (frame.tag == INTERRUPTED, frame.delta < 0) {
                (false, false) => window.append_frame(TraceRecord::UNWOUND, frame.address | frame.tag),
                (false, true) => window.append_frame(TraceRecord::REVIVED, frame.address | frame.tag),
                (true, false) => {
                    window.interrupt();
                    window.append_frame(TraceRecord::UNWOUND, frame.address | frame.tag);
                }
                // Nobody knows how far it had come.
                (true, true) => window.lose(),
            }
        }
    }

    fn is_recording_at(pc: u64) -> bool {
        entry::contains(pc)
    }

    fn begin(front: *mut u8) {
        // SAFETY: the header page, which nobody else writes yet.
        let header = unsafe { &mut *front.cast::<RawHeader>() };
        header.trace_word = unit::descriptor().trace_word;
        chunks::begin();
        if stream::begin() {
            header.flags |= Flags::TRACE_LOST;
        }
        if unit::descriptor().trace_off != 0 {
            header.flags |= Flags::TRACE_PAUSED;
        }
        if let Some(window) = Window::own() {
            window.begin_stream();
        }
    }

    /// Where the slab is shared there is no stream: the others of the slab are known to be missing.
    fn thread_starts(_thread: usize, thread_pointer: u64) {
        let slab = unit::slab_of(thread_pointer);
        if slab != unit::descriptor().counters
            && let Some(window) = Window::of(slab)
        {
            // What a thread before this one has left in the slab, as late as its last destructor.
            window.empty(None);
            window.begin_stream();
        }
    }

    fn thread_ends() {
        if let Some(window) = Window::own() {
            window.append(&[TraceRecord::ENDED, THREAD_OVER]);
        }
    }

    fn complete(_alone: bool) {
        let Some(window) = Window::own() else { return };
        window.append(&[TraceRecord::ENDED, PROCESS_OVER]);
        if slabs::any_in_memory() {
            current::flag(Flags::TRACE_CUT);
        }
        if unit::threaded() && Window::of(unit::descriptor().counters).is_some_and(Window::is_used_without_stream) {
            current::flag(Flags::THREAD_UNREGISTERED);
        }
    }

    fn loss(flags: Flags) -> Option<&'static str> {
        flags.has(Flags::TRACE_CUT).then_some("a part of the trace is missing in")
    }

    fn jump_is_unsure() {
        if let Some(window) = Window::own() {
            window.lose();
        }
    }

    /// The thread may be in a call that the trace passes over, as those of `strlen` are.
    fn interrupted() {
        if let Some(window) = Window::own() {
            window.interrupt();
        }
    }

    fn handler_begins(frame: u64) {
        if let Some(window) = Window::own() {
            window.begin_handler(frame);
        }
    }

    fn handler_ends(frame: u64, left: bool) {
        if let Some(window) = Window::own() {
            // What the handler interrupted may have been a call that the trace passes over, as those of `strcmp` are:
            // then nobody reads right what ends it. Activations of the handler's own may end as they like.
            if left && window.is_in_handler() {
                current::flag(Flags::TRACE_LOST);
            }
            window.end_handler(frame);
        }
    }

    /// The streams go on, and know of no activation: those that are on the stack come to life after this.
    fn clear() {
        if let Some(window) = Window::own() {
            stream::append_none(window);
        }
    }

    /// Slabs become empty memory, so there are no streams until the child's profile begins.
    fn forked(_child: &Child) {}
}
