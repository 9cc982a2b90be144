//! The types of path plans and their keys.

use super::metric::PathMetric;
use crate::facts::Function;
use crate::ids::{Block, Edge, IdMap, Site, Table};
use crate::plan::{CounterKey, FunctionPlan};
use crate::probe::PlacedProbe;
use serde::{Deserialize, Serialize};

/// An arc of the path graph ([`super::graph`]), by its number.
pub type Arc = usize;

/// Path numbers are kept in signed machine words.
pub const MOST_PATHS: u64 = i64::MAX as u64;

/// The most paths of a function whose table is an array, unless the user says otherwise.
pub const PATH_ARRAY: u64 = 1024;
/// The most that the user may say.
pub const MOST_PATH_ARRAY: u64 = 1 << 22;

/// The function's path table.
pub const PATH_TABLE: Table = Table(0);

/// Where paths end and begin anew, and the other choices that determine their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// On these edges, in order.
    pub edges: Vec<Edge>,
    /// Where these blocks are entered, in order.
    pub blocks: Vec<Block>,
    /// On these backedges, in order; paths that begin there remember how the loop was reached ([`super::context`]).
    pub loops: Vec<Edge>,
    /// Arcs of the path graph that lead to rare code, in order: the paths along them are numbered after all others
    /// ([`super::numbering`]).
    pub rare: Vec<Arc>,
    /// Numbers rise with the paths from ENTRY to a node, not with those from there to EXIT.
    pub backward: bool,
}

/// What the register says while a call of the block is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtCalls {
    /// Register plus this is the prefix's number.
    Query(i64),
    /// Nothing: the only prefix that leads here has this number.
    Known(u64),
    /// Nothing: the path has been counted.
    Counted,
}

/// What recovers the profile of one function from the counts of its paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathKey {
    /// The counters: those of self-loops, which are no part of paths.
    pub self_loops: CounterKey,
    /// Where paths are cut: this determines the numbering.
    pub cuts: Cuts,
    /// How many paths there are; numbers are below it if no arc is rare.
    pub paths: u64,
    /// Per block with call sites, in order.
    pub calls: Vec<(Block, AtCalls)>,
    /// Paths remember how their loop was reached ([`super::context`]).
    pub context: bool,
    /// The path numbers that have words of their own, in a function with too many paths for an array.
    pub windows: Vec<Window>,
    /// The words of the function lie after those of all functions without this flag: words near the beginning of a slab
    /// are reached with one instruction less.
    pub behind: bool,
}

/// The plan of one function's paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathPlan {
    /// What is applied, in the order in which probes run at each place: what keeps the path register, counts paths, and
    /// counts self-loops.
    pub probes: Vec<PlacedProbe>,
    /// What the register says in each block, behind the probes at its start and before those at its end. A plan that
    /// was read from a file has none.
    pub in_blocks: IdMap<Block, AtCalls>,
    /// No beginning of a path has a higher number. A plan that was read from a file does not know.
    pub highest: u64,
    /// What is kept to recover the profile.
    pub key: PathKey,
}

impl<'a> From<&'a PathPlan> for FunctionPlan<'a> {
    fn from(plan: &'a PathPlan) -> Self {
        Self::new(&plan.probes, &plan.key.self_loops)
    }
}

impl PathKey {
    /// The call sites at which the path register has to be noted when an activation is abandoned there, or comes to
    /// life.
    pub fn sites_with_register<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = Site> + 'a {
        let needed = |block| matches!(self.at_calls(block), Some(AtCalls::Query(_)));
        (0..).zip(function.sites()).filter(move |(_, site)| needed(site.block)).map(|(i, _)| Site(i))
    }

    /// How many words its windows take.
    #[must_use]
    pub fn words_of_windows(&self) -> u64 {
        self.windows.iter().fold(0, |sum, window| window.len.saturating_add(sum))
    }

    /// Are all paths counted in an array? Functions with at most `most` paths always are.
    #[must_use]
    pub fn in_array(&self, most: u64) -> bool {
        self.paths <= most || self.windows == [Window { first: 0, len: self.paths }]
    }

    /// What the register says at calls of the block; `None` if it has none.
    #[must_use]
    pub fn at_calls(&self, block: Block) -> Option<AtCalls> {
        self.calls.binary_search_by_key(&block, |c| c.0).ok().map(|i| self.calls[i].1)
    }
}

/// A method of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathMethod {
    /// Acyclic paths.
    Plain,
    /// Each path remembers how its loop was reached ([`super::context`]).
    Context,
}

/// The paths of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPathPlan {
    /// The method.
    pub method: PathMethod,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have no paths.
    pub functions: Vec<PathPlan>,
    /// A function with no more paths than this counts them in an array, others in a hash table but for their windows.
    pub array: u64,
    /// What is added up along paths.
    pub metric: PathMetric,
}

impl UnitPathPlan {
    /// How many functions have paths without context, though the method is to give them one.
    #[must_use]
    pub fn without_context(&self) -> u64 {
        let plain = |plan: &&PathPlan| plan.key.paths > 0 && !plan.key.context;
        if self.method == PathMethod::Context { self.functions.iter().filter(plain).count() as u64 } else { 0 }
    }
}

/// Paths of consecutive numbers that are counted in words of the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The first number.
    pub first: u64,
    /// How many.
    pub len: u64,
}

impl Window {
    /// The paths' numbers.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.first.saturating_add(self.len)
    }

    /// The table that stands for a plan's window of that index in [`crate::probe::Probe::CountPath`].
    #[must_use]
    pub fn table(index: usize) -> Table {
        Table::new(index + 1)
    }

    /// The window of a table; `None` if all paths go to the hash table.
    #[must_use]
    pub fn of(windows: &[Self], table: Table) -> Option<(usize, Self)> {
        let index = table.index().checked_sub(1)?;
        Some((index, *windows.get(index)?))
    }
}

/// What the user may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathOptions {
    /// The most paths of one function; more are cut. A function with many edges may keep about as many paths as edges.
    pub limit: u64,
    /// The most paths of a function that are counted in an array.
    pub array: u64,
    /// At most this many paths of a function with more have words in windows ([`super::windows`]).
    pub window: u64,
    /// What is added up along paths: anything but nothing has them counted where they end, not before.
    pub metric: PathMetric,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { limit: MOST_PATHS, array: PATH_ARRAY, window: PATH_ARRAY, metric: PathMetric::Count }
    }
}
