//! Why a profile cannot be recovered.

use crate::binary::{BinaryError, UnitId};
use crate::error::ProfileError;
use crate::method::ForeignCounts;
use std::path::PathBuf;

/// Why a profile cannot be recovered.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The binary cannot be used.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// What the profile has besides counts cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The profile does not say where its binary was, or it is gone.
    #[error("the binary {binary} of the profile {profile} is no longer there: say where it is with --binary", binary = .binary.display(), profile = .profile.display())]
    BinaryGone {
        /// The profile.
        profile: PathBuf,
        /// Where it was.
        binary: PathBuf,
    },
    /// Another build.
    #[error(
        "the profile {profile} is of build {expected}, but {binary} is build {found}: it was built anew since; run it again, or pass the binary that ran with --binary",
        profile = .profile.display(), binary = .binary.display()
    )]
    OtherBuild {
        /// The profile.
        profile: PathBuf,
        /// The build of the profile.
        expected: UnitId,
        /// The binary.
        binary: PathBuf,
        /// The build of the binary.
        found: UnitId,
    },
    /// The profile and the plan have different numbers of counters.
    #[error("the profile has {found} counters, but {binary} has {expected}: the profile is damaged; run the program again", binary = .binary.display())]
    CounterMismatch {
        /// The binary.
        binary: PathBuf,
        /// Counters of the plan.
        expected: u64,
        /// Counters of the profile.
        found: u64,
    },
    /// A sum of traces without their counts.
    #[error(
        "the merged profile {profile} is damaged (it has no counts of its traces): merge the profiles of the runs again",
        profile = .profile.display()
    )]
    TracesNotCounted {
        /// The profile.
        profile: PathBuf,
    },
    /// No run of the binary's method leaves such counts.
    #[error(transparent)]
    Foreign(#[from] ForeignCounts),
    /// The reference counts nothing that the method does.
    #[error("{binary} has a {title}, and its reference counters count blocks and edges: there is nothing to compare", binary = .binary.display())]
    NotComparable {
        /// The binary.
        binary: PathBuf,
        /// What its profile is called.
        title: &'static str,
    },
    /// The binary carries no reference counters.
    #[error("{binary} carries no reference counters: build it with --verify", binary = .binary.display())]
    NothingToVerify {
        /// The binary.
        binary: PathBuf,
    },
}
