//! Activations that ended early, or were revived, by address.

use super::Stream;
use crate::counts::UnitCounts;
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};

pub(super) fn write(counts: &UnitCounts, w: &mut Writer) {
    if counts.early.is_empty() {
        return;
    }
    w.put(Stream::EarlyAddress, counts.early.len() as u64);
    let mut last = 0;
    for (&address, &count) in &counts.early {
        w.put(Stream::EarlyAddress, address - last);
        w.put_signed(Stream::EarlyCount, count);
        last = address;
    }
}

pub(super) fn read(counts: &mut UnitCounts, r: &mut Reader<'_>) -> Result<(), WireError> {
    const ORDER: WireError = WireError::Invalid("its early exits are not in order");
    if r.left(Stream::EarlyAddress) == 0 {
        return Ok(());
    }
    let mut address = 0u64;
    for index in 0..r.get_count(Stream::EarlyAddress, Stream::EarlyAddress)? {
        let step = r.get(Stream::EarlyAddress)?;
        if index > 0 && step == 0 {
            return Err(ORDER);
        }
        address = address.checked_add(step).ok_or(ORDER)?;
        counts.early.insert(address, r.get_signed(Stream::EarlyCount)?);
    }
    Ok(())
}
