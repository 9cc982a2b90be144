//! The layout of a slab: the places of everything that a link unit counts.

use super::UnitPlan;
use crate::method::MethodTables;
use crate::slab::Words;

/// The layout of a slab of 64-bit words.
///
/// First come the counters of the method, then those of the reference, then the tables of the method. All these are
/// counters of the profile. After them come words for internal use of the method's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Per function, where the counters of its plan begin.
    pub main: Vec<u64>,
    /// Per function, where the counters of its reference plan begin; empty without a reference.
    pub check: Vec<u64>,
    /// The tables of the method.
    pub tables: MethodTables,
    /// How many counters there are.
    pub counter_count: u64,
    /// The first of them that belongs to a table; all others do from there on.
    pub path_words: u64,
    /// How many words of the code's own follow them.
    pub cache_count: u64,
    /// The first of those in which indirect calls keep their last targets, if targets are counted.
    pub targets: Option<u64>,
}

impl UnitPlan {
    /// Where everything lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let mut words = Words::default();
        let main = self.method.lay_out_counters(&mut words);
        let check = self.check.iter().flatten().map(|plan| words.take(plan.key.measures.len() as u64)).collect();
        let path_words = words.counter_count();
        let tables = self.method.lay_out_tables(&mut words);
        let targets = self.targets.as_ref().map(|plan| plan.lay_out(&mut words));
        let (counter_count, cache_count) = (words.counter_count(), words.own_count());
        Layout { main, check, tables, counter_count, path_words, cache_count, targets }
    }
}
