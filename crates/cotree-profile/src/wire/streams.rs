//! Byte streams: a packed file keeps each kind of number in a stream of its own.
//!
//! Line deltas resemble line deltas and branch shapes resemble branch shapes, so a general compressor does several
//! times better on each of them alone than on records that mix them.

use super::WireError;
use super::sections::{Slot, Table};
use super::varint::{self, NumberError};

/// Streams being written.
pub(crate) struct Writer {
    streams: Vec<Vec<u8>>,
}

impl Writer {
    pub(crate) fn new(table: &Table) -> Self {
        Self { streams: vec![Vec::new(); table.slots()] }
    }

    pub(crate) fn put(&mut self, stream: impl Into<Slot>, value: u64) {
        varint::put(&mut self.streams[stream.into().0], value);
    }

    pub(crate) fn put_signed(&mut self, stream: impl Into<Slot>, value: i64) {
        self.put(stream, varint::zigzag(value));
    }

    /// The step from one 32-bit number to another.
    pub(crate) fn put_step(&mut self, stream: impl Into<Slot>, from: u32, to: u32) {
        self.put_signed(stream, i64::from(to) - i64::from(from));
    }

    pub(crate) fn put_bytes(&mut self, stream: impl Into<Slot>, bytes: &[u8]) {
        self.streams[stream.into().0].extend_from_slice(bytes);
    }

    /// The streams, by slot.
    pub(crate) fn finish(self) -> Vec<Vec<u8>> {
        self.streams
    }
}

/// Streams being read.
pub(crate) struct Reader<'a> {
    table: &'static Table,
    /// What is left of each stream, by slot.
    rest: Vec<&'a [u8]>,
}

impl<'a> Reader<'a> {
    /// Reads streams, one per slot.
    pub(crate) fn new(table: &'static Table, streams: &'a [Vec<u8>]) -> Self {
        Self { table, rest: streams.iter().map(Vec::as_slice).collect() }
    }

    fn rest(&mut self, slot: Slot) -> &mut &'a [u8] {
        &mut self.rest[slot.0]
    }

    pub(crate) fn get(&mut self, stream: impl Into<Slot>) -> Result<u64, WireError> {
        let slot = stream.into();
        varint::take(self.rest(slot)).map_err(|error| match error {
            NumberError::Ends => WireError::Ends(self.table.stream_name(slot)),
            NumberError::TooLong => WireError::Invalid("a number has more than 64 bits"),
        })
    }

    pub(crate) fn get_u32(&mut self, stream: impl Into<Slot>) -> Result<u32, WireError> {
        u32::try_from(self.get(stream)?).map_err(|_| WireError::Invalid("a number has more than 32 bits"))
    }

    pub(crate) fn get_signed(&mut self, stream: impl Into<Slot>) -> Result<i64, WireError> {
        self.get(stream).map(varint::unzigzag)
    }

    /// Reads a number that [`Writer::put_step`] wrote as the step from `before`.
    pub(crate) fn get_step(&mut self, stream: impl Into<Slot>, from: u32) -> Result<u32, WireError> {
        let to = i64::from(from).checked_add(self.get_signed(stream)?);
        to.and_then(|to| u32::try_from(to).ok()).ok_or(WireError::Invalid("a step leads out of range"))
    }

    /// A number of things of which each takes at least one byte of `of`.
    pub(crate) fn get_count(&mut self, stream: impl Into<Slot>, of: impl Into<Slot>) -> Result<usize, WireError> {
        let count = self.get(stream)?;
        let left = self.left(of);
        usize::try_from(count)
            .ok()
            .filter(|&n| n <= left)
            .ok_or(WireError::Invalid("a count is larger than its stream"))
    }

    /// Bytes left in a stream.
    pub(crate) fn left(&self, stream: impl Into<Slot>) -> usize {
        self.rest[stream.into().0].len()
    }

    pub(crate) fn get_bytes(&mut self, stream: impl Into<Slot>, length: usize) -> Result<&'a [u8], WireError> {
        let slot = stream.into();
        let rest = self.rest(slot);
        let Some((bytes, tail)) = rest.split_at_checked(length) else {
            return Err(WireError::Ends(self.table.stream_name(slot)));
        };
        *rest = tail;
        Ok(bytes)
    }

    /// Checks that all streams are read to their ends.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        if self.rest.iter().all(|rest| rest.is_empty()) {
            Ok(())
        } else {
            Err(WireError::Invalid("bytes are left over"))
        }
    }
}
