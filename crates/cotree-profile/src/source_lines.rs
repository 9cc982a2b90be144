//! The source lines of instructions that are no calls: by the line tables of the binary, if it has any.

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;
use std::path::Path;

/// Larger files are not read.
const LARGEST_BINARY: u64 = 4 << 30;

/// The file and the line of each of these instructions that has one.
pub(crate) fn of(binary: &Path, addresses: &[u64]) -> BTreeMap<u64, (String, u32)> {
    if addresses.is_empty() { BTreeMap::new() } else { read(binary, addresses).unwrap_or_default() }
}

fn read(binary: &Path, addresses: &[u64]) -> Option<BTreeMap<u64, (String, u32)>> {
    let bytes = crate::regular::read(binary, LARGEST_BINARY).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: SectionId| {
        let data = elf.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok::<_, Error>(EndianSlice::new(data.unwrap_or_default(), endian))
    };
    let lines = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
    let line = |&address: &u64| {
        let location = lines.find_location(address).ok()??;
        Some((address, (location.file?.to_owned(), location.line?)))
    };
    Some(addresses.iter().filter_map(line).collect())
}
