//! Metrics: numbers that are added up along paths, beside the paths' counts.

use serde::{Deserialize, Serialize};

/// What is added up along paths, beside their counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PathMetric {
    /// Nothing: paths are counted, and that is all.
    #[default]
    Count,
    /// What the program reports of itself: how far its thread's total has risen between the beginning and the end of
    /// the path. Exact.
    Events,
    /// The processor's time stamps, from the beginning of the path to its end. Measured.
    Cycles,
}

impl PathMetric {
    /// All of them; files know them by their place here.
    pub const ALL: [Self; 3] = [Self::Count, Self::Events, Self::Cycles];

    /// The name of the metric, as options have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Events => "events",
            Self::Cycles => "cycles",
        }
    }

    /// What is added up.
    #[must_use]
    pub const fn of_what(self) -> &'static str {
        match self {
            Self::Count => "nothing",
            Self::Events => "events",
            Self::Cycles => "cycles",
        }
    }

    /// The number of the metric in files.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The metric of a number in files.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index)).copied()
    }

    /// Are there sums beside the counts?
    #[must_use]
    pub const fn is_summed(self) -> bool {
        !matches!(self, Self::Count)
    }
}
