//! The words of the slab for paths across functions.

use super::types::{self, ANY, IpathPlan, UnitIpathPlan};
use crate::method::path::PATH_CACHE;
use crate::slab::{MOST_HANDLERS, Words};

/// Where the paths of a unit are counted and passed between functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpathTables {
    /// The first of the [words](types::words) that pass paths.
    pub words: u64,
    /// The first of the words that keep [`ADDRESSEE`](super::ADDRESSEE) while signal handlers run: how many run, and
    /// per handler its frame and what it found.
    pub handlers: u64,
    /// The word of path 0; the paths with numbers below [`UnitIpathPlan::array`] have one each. Where a metric is added
    /// up, the sums follow in as many words more.
    pub array: u64,
    /// Per function that counts paths in the hash table, the first of [`PATH_CACHE`] words that keep the addresses of
    /// buckets counted lately.
    pub caches: Vec<Option<u64>>,
}

/// Takes the words of the array, and then the others, which are no counters.
pub(crate) fn lay_out(unit: &UnitIpathPlan, words: &mut Words) -> IpathTables {
    let array = words.take(unit.array.saturating_mul(1 + u64::from(unit.metric.is_summed())));
    words.end_counters();
    let first = words.take(types::words(unit.metric));
    let handlers = words.take(1 + 2 * MOST_HANDLERS);
    let hashes = |plan: &IpathPlan| plan.probes.iter().any(|placed| placed.probe.table() == Some(ANY));
    let caches = unit.functions.iter().map(|plan| hashes(plan).then(|| words.take(PATH_CACHE))).collect();
    IpathTables { words: first, handlers, array, caches }
}
