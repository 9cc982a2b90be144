//! Opens profiles of any kind.

use crate::binary::UnitId;
use crate::counts::UnitCounts;
use crate::wire::{Tag, WireError};
use crate::{merged, raw};
use cotree_core::method::path::PathMetric;
use cotree_rt::layout;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// It cannot be read.
    #[error("cannot read the profile {path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// Zero bytes.
    #[error("the profile {path} is empty: the disk was full when it was begun, or a copy failed; run the program again", path = .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Something else.
    #[error("{path} is not a cotree profile{hint}", path = .path.display())]
    NotAProfile {
        /// The file.
        path: PathBuf,
        /// What it seems to be, and what to do.
        hint: &'static str,
    },
    /// From another version of cotree.
    #[error("the profile {path} has format version {version}, this cotree reads version {expected}: use the cotree that built the program, or build and run it again", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version found.
        version: u32,
        /// The version understood.
        expected: u32,
    },
    /// Shorter than it says.
    #[error("the profile {path} is cut off ({have} of {need} bytes are there): copy it again, or run the program again", path = .path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes present.
        have: u64,
        /// Bytes needed.
        need: u64,
    },
    /// Inconsistent with itself.
    #[error("the profile {path} is damaged ({what}): copy it again, or run the program again", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// Its packed form is damaged.
    #[error("the profile {path} is damaged ({reason}): copy it again, or run the program again", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: WireError,
    },
    /// It holds something that only later versions of cotree know.
    #[error("the profile {path} has a section `{section}` that this cotree does not know: use a newer cotree", path = .path.display())]
    NewerSection {
        /// The file.
        path: PathBuf,
        /// The section.
        section: Tag,
    },
    /// Two builds in one merge.
    #[error(transparent)]
    DifferentBinaries(Box<DifferentBinaries>),
    /// Two builds in one merge that do not even add up the same.
    #[error(transparent)]
    DifferentMetrics(Box<DifferentMetrics>),
}

impl ProfileError {
    /// Says which file cannot be read for this reason.
    pub(crate) fn of_wire(path: &Path, reason: WireError) -> Self {
        let path = path.to_owned();
        match reason {
            WireError::Truncated { have, need } => Self::Truncated { path, have, need },
            WireError::Version { found, newest, .. } => Self::Version { path, version: found, expected: newest },
            WireError::NewerSection(section) => Self::NewerSection { path, section },
            reason => Self::Unreadable { path, reason },
        }
    }
}

/// Profiles of two binaries, or of two builds of one, cannot be added.
#[derive(Debug, thiserror::Error)]
#[error(
    "{path} belongs to {binary} (build {unit}), but {other_path} belongs to {other_binary} (build {other_unit}): {remedy}",
    path = .path.display(), binary = .binary.display(), other_path = .other_path.display(), other_binary = .other_binary.display()
)]
pub struct DifferentBinaries {
    /// The file.
    pub path: PathBuf,
    /// Its binary.
    pub binary: PathBuf,
    /// Its build.
    pub unit: UnitId,
    /// The file before.
    pub other_path: PathBuf,
    /// Its binary.
    pub other_binary: PathBuf,
    /// Its build.
    pub other_unit: UnitId,
    /// What to do.
    pub remedy: &'static str,
}

/// Profiles of builds with different metrics of paths cannot be added.
#[derive(Debug, thiserror::Error)]
#[error(
    "{path} adds up {metric} along paths, but {other_path} adds up {other_metric}: merge the runs of each build apart",
    path = .path.display(), metric = .metric.of_what(), other_path = .other_path.display(), other_metric = .other_metric.of_what()
)]
pub struct DifferentMetrics {
    /// The file.
    pub path: PathBuf,
    /// Its metric.
    pub metric: PathMetric,
    /// The file before.
    pub other_path: PathBuf,
    /// Its metric.
    pub other_metric: PathMetric,
}

/// Which format a profile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Written by one process.
    Raw,
    /// Written by `cotree merge`.
    Merged,
}

/// A profile, read.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub kind: Kind,
    /// The link units that it has counts of: exactly one if it is raw.
    pub units: Vec<UnitCounts>,
}

impl ProfileFile {
    /// Reads a profile of any kind.
    ///
    /// # Errors
    /// See [`ProfileError`].
    pub fn open(path: &Path) -> Result<Self, ProfileError> {
        let io = |cause| ProfileError::Io { path: path.to_owned(), cause };
        let mut file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if metadata.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        let mut magic = Vec::with_capacity(8);
        file.by_ref().take(8).read_to_end(&mut magic).map_err(io)?;
        file.rewind().map_err(io)?;
        match magic.first_chunk::<8>() {
            Some(&layout::MAGIC) => {
                let counts = raw::read(file, metadata.len(), path)?;
                Ok(Self { path: path.to_owned(), kind: Kind::Raw, units: vec![counts] })
            }
            Some(&merged::MAGIC) => {
                let units = merged::read(BufReader::with_capacity(1 << 16, file), metadata.len(), path)?;
                Ok(Self { path: path.to_owned(), kind: Kind::Merged, units })
            }
            _ if magic.is_empty() => Err(ProfileError::Empty { path: path.to_owned() }),
            _ => Err(ProfileError::NotAProfile { path: path.to_owned(), hint: hint(&magic) }),
        }
    }
}

fn hint(magic: &[u8]) -> &'static str {
    match magic {
        [0x7F, b'E', b'L', b'F', ..] => {
            ": it is a program or library; run it, and give the .cotree file that it writes"
        }
        [0x81, b'r', b'f', b'o', b'r', b'p' | b'R', b'l', 0xFF]
        | [0xFF, b'l', b'p' | b'R', b'r', b'o', b'f', b'r', 0x81] => {
            ": it is a raw profile of LLVM's own instrumentation, which llvm-profdata reads"
        }
        [b'a', b'd', b'c', b'g', ..] | [b'g', b'c', b'd', b'a', ..] => ": it is a gcov data file, which gcov reads",
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2'] => ": it is a recording of perf",
        b"COTREEMP" => ": it is the map of a binary",
        _ => " (a profile ends in .cotree, or in .live while its program runs or if it was killed)",
    }
}
