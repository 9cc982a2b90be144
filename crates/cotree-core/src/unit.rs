//! The plan of a link unit, and where everything that it counts lies in a slab.

use crate::method::{MethodPlan, MethodTables};
use crate::plan::CounterPlan;
use crate::slab::Words;

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPlan {
    /// What is measured.
    pub method: MethodPlan,
    /// With `--verify`: the reference that the same run carries, a counter on every block and every edge
    /// ([`crate::method::counters::block`]). One plan per function.
    pub check: Option<Vec<CounterPlan>>,
}

/// Where everything lies in a slab of 64-bit words.
///
/// First the counters of the method, then those of the reference, then the tables of the method: these are counters of the
/// profile. After them the words that the method's code needs for itself.
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
}

impl UnitPlan {
    /// A plan without a reference.
    #[must_use]
    pub fn new(method: MethodPlan) -> Self {
        Self { method, check: None }
    }

    /// Where everything lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let mut words = Words::default();
        let main = self.method.lay_out_counters(&mut words);
        let check = self.check.iter().flatten().map(|plan| words.take(plan.key.measures.len() as u64)).collect();
        let path_words = words.counter_count();
        let tables = self.method.lay_out_tables(&mut words);
        Layout { main, check, tables, counter_count: words.counter_count(), path_words, cache_count: words.own_count() }
    }
}
