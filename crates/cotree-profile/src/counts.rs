//! The counts of one link unit, from one run or from many.

use crate::binary::UnitId;
use crate::method::MethodCounts;
pub use crate::runs::Runs;
use crate::sums::Amount;
use cotree_rt::layout::{Flags, StackEntry};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The counts of one link unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitCounts {
    /// The build that was run.
    pub unit: UnitId,
    /// Where the binary was when it ran.
    pub binary: PathBuf,
    /// The command line, if that of all runs is the same; else empty.
    pub command: Vec<String>,
    /// The tests that the runs were part of, as far as they had a name.
    pub tests: BTreeSet<String>,
    /// How the runs ended.
    pub runs: Runs,
    /// The sum of the weights of the runs.
    pub weight: u64,
    /// What any run had.
    pub flags: Flags,
    /// Threads that were alive at the end of their process.
    pub threads_alive: u64,
    /// Nanoseconds since the epoch when the first run began.
    pub started_ns: u64,
    /// Nanoseconds since the epoch when the last run ended; 0 if none did.
    pub ended_ns: u64,
    /// Some sum did not fit 64 bits and saturated.
    pub saturated: bool,
    /// The counters.
    pub counters: Vec<u64>,
    /// Activations abandoned minus those revived, by the address of the early-exit table (tags included). At an address
    /// with 0, as many were revived as abandoned.
    pub early: BTreeMap<u64, i64>,
    /// What the method has counted besides.
    pub method: MethodCounts,
    /// The stack of the thread that ended the run, as it stands in a raw profile ([`crate::stack`]). Empty if it was
    /// not written down, and where runs are added up.
    pub stack: Vec<StackEntry>,
}

impl UnitCounts {
    /// Adds another unit's counts, each taken `weight` times.
    ///
    /// Unless they [wrap](Self::wraps), sums that do not fit saturate, and [`UnitCounts::saturated`] is set.
    ///
    /// # Errors
    /// [`CounterMismatch`] if the two have different numbers of counters: then one of them names the wrong unit.
    pub fn add(&mut self, other: &Self, weight: u64) -> Result<(), CounterMismatch> {
        if self.counters.len() != other.counters.len() {
            return Err(CounterMismatch { expected: self.counters.len(), found: other.counters.len() });
        }
        let mut cut = other.saturated;
        let wraps = other.wraps();
        for (sum, &count) in self.counters.iter_mut().zip(&other.counters) {
            if wraps {
                *sum = sum.wrapping_add(count.wrapping_mul(weight));
                continue;
            }
            let (total, over) = sum.plus(count, weight);
            *sum = total;
            cut |= over;
        }
        for (&address, &count) in &other.early {
            let sum = self.early.entry(address).or_default();
            if wraps {
                *sum = sum.wrapping_add(count.wrapping_mul(weight.cast_signed()));
                continue;
            }
            let (total, over) = sum.plus(count, weight);
            *sum = total;
            cut |= over;
        }
        cut |= self.method.add(&other.method, weight);
        self.stack.clear();
        self.saturated |= cut;
        if self.command != other.command {
            self.command.clear();
        }
        self.tests.extend(other.tests.iter().cloned());
        self.runs.add(&other.runs);
        self.weight = self.weight.saturating_add(other.weight.saturating_mul(weight));
        self.flags |= other.flags;
        self.threads_alive = self.threads_alive.saturating_add(other.threads_alive);
        if other.started_ns != 0 && (self.started_ns == 0 || other.started_ns < self.started_ns) {
            self.started_ns = other.started_ns;
        }
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        Ok(())
    }

    /// Are counters and early exits sums modulo 2⁶⁴ ([`Flags::CALL_SUMS`])? Then none is too large.
    #[must_use]
    pub fn wraps(&self) -> bool {
        self.flags.has(Flags::CALL_SUMS)
    }

    /// The counts taken `weight` times.
    #[must_use]
    pub fn weighted(self, weight: u64) -> Self {
        if weight == 1 {
            return self;
        }
        let mut sum = Self {
            unit: self.unit,
            binary: self.binary.clone(),
            command: self.command.clone(),
            tests: self.tests.clone(),
            counters: vec![0; self.counters.len()],
            ..Self::default()
        };
        sum.add(&self, weight).expect("as many counters as itself");
        sum
    }
}

/// Two profiles of one unit have different numbers of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} counters instead of {expected}")]
pub struct CounterMismatch {
    /// Counters of the one.
    pub expected: usize,
    /// Counters of the other.
    pub found: usize,
}
