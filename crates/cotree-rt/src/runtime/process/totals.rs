//! The public interface of event counts of the whole program (`cotree.h`).
//!
//! The counters of all slabs are read as they are, without a lock: a signal handler may ask.

use super::units;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use core::ffi::c_int;

entry!("cotree_event_count_total", total, 1);

unsafe extern "C" fn total(kind: c_int, _caller: &Caller) -> u64 {
    units::event_total(kind)
}
