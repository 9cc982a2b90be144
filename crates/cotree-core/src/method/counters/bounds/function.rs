//! What bounds are computed from, and what they are, function by function.

use super::range::Range;
use crate::facts::Function;
use crate::ids::{Block, Edge, IdMap};
use crate::method::counters::Measured;
use crate::profile::{EarlyExits, FunctionProfile};

/// What may have happened to activations that were not accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// At most so many of the function were live, and none came back to life unseen.
    AtMost(i128),
    /// Nothing is known: only counters speak.
    Unknown,
}

/// A function of which some activations were not accounted for.
#[derive(Clone, Copy, Debug)]
pub struct Uncertain<'a> {
    /// The function with what was measured.
    pub measured: Measured<'a>,
    /// Counters may lack what a loop under way has counted.
    pub at_least: bool,
    /// What is known of these activations.
    pub live: Live,
}

/// A function of a unit.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A function whose counts are exact.
    Exact(&'a Function, &'a FunctionProfile),
    /// A function whose counts are not.
    Uncertain(Uncertain<'a>),
}

/// The ranges of a function's counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBounds {
    /// Activations begun.
    pub entries: Range,
    /// Per block, times entered.
    pub blocks: IdMap<Block, Range>,
    /// Per edge, times traversed.
    pub edges: IdMap<Edge, Range>,
    /// Per block: of as many as are certain to have entered it, how many may not have come past its beginning. Known
    /// early exits are not among them.
    pub interrupted: IdMap<Block, u64>,
    /// The early exits that are known.
    pub early: EarlyExits,
}

impl FunctionBounds {
    /// Is each count known?
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let all = self.blocks.iter().chain(&*self.edges).chain([&self.entries]);
        all.into_iter().all(|range| range.least == range.most) && self.interrupted.iter().all(|&n| n == 0)
    }

    /// The counts that are certain, or the greatest that may be.
    #[must_use]
    pub fn profile(&self, least: bool) -> FunctionProfile {
        let count = |range: &Range| {
            let count = if least { range.least } else { range.most };
            u64::try_from(count.max(0)).unwrap_or(u64::MAX)
        };
        let seen = self.early.at_site.iter().any(|&early| early != 0);
        FunctionProfile {
            entries: count(&self.entries),
            blocks: self.blocks.iter().map(count).collect(),
            edges: Some(self.edges.iter().map(count).collect()),
            early: if seen { self.early.at_site.clone() } else { IdMap::default() },
            flaws: Vec::new(),
        }
    }
}
