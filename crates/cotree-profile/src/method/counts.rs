//! The counts of a method besides counters and early exits.

use super::path::{self, PathCounts};
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};
use cotree_core::method::path::PathMetric;

/// What a method has counted besides counters and early exits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MethodCounts {
    /// Nothing.
    #[default]
    None,
    /// Paths in hash tables.
    Paths(PathCounts),
}

impl MethodCounts {
    /// Counts of paths, if there are any.
    #[must_use]
    pub fn of_paths(counts: PathCounts) -> Self {
        if counts.is_empty() { Self::None } else { Self::Paths(counts) }
    }

    /// The counts of paths, if there are any.
    #[must_use]
    pub fn paths(&self) -> Option<&PathCounts> {
        match self {
            Self::None => None,
            Self::Paths(counts) => Some(counts),
        }
    }

    /// What is added up along paths.
    #[must_use]
    pub fn metric(&self) -> PathMetric {
        self.paths().map_or(PathMetric::Count, |counts| counts.metric)
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    pub(crate) fn add(&mut self, other: &Self, weight: u64) -> bool {
        let Self::Paths(others) = other else { return false };
        if let Self::None = self {
            *self = Self::Paths(PathCounts { metric: others.metric, ..PathCounts::default() });
        }
        match self {
            Self::Paths(counts) => counts.add(others, weight),
            Self::None => false,
        }
    }
}

/// Writes what was counted into a merged profile.
pub(crate) fn write_counts(counts: &MethodCounts, w: &mut Writer) {
    match counts {
        MethodCounts::None => {}
        MethodCounts::Paths(counts) => path::write_counts(counts, w),
    }
}

/// Reads what [`write_counts`] wrote.
pub(crate) fn read_counts(r: &mut Reader<'_>) -> Result<MethodCounts, WireError> {
    Ok(MethodCounts::of_paths(path::read_counts(r)?))
}
