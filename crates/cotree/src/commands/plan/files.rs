//! The files that `cotree plan` reads.

use crate::commands::into_report;
use cotree_core::facts::ProgramMap;
use cotree_core::facts::hints::Hints;
use cotree_llvm::standalone::{facts_of_files, refuse_damaged_files};
use cotree_profile::binary::BinaryFile;
use miette::Result;
use std::path::{Path, PathBuf};

/// The map of a binary built with cotree, or the map and the hints of bitcode.
pub(super) fn map_of(files: &[PathBuf]) -> Result<(ProgramMap, Vec<Hints>)> {
    if let [only] = files
        && is_elf(only)
    {
        return BinaryFile::open(only).map(|binary| (binary.into_map().program, Vec::new())).map_err(into_report);
    }
    refuse_damaged_files(files).map_err(into_report)?;
    facts_of_files(files, false).map(|facts| (facts.program, facts.hints)).map_err(into_report)
}

/// Is it an ELF file?
pub(super) fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    cotree_profile::regular::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *b"\x7FELF"
}
