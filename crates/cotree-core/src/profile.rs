//! Recovered profiles: every block's and edge's count, and flaws that say which counts are not vouched for.

use crate::facts::Function;
use crate::facts::events::EventKind;
use crate::ids::{Block, Edge, IdMap, Site};
use serde::{Deserialize, Serialize};

/// Activations that left a function other than by its edges, or came back into it, per call site.
///
/// `at_site[s]` is the number of activations abandoned while the call at site `s` was running (`exit`, `longjmp` over
/// them, an exception that they have no landing pad for) minus those that were revived there (the second return of
/// `setjmp`, the frames that a `fork`ed child inherits).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyExits {
    /// Per call site; empty means none anywhere.
    pub at_site: IdMap<Site, i64>,
}

/// Why a function's counts are not vouched for after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Flaw {
    /// Flow that no execution can have: some derived count would be negative or its equations contradict each other.
    Inconsistent,
    /// The run was cut off (a signal, a crash) or observed while it went on: live activations were not seen, so
    /// derived counts may be off by one per live activation, and per call that it makes where the callee's entries
    /// follow from it. Counted values are right (but see [`Self::LoopsUnderWay`]).
    LiveFrames,
    /// The program changes stacks by itself (coroutines, fibers): activations on suspended stacks were not seen.
    SuspendedStacks,
    /// An activation was abandoned at an address that is no known call site.
    UnknownExit,
    /// The walk of a dying stack did not reach its bottom.
    WalkIncomplete,
    /// Threads ran in a program built for one thread: counts may have been lost.
    Threads,
    /// The counts wrapped or were otherwise reported damaged.
    Damaged,
    /// Activations ended, or were observed, where they could not be accounted for, and loops of the function are
    /// counted by their own variables ([`crate::place::affine`]) or in registers ([`crate::place::promotion`]): what a
    /// loop that was under way had counted by then is missing.
    LoopsUnderWay,
    /// The function was optimised before its counters went in ([`crate::facts::Doubt::OptimisedBefore`]). Counts are
    /// right for the code that ran, and may be a fraction of what the source says.
    OptimisedBefore,
}

impl Flaw {
    /// Can recovery give other numbers than a counter at every block would? [`Self::OptimisedBefore`] is about what the
    /// blocks stand for.
    #[must_use]
    pub fn concerns_recovery(self) -> bool {
        self != Self::OptimisedBefore
    }
}

/// The recovered profile of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionProfile {
    /// Activations begun.
    pub entries: u64,
    /// Per block, times entered.
    pub blocks: IdMap<Block, u64>,
    /// Per edge, times traversed; `None` where the method promises block counts only.
    pub edges: Option<IdMap<Edge, u64>>,
    /// Per call site, activations abandoned there (less those revived); empty means none.
    pub early: IdMap<Site, i64>,
    /// Empty: every number above is exact.
    pub flaws: Vec<Flaw>,
}

impl FunctionProfile {
    /// How many events of a kind the function had by the counts of its blocks: what an activation that ended early did
    /// not get to did not happen. `None` if the facts are of another function.
    #[must_use]
    pub fn events(&self, function: &Function, kind: EventKind) -> Option<i128> {
        let events = function.events(kind);
        if self.blocks.len() != function.blocks.len() {
            return None;
        }
        let product = |times: i128, events: u64| times.saturating_mul(i128::from(events));
        let begun = self.blocks.numbered().map(|(block, &times)| product(times.into(), events.block(block)));
        let sites = function.calls.numbered().filter(|(_, call)| call.is_site);
        let not_reached = sites.zip(&self.early).map(|((call, facts), &ends)| {
            product(ends.into(), events.block(facts.block).saturating_sub(events.through(call)))
        });
        Some(begun.fold(0, i128::saturating_add).saturating_sub(not_reached.fold(0, i128::saturating_add)))
    }

    /// The profile with these flows and the early exits of the run. Negative or too large flow saturates and is
    /// flagged, as is anything else that is not `consistent`.
    pub(crate) fn from_flows(
        entries: i128,
        blocks: IdMap<Block, i128>,
        edges: Option<IdMap<Edge, i128>>,
        early: &EarlyExits,
        mut consistent: bool,
    ) -> Self {
        let mut count = |flow: i128| {
            u64::try_from(flow).unwrap_or_else(|_| {
                consistent = false;
                if flow < 0 { 0 } else { u64::MAX }
            })
        };
        let entries = count(entries);
        let blocks = blocks.into_iter().map(&mut count).collect();
        let edges = edges.map(|edges| edges.into_iter().map(&mut count).collect());
        Self {
            entries,
            blocks,
            edges,
            early: if early.at_site.iter().all(|&n| n == 0) { IdMap::default() } else { early.at_site.clone() },
            flaws: if consistent { Vec::new() } else { vec![Flaw::Inconsistent] },
        }
    }
}
