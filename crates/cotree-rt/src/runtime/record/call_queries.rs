//! What calls of one line have led to so far, for programs that ask (`cotree_event_call_count` of `cotree.h`).
//!
//! The link has replaced the line in each call of that function by a number ([`UnitDescriptor::queried_lines`]), and
//! the function by the one here. What is not replaced asks for nothing that is measured.

use super::outermost::Outermost;
use super::queries::EventWords;
use super::slab_words::SlabWords;
use crate::arch::entries::{answer, entry};
use crate::arch::registers::Caller;
#[cfg(doc)]
use crate::layout::UnitDescriptor;
use crate::runtime::unit;
use core::ffi::c_int;

answer!("cotree_event_call_count", "0");
entry!("__cotree_call_events", call_events, 2);

unsafe extern "C" fn call_events(kind: c_int, line: c_int, _caller: &Caller) -> u64 {
    let Some((slab, kind)) = EventWords::own(kind).map(EventWords::place) else { return 0 };
    let outermost = Outermost::of(SlabWords::new(slab));
    words_of(line).iter().map(|&word| outermost.events_so_far(word.into(), kind)).fold(0, u64::wrapping_add)
}

/// The words of the calls of a line.
fn words_of(line: c_int) -> &'static [u32] {
    let descriptor = unit::descriptor();
    let line = u64::from(line.cast_unsigned());
    if line >= descriptor.queried_lines {
        return &[];
    }
    // SAFETY: the unit object's read-only data: so many numbers and one more, which say where parts of the other list
    // begin and end.
    unsafe {
        let index = descriptor.queried_index.add(line as usize);
        let (from, to) = (index.read(), index.add(1).read());
        core::slice::from_raw_parts(descriptor.queried_words.add(from as usize), (to - from) as usize)
    }
}
