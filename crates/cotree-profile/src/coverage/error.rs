//! Why a coverage map cannot be read.

use crate::binary::BinaryError;
use std::path::PathBuf;

/// Why the coverage map of a binary cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CoverageMapError {
    /// The binary itself cannot be read.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// There is no section `__llvm_covmap`.
    #[error(
        "{path} carries no coverage map: build it with coverage, and keep the sections __llvm_covmap, __llvm_covfun and __llvm_prf_names",
        path = .path.display()
    )]
    NoMap {
        /// The file.
        path: PathBuf,
    },
    /// The map makes no sense.
    #[error("the coverage map in {path} cannot be used: {fault}; build it again", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        fault: CoverageFault,
    },
}

/// What is wrong with a coverage map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverageFault {
    /// A section, or a part of one, is shorter than it says.
    #[error("{0} ends too early")]
    Ends(&'static str),
    /// The map has a format that is not read here.
    #[error("its format has version {0}, this cotree reads versions 6 and 7 (of clang 14 to 22, and of rustc)")]
    Version(u64),
    /// Some value makes no sense.
    #[error("{0}")]
    Invalid(&'static str),
    /// A record refers to a function name that is not there.
    #[error("no name in __llvm_prf_names has the hash {0:#018x}")]
    UnknownName(u64),
    /// A record refers to a list of files that is not there.
    #[error("no list of files in __llvm_covmap has the hash {0:#018x}")]
    UnknownFiles(u64),
    /// The record of one function makes no sense.
    #[error("function {name}: {fault}")]
    Function {
        /// The function.
        name: String,
        /// What is wrong.
        fault: Box<CoverageFault>,
    },
}
