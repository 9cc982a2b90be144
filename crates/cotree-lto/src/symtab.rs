//! The symbol table that bitcode files carry for linkers.
//!
//! The symbol table is a flat little-endian structure with offsets into itself and into a blob of names (LLVM calls it
//! `irsymtab`): header, modules, comdats, symbols and, for the few symbols that need it, "uncommon" extras. Versions 3
//! (LLVM 13 to 22) and 4 (the size of a common symbol grew to 64 bits) are read here; anything else is [`Unusable`] and
//! has to be rewritten by an LLVM that knows it.

use crate::bitstream::TopLevel;

/// One symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The linker symbol.
    pub name: String,
    /// The IR value; empty for symbols of module assembly.
    pub ir_name: String,
    /// Index into [`Table::comdats`].
    pub comdat: Option<usize>,
    /// Visible outside of the program.
    pub visibility: Visibility,
    /// Defined here or not, and how.
    pub kind: SymbolKind,
    /// Something that no symbol table shows may refer to it (`llvm.used`, module assembly, calls that the code
    /// generator adds).
    pub used: bool,
    /// The symbol is code.
    pub executable: bool,
}

/// Defined or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Defined.
    Defined,
    /// Defined, others may take precedence.
    Weak,
    /// Referred to.
    Undefined,
    /// Referred to, may stay undefined.
    WeakUndefined,
    /// A tentative definition of C, of so many bytes.
    Common(u64),
}

/// As ELF has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// `STV_DEFAULT`.
    Default,
    /// `STV_HIDDEN`.
    Hidden,
    /// `STV_PROTECTED`.
    Protected,
}

/// The symbols that matter to a linker, and the comdats they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Which LLVM wrote the file.
    pub producer: String,
    /// In the order of the file; symbols that no other file can see are left out.
    pub symbols: Vec<Symbol>,
    /// Names of comdat groups.
    pub comdats: Vec<String>,
}

/// Why a table has to be rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The file has none.
    Missing,
    /// The table has a layout that we don't know.
    Version(u32),
    /// Files were concatenated, and the table describes only one of them.
    OtherModules,
    /// The table points outside of itself.
    Damaged,
}

/// Bits of a symbol's flags. The lowest two are the visibility.
mod flag {
    pub const HAS_UNCOMMON: u32 = 1 << 2;
    pub const UNDEFINED: u32 = 1 << 3;
    pub const WEAK: u32 = 1 << 4;
    pub const COMMON: u32 = 1 << 5;
    pub const USED: u32 = 1 << 7;
    pub const GLOBAL: u32 = 1 << 10;
    pub const FORMAT_SPECIFIC: u32 = 1 << 11;
    pub const EXECUTABLE: u32 = 1 << 13;
}

/// Byte offsets in the header; each range is an offset and a count.
mod header {
    pub const VERSION: usize = 0;
    pub const PRODUCER: usize = 4;
    pub const MODULES: usize = 12;
    pub const COMDATS: usize = 20;
    pub const SYMBOLS: usize = 28;
    pub const UNCOMMONS: usize = 36;
}

const COMDAT_SIZE: usize = 12;
const SYMBOL_SIZE: usize = 24;
const NO_COMDAT: u32 = u32::MAX;

impl Table {
    /// Reads the table of a walked file.
    ///
    /// # Errors
    /// If there is none that we can rely on.
    pub fn read(file: &TopLevel<'_>) -> Result<Table, Unusable> {
        let (Some(data), Some(names)) = (file.symtab, file.strtab) else { return Err(Unusable::Missing) };
        let reader = Reader { data, names };
        let damaged = Unusable::Damaged;
        let version = reader.word(header::VERSION).ok_or(Unusable::Missing)?;
        let (uncommon_size, wide_common) = match version {
            3 => (24, false),
            4 => (28, true),
            other => return Err(Unusable::Version(other)),
        };
        if reader.word(header::MODULES + 4).ok_or(damaged)? as usize != file.modules {
            return Err(Unusable::OtherModules);
        }
        let producer = reader.string(header::PRODUCER).ok_or(damaged)?;
        let comdats = reader
            .range(header::COMDATS, COMDAT_SIZE)
            .ok_or(damaged)?
            .map(|at| reader.string(at))
            .collect::<Option<Vec<_>>>()
            .ok_or(damaged)?;
        let mut uncommons = reader.range(header::UNCOMMONS, uncommon_size).ok_or(damaged)?;
        let mut symbols = Vec::new();
        for at in reader.range(header::SYMBOLS, SYMBOL_SIZE).ok_or(damaged)? {
            let flags = reader.word(at + 20).ok_or(damaged)?;
            // Extras are in the order of their symbols: take this one's even if the symbol does not matter.
            let uncommon = if flags & flag::HAS_UNCOMMON != 0 { Some(uncommons.next().ok_or(damaged)?) } else { None };
            if flags & flag::GLOBAL == 0 || flags & flag::FORMAT_SPECIFIC != 0 {
                continue;
            }
            let kind = if flags & flag::UNDEFINED != 0 {
                if flags & flag::WEAK != 0 { SymbolKind::WeakUndefined } else { SymbolKind::Undefined }
            } else if flags & flag::COMMON != 0 {
                let at = uncommon.ok_or(damaged)?;
                let low = reader.word(at).ok_or(damaged)?;
                let high = if wide_common { reader.word(at + 4).ok_or(damaged)? } else { 0 };
                SymbolKind::Common(u64::from(high) << 32 | u64::from(low))
            } else if flags & flag::WEAK != 0 {
                SymbolKind::Weak
            } else {
                SymbolKind::Defined
            };
            let comdat = match reader.word(at + 16).ok_or(damaged)? {
                NO_COMDAT => None,
                index => Some(index as usize).filter(|&index| index < comdats.len()).ok_or(damaged).map(Some)?,
            };
            symbols.push(Symbol {
                name: reader.string(at).ok_or(damaged)?,
                ir_name: reader.string(at + 8).ok_or(damaged)?,
                comdat,
                visibility: match flags & 3 {
                    1 => Visibility::Hidden,
                    2 => Visibility::Protected,
                    _ => Visibility::Default,
                },
                kind,
                used: flags & flag::USED != 0,
                executable: flags & flag::EXECUTABLE != 0,
            });
        }
        Ok(Table { producer, symbols, comdats })
    }
}

struct Reader<'a> {
    data: &'a [u8],
    names: &'a [u8],
}

impl Reader<'_> {
    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.data.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn string(&self, at: usize) -> Option<String> {
        let start = self.word(at)? as usize;
        let end = start.checked_add(self.word(at.checked_add(4)?)? as usize)?;
        let bytes = self.names.get(start..end)?;
        // A linker's names end at the first NUL, so one inside would make two different names the same.
        if bytes.contains(&0) {
            return None;
        }
        // Names are bytes; those that are no UTF-8 would come back from the worker as other names.
        String::from_utf8(bytes.to_vec()).ok()
    }

    /// The offsets of the entries of an array.
    fn range(&self, at: usize, entry: usize) -> Option<std::iter::StepBy<std::ops::Range<usize>>> {
        let start = self.word(at)? as usize;
        let size = (self.word(at + 4)? as usize).checked_mul(entry)?;
        let end = start.checked_add(size).filter(|&end| end <= self.data.len())?;
        Some((start..end).step_by(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(symtab: &[u8], strtab: &[u8]) -> Result<Table, Unusable> {
        Table::read(&TopLevel { modules: 1, symtab: Some(symtab), strtab: Some(strtab) })
    }

    #[test]
    fn an_unknown_version_is_not_guessed_at() {
        assert_eq!(read(&7_u32.to_le_bytes(), b""), Err(Unusable::Version(7)));
        assert_eq!(read(b"", b""), Err(Unusable::Missing));
        assert_eq!(read(&3_u32.to_le_bytes(), b""), Err(Unusable::Damaged));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(version in 3_u32..5, words in proptest::collection::vec(0_u32..200, 0..80), names in ".{0,40}") {
            let mut data = version.to_le_bytes().to_vec();
            data.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            let _ = read(&data, names.as_bytes());
        }
    }
}
