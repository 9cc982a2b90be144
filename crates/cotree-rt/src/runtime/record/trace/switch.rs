//! The public interface of traces (`cotree.h`): `cotree_trace_start` and `cotree_trace_stop` switch the recording of
//! the calling thread.

use super::stack;
use super::window::Window;
use crate::layout::TraceRecord;
use crate::runtime::hooks::linkage::{Caller, entry};

// Each link unit has its own: a library that calls them speaks of itself.
entry!("cotree_trace_start", start, "rdi");
entry!("cotree_trace_stop", stop, "rdi");

unsafe extern "C" fn start(caller: &Caller) {
    if let Some(window) = Window::own()
        && window.switch_on()
    {
        window.append(&[TraceRecord::SWITCHED_ON]);
        stack::append_here(window, caller);
    }
}

unsafe extern "C" fn stop(_caller: &Caller) {
    if let Some(window) = Window::own() {
        window.switch_off();
    }
}
