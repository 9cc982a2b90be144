//! Why counts cannot be those of a binary.

use super::path::ForeignPaths;
use super::targets::ForeignTargets;
use super::trace::sums::ForeignTraceCounts;

/// Why no run of a binary can have left counts.
#[derive(Debug, thiserror::Error)]
pub enum ForeignCounts {
    /// The counts are of paths.
    #[error(transparent)]
    Paths(#[from] ForeignPaths),
    /// The counts are of targets.
    #[error(transparent)]
    Targets(#[from] ForeignTargets),
    /// The counts are of traces.
    #[error(transparent)]
    Trace(#[from] ForeignTraceCounts),
}
