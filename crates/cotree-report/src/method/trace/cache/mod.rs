//! What a trace's accesses of memory cost under a model of data caches, by function or by line.
//!
//! Each thread has caches of its own, which begin empty. Accesses are those that the trace tells: of LLVM's
//! intermediate code, by functions with probes.

mod model;
mod table;

pub use model::CacheForm;
pub use table::{JSON, write, write_json};

use super::Traced;
use super::clock::Clock;
use super::rows::Rows;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::Event;
use model::{Hierarchy, Level};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// What something has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCosts {
    /// Instructions of LLVM's intermediate code; 0 for lines, whose instructions are not told apart.
    pub instructions: u64,
    /// Accesses of memory.
    pub accesses: u64,
    /// Accesses of what was not in the first cache.
    pub first_misses: u64,
    /// Accesses of what was in no cache.
    pub last_misses: u64,
}

impl CacheCosts {
    /// The cycles that cachegrind's users estimate: 1 for what the first cache has, instructions among it, 5 for what
    /// the last one has, 35 for what comes from memory.
    #[must_use]
    pub fn estimated_cycles(&self) -> u64 {
        let first = self.instructions + self.accesses - self.first_misses;
        first + 5 * (self.first_misses - self.last_misses) + 35 * self.last_misses
    }

    fn add(&mut self, level: Level) {
        self.accesses += 1;
        self.first_misses += u64::from(level > Level::First);
        self.last_misses += u64::from(level > Level::Last);
    }

    fn add_all(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.accesses += other.accesses;
        self.first_misses += other.first_misses;
        self.last_misses += other.last_misses;
    }
}

/// What is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Function(FunctionId),
    /// File and line, of an access that has one.
    Line(Option<(u32, u32)>),
}

/// The costs of a trace.
#[derive(Clone, Debug)]
pub struct Cached {
    /// The first cache of each thread.
    pub first: CacheForm,
    /// The last one.
    pub last: CacheForm,
    /// All costs.
    pub total: CacheCosts,
    by_line: bool,
    parts: BTreeMap<Of, CacheCosts>,
}

impl Cached {
    /// Runs the accesses in the blocks of these numbers through the model, thread by thread.
    #[must_use]
    pub fn new(
        traced: &Traced<'_>,
        rows: &Rows<'_>,
        by_line: bool,
        (first, last): (CacheForm, CacheForm),
        (from, to): (u64, u64),
    ) -> Self {
        let mut parts: BTreeMap<Of, CacheCosts> = BTreeMap::new();
        let mut instructions = 0;
        for thread in &traced.threads {
            let mut caches = Hierarchy::new(first, last);
            for part in &thread.parts {
                let mut clock = Clock::new(traced.binary.map());
                let followed = part.follow(traced.tables, traced.streams, from, to, |moment| {
                    if let Event::Access { function, access, address, length } = moment.event
                        && moment.certain
                    {
                        let of = if by_line {
                            let at = rows.position_of_access(function, access);
                            Of::Line(at.map(|at| (at.file, at.line)))
                        } else {
                            Of::Function(function)
                        };
                        let costs = parts.entry(of).or_default();
                        caches.access(address, length, |level| costs.add(level));
                    }
                    if let Some(ran) = clock.advance(traced.tables, &moment) {
                        instructions += ran.instructions;
                        if !by_line {
                            parts.entry(Of::Function(ran.function)).or_default().instructions += ran.instructions;
                        }
                    }
                    Ok::<_, Infallible>(moment.leads_on)
                });
                let Ok(_) = followed;
            }
        }
        let mut total = CacheCosts::default();
        parts.values().for_each(|costs| total.add_all(costs));
        total.instructions = instructions;
        Self { first, last, total, by_line, parts }
    }

    /// The parts with their names, those first that miss the caches most.
    fn named(&self, rows: &Rows<'_>) -> Vec<(String, CacheCosts)> {
        let name = |of: &Of| match of {
            Of::Function(function) => rows.name(*function),
            Of::Line(Some((file, line))) => rows.line(*file, *line),
            Of::Line(None) => "(no line)".to_owned(),
        };
        let named = self.parts.iter().filter(|(_, costs)| costs.accesses > 0).map(|(of, costs)| (name(of), *costs));
        let mut named: Vec<(String, CacheCosts)> = named.collect();
        let key = |costs: &CacheCosts| (costs.last_misses, costs.first_misses, costs.accesses);
        named.sort_by(|(one, a), (other, b)| key(b).cmp(&key(a)).then_with(|| one.cmp(other)));
        named
    }
}
