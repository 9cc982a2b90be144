//! The whole map of an executable.

use super::error::{CoverageFault, CoverageMapError};
use super::files::Files;
use super::function::{MappedFunction, SourceFile};
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
            Self::decode(&sections).map_err(|fault| CoverageMapError::Damaged { path: path.to_owned(), fault })
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
        Ok(Self { files: files.names, functions })
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
