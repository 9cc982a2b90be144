//! The source lines of instructions that are no calls, and the paths that led to them: by the debug information of the
//! binary, if it has any.

use crate::held_path::{self, HeldPath, Machine};
use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};
use std::collections::BTreeMap;
use std::path::Path;

/// Larger files are not read.
const LARGEST_BINARY: u64 = 4 << 30;

/// What debug information says of some instructions.
#[derive(Default)]
pub(crate) struct Found {
    /// The file and the line of each that has one.
    pub(crate) lines: BTreeMap<u64, (String, u32)>,
    /// The place in the machine function, of those that are in a function which is inlined there.
    pub(crate) callers: BTreeMap<u64, (String, u32)>,
    /// The path that led to it, of those whose registers are known.
    pub(crate) paths: BTreeMap<u64, HeldPath>,
}

/// Looks up these instructions; `machines` are those with what the code had in registers.
pub(crate) fn of(binary: &Path, addresses: &[u64], machines: &[(u64, Machine<'_>)]) -> Found {
    if addresses.is_empty() { Found::default() } else { read(binary, addresses, machines).unwrap_or_default() }
}

fn read(binary: &Path, addresses: &[u64], machines: &[(u64, Machine<'_>)]) -> Option<Found> {
    let bytes = crate::regular::read(binary, LARGEST_BINARY).ok()?;
    let elf = object::File::parse(&*bytes).ok()?;
    let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: SectionId| {
        let data = elf.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok::<_, Error>(EndianSlice::new(data.unwrap_or_default(), endian))
    };
    let dwarf = Dwarf::load(section).ok()?;
    let held = |&(address, machine): &(u64, Machine<'_>)| Some((address, held_path::find(&dwarf, address, machine)?));
    let paths = machines.iter().filter_map(held).collect();
    let lines = Context::from_dwarf(dwarf).ok()?;
    let line = |&address: &u64| {
        let location = lines.find_location(address).ok()??;
        Some((address, (location.file?.to_owned(), location.line?)))
    };
    let caller = |&(address, _): &(u64, Machine<'_>)| {
        let mut frames = lines.find_frames(address).skip_all_loads().ok()?;
        let mut outermost = None;
        frames.next().ok()??;
        while let Some(frame) = frames.next().ok()? {
            outermost = frame.location;
        }
        let location = outermost?;
        Some((address, (location.file?.to_owned(), location.line?)))
    };
    let callers = machines.iter().filter_map(caller).collect();
    Some(Found { lines: addresses.iter().filter_map(line).collect(), callers, paths })
}
