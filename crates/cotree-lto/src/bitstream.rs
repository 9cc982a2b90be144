//! A walk over the top level of an LLVM bitcode file: just enough of the bitstream format to find the symbol table.
//!
//! A bitcode file is a sequence of blocks. `IDENTIFICATION` and `MODULE` come in pairs, then a `SYMTAB` block holds one
//! blob (the table that linkers read, see [`crate::symtab`]) and a `STRTAB` block one blob of names. Blocks carry their
//! length, so modules are stepped over and the walk costs nothing however large they are.
//!
//! Input is hostile until proven otherwise: every read is checked, every length is bounded by the file, nothing
//! recurses.

use thiserror::Error;

/// `BC` 0xC0DE.
pub const MAGIC: [u8; 4] = *b"BC\xC0\xDE";
/// The first word of the wrapper that some tools put around bitcode, as bytes of a file.
pub const WRAPPER_MAGIC: [u8; 4] = 0x0B17_C0DE_u32.to_le_bytes();

/// Why a file that begins like bitcode can't be walked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// A block or a record reaches past the end.
    #[error("it ends in the middle of a block (at byte {0})")]
    Truncated(usize),
    /// Something stands where no bitcode writer would put it.
    #[error("byte {0} is not what a bitcode file has there")]
    Unexpected(usize),
}

/// What linkers need of a bitcode file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TopLevel<'a> {
    /// How many modules the file holds.
    pub modules: usize,
    /// The symbol table, if there is one.
    pub symtab: Option<&'a [u8]>,
    /// The names that the symbol table points into.
    pub strtab: Option<&'a [u8]>,
}

const MODULE_BLOCK: u64 = 8;
const STRTAB_BLOCK: u64 = 23;
const SYMTAB_BLOCK: u64 = 25;
/// The record that holds the blob, in both `STRTAB` and `SYMTAB`.
const BLOB_RECORD: u64 = 1;

const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREV: u64 = 2;
const UNABBREV_RECORD: u64 = 3;
const FIRST_ABBREV: u64 = 4;

const TOP_LEVEL_ABBREV_WIDTH: u32 = 2;

/// Takes the wrapper off: `None` where `data` is no bitcode at all.
///
/// # Errors
/// If the wrapper points outside of the file.
pub fn unwrap(data: &[u8]) -> Option<Result<std::ops::Range<usize>, Malformed>> {
    if data.starts_with(&MAGIC) {
        return Some(Ok(0..data.len()));
    }
    if !data.starts_with(&WRAPPER_MAGIC) {
        return None;
    }
    let word = |index: usize| {
        let bytes = data.get(index * 4..index * 4 + 4).ok_or(Malformed::Truncated(data.len()))?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize)
    };
    Some((|| {
        let (start, size) = (word(2)?, word(3)?);
        let end = start.checked_add(size).filter(|&end| end <= data.len()).ok_or(Malformed::Truncated(data.len()))?;
        if !data[start..end].starts_with(&MAGIC) {
            return Err(Malformed::Unexpected(start));
        }
        Ok(start..end)
    })())
}

/// Walks the blocks of a bitcode file that begins with [`MAGIC`].
///
/// # Errors
/// If the file is damaged.
pub fn walk(data: &[u8]) -> Result<TopLevel<'_>, Malformed> {
    if !data.starts_with(&MAGIC) {
        return Err(Malformed::Unexpected(0));
    }
    let mut cursor = Cursor { data, bit: 32 };
    let mut found = TopLevel::default();
    // Writers pad with zeros up to a word or two; a block header takes two words.
    while data.len() - cursor.bit / 8 >= 8 {
        let at = cursor.bit / 8;
        if cursor.fixed(TOP_LEVEL_ABBREV_WIDTH)? != ENTER_SUBBLOCK {
            return Err(Malformed::Unexpected(at));
        }
        let block = cursor.enter_block()?;
        match block.id {
            MODULE_BLOCK => found.modules += 1,
            SYMTAB_BLOCK => found.symtab = cursor.blob_of(&block)?,
            // A file made by concatenation has several; the names of a table are in the first one after it.
            STRTAB_BLOCK if found.strtab.is_none() || found.symtab.is_none() => {
                found.strtab = cursor.blob_of(&block)?;
            }
            _ => {}
        }
        cursor.bit = block.end * 8;
    }
    if found.modules == 0 {
        return Err(Malformed::Truncated(data.len()));
    }
    Ok(found)
}

struct Block {
    id: u64,
    abbrev_width: u32,
    /// In bytes from the file's start.
    end: usize,
}

/// How one operand of an abbreviated record is written.
#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Array,
    Char6,
    Blob,
}

struct Cursor<'a> {
    data: &'a [u8],
    bit: usize,
}

impl<'a> Cursor<'a> {
    fn fixed(&mut self, width: u32) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in 0..width {
            let byte = self.data.get(self.bit / 8).ok_or(Malformed::Truncated(self.data.len()))?;
            value |= u64::from(byte >> (self.bit % 8) & 1) << shift;
            self.bit += 1;
        }
        Ok(value)
    }

    fn vbr(&mut self, width: u32) -> Result<u64, Malformed> {
        let more = 1_u64 << (width - 1);
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let chunk = self.fixed(width)?;
            if shift >= u64::BITS {
                return Err(Malformed::Unexpected(self.bit / 8));
            }
            value |= (chunk & (more - 1)) << shift;
            if chunk & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
        }
    }

    fn align(&mut self) {
        self.bit = self.bit.next_multiple_of(32);
    }

    fn length(&mut self, value: u64) -> Result<usize, Malformed> {
        usize::try_from(value).ok().filter(|&n| n <= self.data.len()).ok_or(Malformed::Truncated(self.data.len()))
    }

    /// After the abbreviation id `ENTER_SUBBLOCK`.
    fn enter_block(&mut self) -> Result<Block, Malformed> {
        let id = self.vbr(8)?;
        let at = self.bit / 8;
        let abbrev_width = self.vbr(4)?;
        self.align();
        let words = self.fixed(32)?;
        let words = self.length(words)?;
        let end = self.bit / 8 + words * 4;
        if end > self.data.len() {
            return Err(Malformed::Truncated(self.data.len()));
        }
        // Width 2 is the least that can name the four built-in ids.
        let abbrev_width =
            u32::try_from(abbrev_width).ok().filter(|w| (2..=32).contains(w)).ok_or(Malformed::Unexpected(at))?;
        Ok(Block { id, abbrev_width, end })
    }

    /// The blob of a block that holds only one.
    fn blob_of(&mut self, block: &Block) -> Result<Option<&'a [u8]>, Malformed> {
        let mut abbreviations: Vec<Vec<Operand>> = Vec::new();
        while self.bit / 8 < block.end {
            let at = self.bit / 8;
            match self.fixed(block.abbrev_width)? {
                END_BLOCK => break,
                ENTER_SUBBLOCK => {
                    let inner = self.enter_block()?;
                    self.bit = inner.end * 8;
                }
                DEFINE_ABBREV => abbreviations.push(self.abbreviation()?),
                UNABBREV_RECORD => {
                    self.vbr(6)?;
                    for _ in 0..self.vbr(6)? {
                        self.vbr(6)?;
                    }
                }
                id => {
                    let index = usize::try_from(id - FIRST_ABBREV).unwrap_or(usize::MAX);
                    let operands = abbreviations.get(index).ok_or(Malformed::Unexpected(at))?;
                    let (code, blob) = self.record(operands)?;
                    if code == Some(BLOB_RECORD) && blob.is_some() {
                        return Ok(blob);
                    }
                }
            }
        }
        Ok(None)
    }

    fn abbreviation(&mut self) -> Result<Vec<Operand>, Malformed> {
        let count = self.vbr(5)?;
        let mut operands = Vec::new();
        for _ in 0..count {
            let at = self.bit / 8;
            let operand = if self.fixed(1)? == 1 {
                Operand::Literal(self.vbr(8)?)
            } else {
                match self.fixed(3)? {
                    encoding @ (1 | 2) => {
                        let width = self.vbr(5)?;
                        let width = u32::try_from(width).ok().filter(|&w| w <= 64).ok_or(Malformed::Unexpected(at))?;
                        match (encoding, width) {
                            (_, 0) => Operand::Literal(0),
                            (1, _) => Operand::Fixed(width),
                            (_, 1) => return Err(Malformed::Unexpected(at)),
                            _ => Operand::Vbr(width),
                        }
                    }
                    3 => Operand::Array,
                    4 => Operand::Char6,
                    5 => Operand::Blob,
                    _ => return Err(Malformed::Unexpected(at)),
                }
            };
            operands.push(operand);
        }
        Ok(operands)
    }

    /// The code and the blob of a record; all else is stepped over.
    fn record(&mut self, operands: &[Operand]) -> Result<(Option<u64>, Option<&'a [u8]>), Malformed> {
        let (mut code, mut blob) = (None, None);
        let mut rest = operands.iter();
        while let Some(&operand) = rest.next() {
            match operand {
                Operand::Array => {
                    let count = self.vbr(6)?;
                    let element = rest.next().copied().ok_or(Malformed::Unexpected(self.bit / 8))?;
                    if let Operand::Literal(_) | Operand::Array | Operand::Blob = element {
                        return Err(Malformed::Unexpected(self.bit / 8));
                    }
                    for _ in 0..count {
                        self.scalar(element)?;
                    }
                }
                Operand::Blob => {
                    let size = self.vbr(6)?;
                    let size = self.length(size)?;
                    self.align();
                    let start = self.bit / 8;
                    blob = Some(self.data.get(start..start + size).ok_or(Malformed::Truncated(self.data.len()))?);
                    self.bit += size * 8;
                    self.align();
                }
                scalar => {
                    let value = self.scalar(scalar)?;
                    code.get_or_insert(value);
                }
            }
        }
        Ok((code, blob))
    }

    fn scalar(&mut self, operand: Operand) -> Result<u64, Malformed> {
        match operand {
            Operand::Literal(value) => Ok(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Vbr(width) => self.vbr(width),
            Operand::Char6 => self.fixed(6),
            Operand::Array | Operand::Blob => Err(Malformed::Unexpected(self.bit / 8)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_files_are_no_bitcode() {
        assert_eq!(unwrap(b"\x7fELF"), None);
        assert_eq!(unwrap(b""), None);
    }

    #[test]
    fn a_wrapper_that_lies_is_an_error() {
        let mut data = WRAPPER_MAGIC.to_vec();
        assert!(unwrap(&data).unwrap().is_err());
        for word in [0_u32, 20, 4, 7] {
            data.extend(word.to_le_bytes());
        }
        assert!(unwrap(&data).unwrap().is_err());
        data.extend(MAGIC);
        assert_eq!(unwrap(&data), Some(Ok(20..24)));
    }

    #[test]
    fn a_file_that_holds_no_module_is_an_error() {
        assert_eq!(walk(&MAGIC), Err(Malformed::Truncated(4)));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut data = MAGIC.to_vec();
            data.extend(tail);
            let _ = walk(&data);
        }
    }
}
