//! The public interface of traces (`cotree.h`): `cotree_trace_start` and `cotree_trace_stop` switch the recording of
//! the calling thread.

use super::stream;
use super::window::Window;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use crate::layout::TraceRecord;

// Each link unit has its own: a library that calls them speaks of itself.
entry!("cotree_trace_start", start, 0);
entry!("cotree_trace_stop", stop, 0);

unsafe extern "C" fn start(caller: &Caller) {
    if let Some(window) = Window::own()
        && window.switch_on()
    {
        window.append(&[TraceRecord::SWITCHED_ON]);
        stream::append_stack(window, caller);
    }
}

unsafe extern "C" fn stop(_caller: &Caller) {
    if let Some(window) = Window::own() {
        window.switch_off();
    }
}
