//! Reads numbers and strings off a part of a section, never past its end.

use super::error::CoverageFault;
use crate::wire::varint::{self, NumberError};

/// What is left of a part of a section.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'d> {
    rest: &'d [u8],
    little_endian: bool,
    /// Names the part in errors.
    part: &'static str,
}

impl<'d> Bytes<'d> {
    pub(super) fn new(data: &'d [u8], little_endian: bool, part: &'static str) -> Self {
        Self { rest: data, little_endian, part }
    }

    /// The bytes that are left.
    pub(super) fn rest(&self) -> &'d [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes that many bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'d [u8], CoverageFault> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(CoverageFault::Ends(self.part))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CoverageFault> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(CoverageFault::Ends(self.part))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Takes a number of 32 bits.
    pub(super) fn u32(&mut self) -> Result<u32, CoverageFault> {
        let bytes = self.array()?;
        Ok(if self.little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// Takes a number of 64 bits.
    pub(super) fn u64(&mut self) -> Result<u64, CoverageFault> {
        let bytes = self.array()?;
        Ok(if self.little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Takes a ULEB128 number.
    pub(super) fn number(&mut self) -> Result<u64, CoverageFault> {
        varint::take(&mut self.rest).map_err(|error| match error {
            NumberError::Ends => CoverageFault::Ends(self.part),
            NumberError::TooLong => CoverageFault::Invalid("a number has more than 64 bits"),
        })
    }

    /// Takes a ULEB128 number that must be smaller than `limit`; `what` says so if it is not.
    pub(super) fn below(&mut self, limit: u32, what: &'static str) -> Result<u32, CoverageFault> {
        let number = self.number()?;
        u32::try_from(number).ok().filter(|&n| n < limit).ok_or(CoverageFault::Invalid(what))
    }

    /// Takes how many things follow, each of which takes a byte at least.
    pub(super) fn count(&mut self) -> Result<usize, CoverageFault> {
        let number = self.number()?;
        usize::try_from(number).ok().filter(|&n| n <= self.rest.len()).ok_or(CoverageFault::Ends(self.part))
    }

    /// Takes a string with its length before it. Names of files need not be UTF-8; what is not, is replaced.
    pub(super) fn string(&mut self) -> Result<String, CoverageFault> {
        let length = self.count()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// Skips what a linker has put before the next aligned part: bytes up to a multiple of eight of the section, then
    /// words of zeros. `section` is the length of the section.
    pub(super) fn skip_padding(&mut self, section: usize) {
        let offset = section - self.rest.len();
        let to_boundary = offset.next_multiple_of(8) - offset;
        self.rest = self.rest.get(to_boundary..).unwrap_or_default();
        while let Some((_, rest)) = self.rest.split_at_checked(8).filter(|(word, _)| word.iter().all(|&b| b == 0)) {
            self.rest = rest;
        }
        if self.rest.iter().all(|&b| b == 0) {
            self.rest = &[];
        }
    }
}
