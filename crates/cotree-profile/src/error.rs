//! Why profiles cannot be read, or not be added.

use crate::binary::UnitId;
use crate::wire::{Tag, WireError};
use cotree_core::method::path::PathMetric;
use std::io;
use std::path::{Path, PathBuf};

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The profile cannot be read.
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
    /// The packed form of the profile is damaged.
    #[error("the profile {path} is damaged ({reason}): copy it again, or run the program again", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: WireError,
    },
    /// The profile holds something that only later versions of cotree know.
    #[error("the profile {path} has a section `{section}` that this cotree does not know: use a newer cotree", path = .path.display())]
    NewerSection {
        /// The file.
        path: PathBuf,
        /// The section.
        section: Tag,
    },
    /// A trace cannot be counted, so it cannot be added to others.
    #[error("the trace of {path} cannot be counted: {cause}", path = .path.display())]
    Uncounted {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: Box<dyn std::error::Error + Send + Sync>,
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
            WireError::Version { found, expected } => Self::Version { path, version: found, expected },
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
    /// The binary of this file.
    pub binary: PathBuf,
    /// The build of this file.
    pub unit: UnitId,
    /// The file before.
    pub other_path: PathBuf,
    /// The binary of the file before.
    pub other_binary: PathBuf,
    /// The build of the file before.
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
    /// The metric of this file.
    pub metric: PathMetric,
    /// The file before.
    pub other_path: PathBuf,
    /// The metric of the file before.
    pub other_metric: PathMetric,
}
