//! What is asked of event counts, and their plans.

use super::call_sums::keys::{CallSumKey, counters, outermost_words};
use super::kinds::EventKinds;
use crate::facts::events::EventKind;
use crate::ids::{Block, CallId, Counter, IdMap};
use crate::plan::FunctionPlan;
use crate::probe::PlacedProbe;
use crate::slab::{MOST_HANDLERS, Words};

/// What is told of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventMethod {
    /// How many there were.
    Total,
    /// How many there were in each function and during each call: [`super::call_sums`].
    Calls,
}

/// How events are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOptions {
    /// Which.
    pub kinds: EventKinds,
    /// An addition at every stretch between calls: what counting costs without spanning trees, for comparison.
    pub naive: bool,
    /// Queries are exact, also if none can be seen: code of other link units may make them.
    pub queries: bool,
    /// Limits can be set: there are [`super::safe_points`].
    pub limits: bool,
}

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitEventPlan {
    /// What is told of them.
    pub method: EventMethod,
    /// What is counted. Kind number `i` has the counters [`counters_of`] `i`, which all functions share.
    pub kinds: Vec<EventKind>,
    /// The counters are exact at calls that can reach a query.
    pub queried: bool,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`].
    pub functions: Vec<EventPlan>,
}

/// The counters of a kind: what is added, and what is taken away.
#[must_use]
pub fn counters_of(kind: usize) -> [Counter; 2] {
    [Counter::new(2 * kind), Counter::new(2 * kind + 1)]
}

/// Words of a slab that serve queries of one kind, beside its counters: where the next limit is, what the thread began
/// with, whom to call, its own limit, and its share of the limit of all threads.
pub const QUERY_WORDS: u64 = 5;

/// Words of a slab that are no counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventWords {
    /// The first of the [`QUERY_WORDS`] of each kind, if the unit is queried.
    pub queries: Option<u64>,
    /// The first of those of handlers, if calls are measured.
    pub handlers: Option<u64>,
    /// The first of those that say which activations are the outermost ones, and how many there are. As many words as
    /// [`hidden_words`] says follow.
    pub outermost: Option<(u64, u64)>,
    /// The first of those that keep what the sums of outermost activations were when the thread began, if the unit is
    /// queried.
    pub bases: Option<u64>,
}

/// How many words keep what of so many words about outermost activations means nothing while signal handlers run: one
/// that says how many are kept, then two each.
#[must_use]
pub const fn hidden_words(outermost: u64) -> u64 {
    let most = outermost.saturating_mul(MOST_HANDLERS);
    1 + 2 * if most < MOST_HIDDEN { most } else { MOST_HIDDEN }
}

/// At most so many outermost activations are interrupted by handlers at once.
const MOST_HIDDEN: u64 = 512;

impl UnitEventPlan {
    /// How many counters the unit has. All functions share them.
    #[must_use]
    pub fn counters(&self) -> usize {
        counters(self.functions.iter().map(|plan| &plan.key.sums), self.kinds.len()).1
    }

    /// Assigns the words that serve queries, and those of handlers.
    pub(crate) fn lay_out(&self, words: &mut Words) -> EventWords {
        words.end_counters();
        let kinds = self.kinds.len() as u64;
        let queries = self.queried.then(|| words.take(QUERY_WORDS * kinds));
        let handlers = (self.method == EventMethod::Calls).then(|| words.take(1 + MOST_HANDLERS * (1 + kinds)));
        let outermost = outermost_words(self.functions.iter().map(|plan| &plan.key.sums)) as u64;
        let outermost = (outermost > 0).then(|| {
            let first = words.take(outermost);
            words.take(hidden_words(outermost));
            (first, outermost)
        });
        let bases = outermost.filter(|_| self.queried).map(|(_, outermost)| words.take(outermost * kinds));
        EventWords { queries, handlers, outermost, bases }
    }
}

/// The plan of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPlan {
    /// What is applied.
    pub probes: Vec<PlacedProbe>,
    /// How many counters the unit has.
    pub counters: usize,
    /// What is kept to recover the counts.
    pub key: EventKey,
    /// Per kind, the query increments. They are not kept with the program.
    pub queries: Vec<QueryIncrements>,
    /// Calls during which the activation must keep its frame, so that it is known if they do not come back. Not kept,
    /// either.
    pub framed: Vec<CallId>,
    /// The function has [`Probe::Outermost`](crate::probe::Probe::Outermost): each activation needs a frame of its own.
    /// Not kept, either.
    pub own_frame: bool,
}

/// What is kept to recover the counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventKey {
    /// Per kind and call site, what the counter lacks while the call is under way; empty for functions without probes.
    pub at_sites: Vec<Vec<i64>>,
    /// Some loops are counted only where they are left.
    pub counts_in_loops: bool,
    /// How calls are measured; empty if they are not.
    pub sums: CallSumKey,
}

/// What the counter lacks at each point of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryIncrements {
    /// Where blocks begin, behind the probes there.
    pub blocks: IdMap<Block, i64>,
    /// While calls are under way.
    pub calls: IdMap<CallId, i64>,
    /// Where the function returns.
    pub returned: i64,
}

impl QueryIncrements {
    /// At the beginning of a block.
    #[must_use]
    pub fn at_block(&self, block: Block) -> i64 {
        self.blocks.get(block).copied().unwrap_or(0)
    }

    /// While a call is under way.
    #[must_use]
    pub fn at_call(&self, call: CallId) -> i64 {
        self.calls.get(call).copied().unwrap_or(0)
    }
}

impl EventPlan {
    /// Does the function count its events?
    #[must_use]
    pub fn is_counted(&self) -> bool {
        !self.key.at_sites.is_empty()
    }
}

impl<'a> From<&'a EventPlan> for FunctionPlan<'a> {
    fn from(plan: &'a EventPlan) -> Self {
        Self { probes: &plan.probes, counters: plan.counters, measures: &[], fixed: &[] }
    }
}
