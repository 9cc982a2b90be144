//! The counts of a method besides counters and early exits.

use super::path::{self, PathCounts};
use super::trace::sums::TraceCounts;
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
    /// The streams of threads, which are in the raw profile and have not been counted yet.
    Streams,
    /// What such streams count.
    Trace(TraceCounts),
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
            Self::None | Self::Streams | Self::Trace(_) => None,
            Self::Paths(counts) => Some(counts),
        }
    }

    /// What the traces of runs count, if these were traced.
    #[must_use]
    pub fn trace(&self) -> Option<&TraceCounts> {
        match self {
            Self::Trace(counts) => Some(counts),
            Self::None | Self::Paths(_) | Self::Streams => None,
        }
    }

    /// What is added up along paths.
    #[must_use]
    pub fn metric(&self) -> PathMetric {
        self.paths().map_or(PathMetric::Count, |counts| counts.metric)
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    pub(crate) fn add(&mut self, other: &Self, weight: u64) -> bool {
        if let Self::Trace(others) = other {
            if let Self::None = self {
                *self = Self::Trace(TraceCounts::default());
            }
            return match self {
                Self::Trace(counts) => counts.add(others, weight),
                _ => false,
            };
        }
        if let Self::Streams = other {
            // A sum of what nobody has counted says nothing, and its reader is told.
            *self = Self::Streams;
        }
        let Self::Paths(others) = other else { return false };
        if let Self::None = self {
            *self = Self::Paths(PathCounts { metric: others.metric, ..PathCounts::default() });
        }
        let Self::Paths(counts) = self else { return false };
        let cut = counts.add(others, weight);
        // What one run abandoned another may have revived; a file does not tell nothing left from nothing counted.
        if counts.is_empty() {
            *self = Self::None;
        }
        cut
    }
}

/// Writes what was counted into a merged profile.
pub(crate) fn write_counts(counts: &MethodCounts, w: &mut Writer) {
    match counts {
        MethodCounts::None | MethodCounts::Streams => {}
        MethodCounts::Trace(counts) => counts.write(w),
        MethodCounts::Paths(counts) => path::write_counts(counts, w),
    }
}

/// Reads what [`write_counts`] wrote.
pub(crate) fn read_counts(r: &mut Reader<'_>) -> Result<MethodCounts, WireError> {
    let paths = path::read_counts(r)?;
    match TraceCounts::read(r)? {
        Some(_) if !paths.is_empty() => Err(WireError::Invalid("it has counts of paths and of traces")),
        Some(counts) => Ok(MethodCounts::Trace(counts)),
        None => Ok(MethodCounts::of_paths(paths)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::RegisterKey;
    use super::*;
    use crate::sums::Sums;

    #[test]
    fn sums_that_cancel_are_as_if_nothing_was_counted() {
        let registers = |count: i64| Sums::new(vec![(RegisterKey { address: 1, value: 0, register: 2 }, count)]).0;
        let counts = |count| MethodCounts::Paths(PathCounts { registers: registers(count), ..PathCounts::default() });
        let mut sum = counts(1);
        assert!(!sum.add(&counts(-1), 1));
        assert_eq!(sum, MethodCounts::None);
    }
}
