//! The recovered path profile of a function.

use crate::ids::{Block, Edge, Site};
use crate::profile::{EarlyExits, FunctionProfile};
use serde::{Deserialize, Serialize};

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathStart {
    /// With a new activation.
    Entry,
    /// With this block, after another path ended at a backedge or another cut in front of it.
    Cut(Block),
}

/// One path: what is executed between two points at which paths end.
///
/// A path comprises the bodies of its blocks and the edges that leave them, the cut edge at its end among them. So
/// there are as many edges as blocks, and no block or edge belongs to two consecutive paths. (The beginning of a path
/// that an activation did not finish lacks the last edge. The path of an activation whose very entry block is cut is
/// empty.)
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Path {
    /// Where it starts.
    pub start: PathStart,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The path ends at EXIT, not at a cut.
    pub to_exit: bool,
    /// The context-prefix: the edges that led to the path's first block ([`super::context`]). Empty for plain paths.
    pub context: Vec<Edge>,
    /// The loop-entries on the context-prefix, the path's own first block among them, from which it goes on with a turn
    /// of the loop that is not the first.
    pub turns: Vec<Block>,
}

/// The four types of path of the paper (Ball & Larus 1996, §4), where every cut counts as a backedge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathClass {
    /// Through the whole function.
    EntryToExit,
    /// From the entry up to the execution of a backedge.
    EntryToBackedge,
    /// Between two executions of backedges.
    BackedgeToBackedge,
    /// After the last execution of a backedge.
    BackedgeToExit,
}

impl Path {
    /// The class of the path.
    #[must_use]
    pub fn class(&self) -> PathClass {
        match (self.start, self.to_exit) {
            (PathStart::Entry, true) => PathClass::EntryToExit,
            (PathStart::Entry, false) => PathClass::EntryToBackedge,
            (PathStart::Cut(_), false) => PathClass::BackedgeToBackedge,
            (PathStart::Cut(_), true) => PathClass::BackedgeToExit,
        }
    }
}

/// Activations that were abandoned while a call was running, or revived there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Abandoned {
    /// The call site.
    pub site: Site,
    /// The path register at the call; `None` where it could not be found.
    pub register: Option<i64>,
    /// How many were abandoned, minus those that were revived with this register.
    ///
    /// Without a register, abandoned and revived activations must not have been set off against each other, because
    /// their prefixes may differ.
    pub count: i64,
}

/// The beginning of a path that was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PendingPath {
    /// The call at which it was abandoned.
    pub site: Site,
    /// The sum of the values along it: with the site's block it tells the blocks and edges
    /// ([`super::numbering::Numbering::arcs_up_to`]).
    pub prefix: u64,
    /// How often, less how often activations came to life there.
    pub count: i64,
}

/// The recovered path profile of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathProfile {
    /// Path numbers with their counts, by number, each once, none 0.
    ///
    /// A path is counted where only one path goes on ([`super::placement`]): activations in
    /// [`Self::cut_short`] are counted with the path that they had taken, though they did not reach its end.
    pub paths: Vec<(u64, u64)>,
    /// Path numbers with what their executions add up to ([`super::PathMetric`]), by number, each once, none 0.
    /// The beginnings in [`Self::pending`] and [`Self::unresolved`] are in no sum.
    pub sums: Vec<(u64, u64)>,
    /// What was left unfinished, by site and prefix, each once, none 0.
    pub pending: Vec<PendingPath>,
    /// Per call site behind the place where paths through it are counted: activations abandoned there, less those that
    /// came to life.
    pub cut_short: Vec<(Site, i64)>,
    /// Activations of which the prefix is not known, per call site. Blocks and edges have been found by the law of flow
    /// unless the profile has a flaw.
    pub unresolved: Vec<(Site, i64)>,
    /// The blocks and edges that follow.
    pub counts: FunctionProfile,
}

/// Early exits of which no registers are known. Only for runs in which no activation came to life: see
/// [`Abandoned::count`].
#[must_use]
pub fn without_registers(early: &EarlyExits) -> Vec<Abandoned> {
    let some = early.at_site.iter().enumerate().filter(|(_, count)| **count != 0);
    some.map(|(site, &count)| Abandoned { site: Site::new(site), register: None, count }).collect()
}
