//! The places in the slab where paths are counted.

use super::types::{PathPlan, UnitPathPlan};
use crate::slab::Words;

/// Buckets of a hash table that each function caches in its slab (a power of two): an interpreter's loop goes back and
/// forth between some dozens of paths.
pub const PATH_CACHE: u64 = 4096;

/// Where the paths of one function are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTable {
    /// The function has no paths.
    None,
    /// In the slab, path number *n* at `base + n`.
    Array {
        /// The first word. Where a metric is added up, the sum of path *n* follows all counts, at `base + paths + n`.
        base: u64,
    },
    /// In the hash table of the process, but for the windows of its plan.
    Hashed {
        /// The number of the function in the unit.
        function: u64,
        /// The first of [`PATH_CACHE`] words of the slab that keep the addresses of buckets counted lately.
        cache: u64,
        /// The first word of its windows: one per path, window by window. The sums of a metric follow in the same
        /// order.
        windows: u64,
    },
}

/// Takes the words of arrays and windows, those that are to lie behind others last
/// ([`super::PathKey::behind`]), and then [`PATH_CACHE`] words for each function that counts paths in the hash table,
/// which are no counters.
pub(crate) fn lay_out(unit: &UnitPathPlan, words: &mut Words) -> Vec<PathTable> {
    let words_each = 1 + u64::from(unit.metric.is_summed());
    let mut tables = vec![PathTable::None; unit.functions.len()];
    let (behind, front): (Vec<_>, Vec<_>) =
        (0..).zip(&unit.functions).partition(|(_, plan): &(u64, &PathPlan)| plan.key.behind);
    let order: Vec<_> = front.into_iter().chain(behind).collect();
    for &(function, plan) in &order {
        tables[function as usize] = match plan.key.paths {
            0 => PathTable::None,
            paths if plan.key.in_array(unit.array) => {
                PathTable::Array { base: words.take(paths.saturating_mul(words_each)) }
            }
            _ => {
                let windows = words.take(plan.key.words_of_windows().saturating_mul(words_each));
                PathTable::Hashed { function, cache: 0, windows }
            }
        };
    }
    words.end_counters();
    for (function, _) in order {
        if let PathTable::Hashed { cache, .. } = &mut tables[function as usize] {
            *cache = words.take(PATH_CACHE);
        }
    }
    tables
}
