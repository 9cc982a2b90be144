//! The whole map of an executable.

use super::decisions::{self, DECISIONS, NotFollowed, Section, SourceDecision};
use super::error::{CoverageFault, CoverageMapError};
use super::files::Files;
use super::function::{MappedFunction, SourceFile};
use super::outcomes::Outcomes;
use super::{names, records, regions};
use crate::elf;
use object::read::{Object, ObjectSection};
use std::path::Path;

/// The coverage map of an executable or a shared library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageMap {
    /// The source files of all compilations, and the folders in which the compiler ran. Relative names are completed
    /// and freed of `.` and `..`; absolute ones are as the compiler got them.
    pub files: Vec<String>,
    /// The functions.
    pub functions: Vec<MappedFunction>,
    /// Decisions of Rust, which the compiler's map does not have.
    pub decisions: Vec<SourceDecision>,
    /// Decisions of Rust that were not followed, or not everywhere.
    pub not_followed: Vec<NotFollowed>,
    /// What the compiler's map does not say of the outcomes of its decisions.
    pub outcomes: Outcomes,
    /// Whether the build counts decisions, of which there may be none.
    pub counts_decisions: bool,
    /// Whether the compiler's own counters are in the executable, which leave profiles of their own.
    pub has_own_counters: bool,
}

/// The sections that make up a coverage map.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'d> {
    /// `__llvm_covmap`.
    pub covmap: &'d [u8],
    /// `__llvm_covfun`.
    pub covfun: &'d [u8],
    /// `__llvm_prf_names`.
    pub names: &'d [u8],
    /// Whether the machine is little-endian.
    pub little_endian: bool,
}

impl CoverageMap {
    /// Reads the map of an executable or a shared library.
    ///
    /// # Errors
    /// See [`CoverageMapError`].
    pub fn open(path: &Path) -> Result<Self, CoverageMapError> {
        elf::with_linked(path, |elf| {
            let section = |name: &str| match elf.section_by_name(name) {
                Some(section) => section.data().map(Some),
                None => Ok(None),
            };
            let damaged = |e: object::Error| elf::damaged(path, e);
            let Some(covmap) = section("__llvm_covmap").map_err(damaged)? else {
                return Err(CoverageMapError::NoMap { path: path.to_owned() });
            };
            // The linker leaves out a section of which nothing is left.
            let sections = Sections {
                covmap,
                covfun: section("__llvm_covfun").map_err(damaged)?.unwrap_or_default(),
                names: section("__llvm_prf_names").map_err(damaged)?.unwrap_or_default(),
                little_endian: elf.is_little_endian(),
            };
            let decisions = section(DECISIONS).map_err(damaged)?.unwrap_or_default();
            let counts_decisions = !decisions.is_empty();
            let has_own_counters = elf.section_by_name("__llvm_prf_cnts").is_some();
            let map = Self::decode(&sections).and_then(|mut map| {
                let Section { decisions, not_followed, outcomes } = decisions::read(decisions, &mut map.files)?;
                Ok(Self { decisions, not_followed, outcomes, counts_decisions, has_own_counters, ..map })
            });
            map.map_err(|fault| CoverageMapError::Damaged { path: path.to_owned(), fault })
        })
    }

    /// Reads a map from its sections.
    ///
    /// # Errors
    /// See [`CoverageFault`].
    pub fn decode(sections: &Sections<'_>) -> Result<Self, CoverageFault> {
        let mut names = names::read(sections.names)?;
        let files = Files::read(sections.covmap, sections.little_endian)?;
        let is_known = |list| files.of(list).map(|list| list.is_some());
        let mut functions = Vec::new();
        for record in records::read(sections.covfun, sections.little_endian, is_known)? {
            let Some(of_compilation) = files.of(record.files)? else { continue };
            let name = names.remove(&record.name_hash).ok_or(CoverageFault::UnknownName(record.name_hash))?;
            let decoded = match regions::decode(record.mapping, of_compilation) {
                Ok(decoded) => decoded,
                Err(fault) => return Err(CoverageFault::Function { name, fault: Box::new(fault) }),
            };
            functions.push(MappedFunction {
                name_hash: record.name_hash,
                structural_hash: record.structural_hash,
                name,
                files: decoded.files,
                expressions: decoded.expressions,
                regions: decoded.regions,
            });
        }
        Ok(Self { files: files.names, functions, ..Self::default() })
    }

    /// The path of a file.
    ///
    /// # Panics
    /// If the file is of another map.
    #[must_use]
    pub fn path(&self, file: SourceFile) -> &str {
        &self.files[file.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::{Counter, RegionKind};

    fn hash(bytes: &[u8]) -> u64 {
        super::names::hash(bytes)
    }

    /// A list of files that is not compressed, in the folder `/d`.
    fn files(names: &[&str]) -> Vec<u8> {
        let mut list = vec![2, b'/', b'd'];
        for name in names {
            list.push(name.len() as u8);
            list.extend(name.bytes());
        }
        let mut encoded = vec![names.len() as u8 + 1, list.len() as u8, 0];
        encoded.append(&mut list);
        encoded
    }

    fn header(list: &[u8], version: u32) -> Vec<u8> {
        let numbers = [0, list.len() as u32, 0, version].map(u32::to_be_bytes);
        let mut header = numbers.concat();
        header.extend(list);
        header
    }

    fn record(name: &str, structural_hash: u64, list: &[u8], mapping: &[u8]) -> Vec<u8> {
        let mut record = hash(name.as_bytes()).to_be_bytes().to_vec();
        record.extend((mapping.len() as u32).to_be_bytes());
        record.extend(structural_hash.to_be_bytes());
        record.extend(hash(list).to_be_bytes());
        record.extend(mapping);
        record
    }

    /// What a linker makes of parts: each begins at a multiple of eight, and where one was dropped, zeros remain.
    fn linked(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut section = Vec::new();
        for part in parts {
            section.resize(section.len().next_multiple_of(8) + 16, 0);
            section.extend(part);
        }
        section
    }

    fn decode(covmap: &[u8], covfun: &[u8]) -> Result<CoverageMap, CoverageFault> {
        CoverageMap::decode(&Sections { covmap, covfun, names: b"\0\x05\0f\x01x;g\0", little_endian: false })
    }

    /// One region over two lines, of counter `encoded`.
    fn mapping(encoded: u8) -> Vec<u8> {
        vec![1, 1, 0, 1, encoded, 3, 5, 1, 7]
    }

    #[test]
    fn real_records_take_the_place_of_dummies() {
        let (first, second) = (files(&["a.c"]), files(&["../e/./b.c", "/x/../c.c"]));
        let covmap = linked(&[header(&first, 6), header(&second, 5), header(&first, 6), vec![]]);
        let covfun = linked(&[
            record("x;g", 5, &second, &mapping(1)),
            record("f", 0, &first, &mapping(0)),
            record("f", 9, &second, &mapping(5)),
            record("f", 0, &first, &mapping(0)),
            record("x;g", 6, &first, &mapping(1)),
            vec![],
        ]);
        let map = decode(&covmap, &covfun).expect("a map");
        assert_eq!(map.files, ["/d", "/d/a.c", "/e/b.c", "/x/../c.c"]);
        let [g, f] = map.functions.as_slice() else { panic!("{map:?}") };
        assert_eq!((f.name.as_str(), f.symbol(), f.structural_hash, map.path(f.files[0])), ("f", "f", 9, "/e/b.c"));
        assert_eq!((g.name.as_str(), g.symbol(), g.structural_hash, map.path(g.files[0])), ("x;g", "g", 5, "/e/b.c"));
        assert_eq!(f.regions[0].kind, RegionKind::Code(Counter::Value(1)));
        assert_eq!((f.regions[0].start.line, f.regions[0].end.line, f.regions[0].end.column), (3, 4, 7));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        let list = files(&["a.c"]);
        let covmap = header(&list, 6);
        let told = |covmap: &[u8], covfun: &[u8]| decode(covmap, covfun).expect_err("a fault").to_string();
        let faulty = |mapping: &[u8]| told(&covmap, &record("f", 1, &list, mapping));
        assert!(
            told(&header(&list, 7), &[]).starts_with("its format has version 8, this cotree reads versions 6 and 7")
        );
        assert_eq!(told(&covmap[..20], &[]), "the section __llvm_covmap ends too early");
        assert_eq!(told(&covmap, &[1; 20]), "the section __llvm_covfun ends too early");
        assert!(told(&covmap, &record("h", 1, &list, &mapping(1))).starts_with("no name in __llvm_prf_names has"));
        assert!(told(&covmap, &record("f", 1, &[], &mapping(1))).starts_with("no list of files in __llvm_covmap has"));
        // Expressions: 0 is the sum of itself and nothing; one that is not there.
        assert_eq!(faulty(&[1, 1, 1, 3, 0, 0]), "function f: an expression is its own operand");
        assert_eq!(faulty(&[1, 1, 1, 7, 0, 0]), "function f: an expression is not there");
        assert_eq!(
            faulty(&[1, 1, 1, 0, 0, 2, 2, 1, 1, 0, 2, 3, 1, 1, 0, 2]),
            "function f: an expression is both a sum and a difference"
        );
        // Expansions: a file that replaces a region of its own, and one that replaces two.
        assert_eq!(faulty(&[1, 1, 0, 1, 4, 1, 1, 0, 2]), "function f: a file replaces a region of its own");
        assert_eq!(
            faulty(&[2, 1, 1, 0, 1, 12, 1, 1, 0, 2, 1, 4, 1, 1, 0, 2]),
            "function f: a file replaces a region of its own"
        );
        assert_eq!(
            faulty(&[2, 1, 1, 0, 2, 12, 1, 1, 0, 2, 12, 1, 1, 0, 2, 0]),
            "function f: a file replaces more than one region"
        );
        assert_eq!(faulty(&[1, 2, 0, 0]), "function f: a file is not there");
        assert_eq!(faulty(&[1, 1, 0, 1, 1, 1, 5, 0, 4]), "function f: a region ends before it begins");
        assert_eq!(faulty(&[1, 1, 0, 1, 24, 1, 1, 0, 4]), "function f: a region is of no known kind");
        assert_eq!(faulty(&[1, 1, 0, 100]), "function f: the record ends too early");
    }

    /// An expansion whose text begins with another expansion has the counter of the innermost text.
    #[test]
    fn expansions_are_counted_by_what_replaces_them() {
        let list = files(&["a.c"]);
        let nested = [3, 1, 1, 1, 0, 2, 1, 1, 1, 0, 9, 12, 0, 2, 0, 3, 1, 20, 1, 1, 0, 9, 1, 9, 1, 1, 0, 9];
        let map = decode(&header(&list, 6), &record("f", 1, &list, &nested)).expect("a map");
        let kinds: Vec<RegionKind> = map.functions[0].regions.iter().map(|region| region.kind).collect();
        let count = Counter::Value(2);
        let into = |file| RegionKind::Expansion { into: crate::coverage::VirtualFile(file), count };
        assert_eq!(kinds, [RegionKind::Code(Counter::Value(0)), into(1), into(2), RegionKind::Code(count)]);
        assert_eq!(map.functions[0].main_file(), Some(crate::coverage::VirtualFile(0)));
    }
}
