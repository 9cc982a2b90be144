//! How a count changed.

use serde::Serialize;

/// How a count changed: from zero, to zero, or between other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The line or function runs now and did not before.
    NewlyRun,
    /// The line or function ran before and does not now.
    NoLongerRun,
    /// The line or function runs more or less often.
    Changed,
}

impl Change {
    pub(super) fn of(before: u64, after: u64) -> Option<Self> {
        match (before, after) {
            (a, b) if a == b => None,
            (0, _) => Some(Self::NewlyRun),
            (_, 0) => Some(Self::NoLongerRun),
            _ => Some(Self::Changed),
        }
    }
}
