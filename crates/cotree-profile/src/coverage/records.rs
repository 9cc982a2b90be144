//! The section `__llvm_covfun`: the records of functions.

use super::bytes::Bytes;
use super::error::CoverageFault;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const PART: &str = "the section __llvm_covfun";

/// The record of a function, its regions still encoded.
#[derive(Clone, Copy)]
pub(super) struct Record<'d> {
    pub(super) name_hash: u64,
    pub(super) structural_hash: u64,
    /// The hash of the list of files that its files are of.
    pub(super) files: u64,
    /// The function's files, expressions and regions.
    pub(super) mapping: &'d [u8],
}

/// Reads one record for each function, in the order of their first records.
///
/// A function has several if several compilations have seen it, in an inline function of a header for instance. All
/// say the same, but for dummies: those of compilations that do not use the function. They give way.
///
/// `is_known` tells whether the files of a record are known; others are left out.
pub(super) fn read<'d>(
    section: &'d [u8],
    little_endian: bool,
    mut is_known: impl FnMut(u64) -> Result<bool, CoverageFault>,
) -> Result<Vec<Record<'d>>, CoverageFault> {
    let mut records: Vec<Record<'d>> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut bytes = Bytes::new(section, little_endian, PART);
    bytes.skip_padding(section.len());
    while !bytes.is_empty() {
        let name_hash = bytes.u64()?;
        let length = bytes.u32()?;
        let structural_hash = bytes.u64()?;
        let files = bytes.u64()?;
        let mapping = bytes.take(length as usize)?;
        bytes.skip_padding(section.len());
        if !is_known(files)? {
            continue;
        }
        let record = Record { name_hash, structural_hash, files, mapping };
        match places.entry(name_hash) {
            Entry::Vacant(place) => {
                place.insert(records.len());
                records.push(record);
            }
            Entry::Occupied(place) => {
                let kept = &mut records[*place.get()];
                if is_dummy(kept)? && !is_dummy(&record)? {
                    *kept = record;
                }
            }
        }
    }
    Ok(records)
}

/// Whether a record only says that the function is there: it has one region, which nothing counts.
fn is_dummy(record: &Record<'_>) -> Result<bool, CoverageFault> {
    if record.structural_hash != 0 {
        return Ok(false);
    }
    let mut bytes = Bytes::new(record.mapping, true, PART);
    let files = bytes.number()?;
    let _file = bytes.number()?;
    let expressions = bytes.number()?;
    let regions = bytes.number()?;
    let counter = bytes.number()?;
    Ok(files == 1 && expressions == 0 && regions == 1 && counter & 3 == 0)
}
