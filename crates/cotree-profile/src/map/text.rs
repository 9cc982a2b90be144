//! The table of strings: symbols, paths and names, each stored once, in the order in which they are first used.
//!
//! A reference is 0 for "the next new string", else one more than the string's number. Symbols are mostly defined or
//! used for the first time where they are named, so most references are zeros.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use std::collections::HashMap;

/// Interns strings while a map is written.
#[derive(Default)]
pub(super) struct TextWriter<'a> {
    numbers: HashMap<&'a str, u64>,
    strings: Vec<&'a str>,
}

impl<'a> TextWriter<'a> {
    /// Writes a reference to `string` to a stream; returns the string's number.
    pub(super) fn put(&mut self, writer: &mut Writer, stream: Stream, string: &'a str) -> u64 {
        let next = self.strings.len() as u64;
        let number = *self.numbers.entry(string).or_insert(next);
        if number == next {
            self.strings.push(string);
            writer.put(stream, 0);
        } else {
            writer.put(stream, number + 1);
        }
        number
    }

    /// The number of a string, if it has been written before.
    pub(super) fn number(&self, string: &str) -> Option<u64> {
        self.numbers.get(string).copied()
    }

    /// Writes the table.
    pub(super) fn finish(self, writer: &mut Writer) {
        for string in self.strings {
            writer.put(Stream::TextLength, string.len() as u64);
            writer.put_bytes(Stream::Text, string.as_bytes());
        }
    }
}

/// The table of a map that is being read.
pub(super) struct TextReader {
    strings: Vec<String>,
}

impl TextReader {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, MapError> {
        let mut strings = Vec::new();
        while reader.left(Stream::TextLength) > 0 {
            let length = usize::try_from(reader.get(Stream::TextLength)?)
                .map_err(|_| MapError::Invalid("a string is too long"))?;
            let bytes = reader.get_bytes(Stream::Text, length)?;
            strings
                .push(std::str::from_utf8(bytes).map_err(|_| MapError::Invalid("a string is not UTF-8"))?.to_owned());
        }
        Ok(Self { strings })
    }

    pub(super) fn start(self) -> TextCursor {
        // Otherwise a few references could multiply one huge string.
        let budget = self.strings.iter().map(String::len).sum::<usize>().saturating_mul(64).saturating_add(1 << 24);
        TextCursor { strings: self.strings, next: 0, budget }
    }
}

/// Resolves references in the order in which they were written.
pub(super) struct TextCursor {
    strings: Vec<String>,
    next: usize,
    budget: usize,
}

impl TextCursor {
    pub(super) fn get(&mut self, reader: &mut Reader<'_>, stream: Stream) -> Result<String, MapError> {
        self.get_numbered(reader, stream).map(|(_, string)| string)
    }

    /// The string with its number.
    pub(super) fn get_numbered(&mut self, reader: &mut Reader<'_>, stream: Stream) -> Result<(u64, String), MapError> {
        let number = match reader.get(stream)? {
            0 => {
                self.next += 1;
                self.next - 1
            }
            known => {
                usize::try_from(known - 1).ok().filter(|&n| n < self.next).ok_or(MapError::Invalid("no such string"))?
            }
        };
        Ok((number as u64, self.string(number)?))
    }

    /// A string that has been read before, by its number.
    pub(super) fn known(&mut self, number: u64) -> Result<String, MapError> {
        let number = usize::try_from(number).map_err(|_| MapError::Invalid("no such string"))?;
        self.string(number)
    }

    fn string(&mut self, number: usize) -> Result<String, MapError> {
        let string = self.strings.get(number).ok_or(MapError::Invalid("no such string"))?;
        self.budget = self.budget.checked_sub(string.len()).ok_or(MapError::Invalid("its strings are too long"))?;
        Ok(string.clone())
    }

    pub(super) fn finish(self) -> Result<(), MapError> {
        if self.next == self.strings.len() { Ok(()) } else { Err(MapError::Invalid("a string is used nowhere")) }
    }
}
