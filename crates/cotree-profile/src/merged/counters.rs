//! The counters of the slab.

use super::Stream;
use crate::counts::UnitCounts;
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};

pub(super) fn write(counts: &UnitCounts, w: &mut Writer) {
    if counts.counters.is_empty() {
        return;
    }
    w.put(Stream::Counter, counts.counters.len() as u64);
    for &counter in &counts.counters {
        w.put(Stream::Counter, counter);
    }
}

pub(super) fn read(counts: &mut UnitCounts, r: &mut Reader<'_>) -> Result<(), WireError> {
    if r.left(Stream::Counter) > 0 {
        let count = r.get_count(Stream::Counter, Stream::Counter)?;
        counts.counters = (0..count).map(|_| r.get(Stream::Counter)).collect::<Result<_, _>>()?;
    }
    Ok(())
}
