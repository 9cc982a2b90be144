//! Tells a stream the stack of its thread, so that it can be read from there on.

use super::window::Window;
use crate::arch::registers::Caller;
use crate::layout::{TRACE_STACK_CUT, TracePlace, TraceRecord};
use crate::runtime::stack::walk::{Frame, Walk};
use crate::runtime::unit::Image;

/// The most frames that are told: they take up a part of the window.
const MOST: u32 = 1000;

/// Begins the window with the stack. The innermost function is at the place, and called from there.
pub fn append(window: Window, place: u64, caller: &Caller) {
    tell(window, place, caller, |bytes| window.begin_snapshot(bytes));
}

/// Appends the stack as a part of the stream. All functions are in calls.
pub fn append_here(window: Window, caller: &Caller) {
    tell(window, TracePlace::NONE, caller, |_| ());
}

fn tell(window: Window, place: u64, caller: &Caller, announce: impl FnOnce(u64)) {
    let image = Image::get();
    let address = |frame: Frame| {
        let (pc, tag) = frame.key();
        image.link_address(pc).map(|address| address | tag)
    };
    let mut walk = Walk::new(caller);
    let count = walk.by_ref().filter_map(address).count() as u32;
    let cut = if count > MOST || !walk.is_complete() { TRACE_STACK_CUT } else { 0 };
    let told = count.min(MOST);
    let mut record = [TraceRecord::STARTED; 13];
    record[1..9].copy_from_slice(&place.to_le_bytes());
    record[9..].copy_from_slice(&(told | cut).to_le_bytes());
    announce(record.len() as u64 + u64::from(told) * 8);
    window.append(&record);
    for address in Walk::new(caller).filter_map(address).take(told as usize) {
        window.append(&address.to_le_bytes());
    }
}

/// Appends that the stream begins anew, without any activation.
pub fn append_none(window: Window) {
    let mut record = [0; 15];
    record[..3].copy_from_slice(&[TraceRecord::SWITCHED_OFF, TraceRecord::SWITCHED_ON, TraceRecord::STARTED]);
    record[3..11].copy_from_slice(&TracePlace::NONE.to_le_bytes());
    window.append(&record);
}
