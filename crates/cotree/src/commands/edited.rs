//! Source files that were edited since the build: counts stand on the lines that they had then.
//!
//! Compilers say the checksum of each file that they read (clang with DWARF 5, rustc). Of other files the time is
//! compared with that of the program.

use super::sources::FileSources;
use crate::lines;
use cotree_profile::binary::BinaryFile;
use cotree_report::files::FilePattern;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::SystemTime;

/// What the link units of a profile say of a source file.
#[derive(Default)]
struct Known {
    sums: BTreeSet<[u8; 16]>,
    /// The time of the newest program that says no checksum.
    built: Option<SystemTime>,
}

/// What is wrong with a file as it is now.
fn fault(known: &Known, path: &str) -> Option<&'static str> {
    if known.sums.is_empty() {
        let modified = FileSources::modified(path)?;
        return (modified > known.built?)
            .then_some("it is newer than the program, and may be another version than was built");
    }
    let now = md5::compute(FileSources::bytes(path)?).0;
    match known.sums.len() {
        1 => (!known.sums.contains(&now)).then_some("it was edited since the program was built"),
        _ => Some("the program was built from several versions of it"),
    }
}

/// Says which source files, of those that match the pattern, are not what was built.
pub fn note<'a>(binaries: impl IntoIterator<Item = &'a BinaryFile>, pattern: Option<&FilePattern>) {
    let mut files = Edited::default();
    files.add(binaries);
    files.note(|path| pattern.is_none_or(|pattern| pattern.matches(path)));
}

/// The source files of programs.
#[derive(Default)]
pub struct Edited {
    files: BTreeMap<String, Known>,
    /// The time of the newest program.
    built: Option<SystemTime>,
}

impl Edited {
    /// Adds what programs say of their source files.
    pub fn add<'a>(&mut self, binaries: impl IntoIterator<Item = &'a BinaryFile>) {
        for binary in binaries {
            let program = &binary.map().program;
            let built = fs::metadata(binary.path()).and_then(|data| data.modified()).ok();
            self.built = self.built.max(built);
            for (number, path) in (0..).zip(&program.files) {
                let known = self.files.entry(path.clone()).or_default();
                match program.checksums.get(&number) {
                    Some(sums) => known.sums.extend(sums),
                    None => known.built = known.built.max(built),
                }
            }
        }
    }

    /// The checksum (MD5) of a file as it was built. `None`: it is not known, or of several versions.
    pub fn checksum(&self, path: &str) -> Option<[u8; 16]> {
        match self.files.get(path)?.sums.iter().collect::<Vec<_>>()[..] {
            [sum] => Some(*sum),
            _ => None,
        }
    }

    /// What is wrong with a file as it is now. A file that no program knows is compared with the newest one.
    pub fn fault(&self, path: &str) -> Option<&'static str> {
        let unknown = Known { built: self.built, ..Known::default() };
        fault(self.files.get(path).unwrap_or(&unknown), path)
    }

    /// Sentences on the source files, of those that are wanted, that are not what was built.
    pub fn remarks(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = self.files.iter().filter(|(path, _)| wanted(path));
        let remark = |(path, known): (&String, &Known)| {
            fault(known, path).map(|fault| format!("{path}: {fault}: counts stand on the lines that it had then"))
        };
        wanted.filter_map(remark).collect()
    }

    /// Says which source files, of those that are wanted, are not what was built.
    pub fn note(&self, wanted: impl Fn(&str) -> bool) {
        self.remarks(wanted).iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
    }
}
