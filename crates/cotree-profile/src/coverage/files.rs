//! The section `__llvm_covmap`: for each compilation a header and the names of its source files.

use super::bytes::Bytes;
use super::error::CoverageFault;
use super::function::SourceFile;
use super::names::{hash, unpack};
use std::collections::HashMap;

const PART: &str = "the section __llvm_covmap";
/// Versions are stored less one.
const VERSIONS: std::ops::RangeInclusive<u32> = 5..=6;

/// The source files of all compilations.
#[derive(Default)]
pub(super) struct Files {
    /// Each file once.
    pub(super) names: Vec<String>,
    numbers: HashMap<String, SourceFile>,
    /// The files of a compilation, by the hash of their encoded list, by which the records of functions refer to them.
    /// `None`: two lists have the same hash, so that nobody knows which is meant.
    lists: HashMap<u64, Option<Vec<SourceFile>>>,
}

impl Files {
    /// Reads the section.
    pub(super) fn read(section: &[u8], little_endian: bool) -> Result<Self, CoverageFault> {
        let mut files = Self::default();
        let mut bytes = Bytes::new(section, little_endian, PART);
        bytes.skip_padding(section.len());
        while !bytes.is_empty() {
            // Before version 4, records of functions stood here.
            let records = bytes.u32()?;
            let length = bytes.u32()?;
            let mappings = bytes.u32()?;
            let version = bytes.u32()?;
            if !VERSIONS.contains(&version) {
                return Err(CoverageFault::Version(u64::from(version) + 1));
            }
            if records != 0 || mappings != 0 {
                return Err(CoverageFault::Invalid("a header of __llvm_covmap announces records of functions"));
            }
            let encoded = bytes.take(length as usize)?;
            let list = files.list(encoded)?;
            let kept = files.lists.entry(hash(encoded)).or_insert_with(|| Some(list.clone()));
            if kept.as_ref() != Some(&list) {
                *kept = None;
            }
            bytes.skip_padding(section.len());
        }
        Ok(files)
    }

    /// The files of the compilation whose encoded list has this hash. `Ok(None)`: two lists have it.
    pub(super) fn of(&self, list: u64) -> Result<Option<&[SourceFile]>, CoverageFault> {
        self.lists.get(&list).map(Option::as_deref).ok_or(CoverageFault::UnknownFiles(list))
    }

    /// Decodes a list of files.
    fn list(&mut self, encoded: &[u8]) -> Result<Vec<SourceFile>, CoverageFault> {
        const LIST: &str = "a list of files";
        let mut bytes = Bytes::new(encoded, true, LIST);
        let count = bytes.number()?;
        let unpacked_length = bytes.number()?;
        let packed_length = bytes.count()?;
        let unpacked;
        if packed_length > 0 {
            unpacked = unpack(bytes.take(packed_length)?, unpacked_length)?;
            bytes = Bytes::new(&unpacked, true, LIST);
        }
        if count == 0 || count > bytes.rest().len() as u64 {
            return Err(CoverageFault::Ends(LIST));
        }
        // The first one is the folder that the compiler ran in, to which relative names refer.
        let folder = bytes.string()?;
        let mut list = vec![self.number(folder.clone())];
        for _ in 1..count {
            let name = bytes.string()?;
            let name = if name.starts_with('/') { name } else { joined(&folder, &name) };
            list.push(self.number(name));
        }
        Ok(list)
    }

    fn number(&mut self, name: String) -> SourceFile {
        let next = SourceFile(u32::try_from(self.names.len()).expect("each takes a byte of a section"));
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}

/// A relative path, from a folder, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let root = folder.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                // There is nothing above the root.
                None if root => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    format!("{}{}", if root { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots() {
        let pairs = [
            (("/build", "a.c"), "/build/a.c"),
            (("/build/x/", "../src//./a.c"), "/build/src/a.c"),
            (("/", "../a.c"), "/a.c"),
            (("", "./../../a.c"), "../../a.c"),
            (("build", "../../a.c"), "../a.c"),
        ];
        for ((folder, path), expected) in pairs {
            assert_eq!(joined(folder, path), expected);
        }
    }
}
