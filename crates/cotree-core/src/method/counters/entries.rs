//! Profiles of a whole link unit, where the entries of some functions follow from their callers
//! ([`crate::place::supergraph`]).
//!
//! A call point runs as often as its block is entered, minus the activations that were abandoned at earlier call sites
//! of the block, plus those that were revived there: after the second return of `setjmp` the block goes on. A function
//! whose entries are derived is recovered once all its call points are known. That may be before its callers are
//! recovered: a block's count may follow from counters alone.

use super::chords::ChordMethod;
use super::error::CounterError;
use super::measured::Measured;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, FunctionId, IdMap};
use crate::place::supergraph::executions;
use crate::plan::{CallPoint, DerivedEntry};
use crate::profile::FunctionProfile;

/// What came of a function; `None` if it was not measured.
pub type Recovered = Option<Result<FunctionProfile, CounterError>>;

/// Recovers the profiles of all functions of a unit. Like all recovery, it does not trust its input: entries that
/// wait for each other are [`CounterError::Underdetermined`].
#[must_use]
pub fn recover(method: ChordMethod, functions: &[Option<Measured<'_>>], entries: &[DerivedEntry]) -> Vec<Recovered> {
    let mut unit = Unit::new(method, functions, entries);
    let mut ready: Vec<usize> = (0..entries.len()).filter(|&e| unit.waits[e] == 0).collect();
    while let Some(entry) = ready.pop() {
        let DerivedEntry { function, calls } = &entries[entry];
        let result = unit.sum(calls).and_then(|sum| unit.finish(*function, sum));
        if let Some(slot) = unit.results.get_mut(function.index()) {
            *slot = Some(result);
        }
        for other in std::mem::take(&mut unit.waiting[entry]) {
            unit.waits[other] -= 1;
            if unit.waits[other] == 0 {
                ready.push(other);
            }
        }
    }
    for entry in entries {
        let measured = functions.get(entry.function.index()).is_some_and(Option::is_some);
        if let Some(slot) = unit.results.get_mut(entry.function.index()).filter(|slot| measured && slot.is_none()) {
            *slot = Some(Err(CounterError::Underdetermined));
        }
    }
    unit.results
}

struct Unit<'a> {
    method: ChordMethod,
    functions: &'a [Option<Measured<'a>>],
    results: Vec<Recovered>,
    /// Per function, the counts that are known before its entries are; empty for those whose entries are not derived.
    foreseen: Vec<IdMap<Block, Option<i128>>>,
    /// Per derived entry, for how many call points it waits.
    waits: Vec<usize>,
    /// Per derived entry, who waits for it, once per call point.
    waiting: Vec<Vec<usize>>,
}

impl<'a> Unit<'a> {
    fn new(method: ChordMethod, functions: &'a [Option<Measured<'a>>], entries: &[DerivedEntry]) -> Self {
        let mut number = vec![None; functions.len()];
        for (index, entry) in entries.iter().enumerate() {
            if let Some(slot) = number.get_mut(entry.function.index()) {
                *slot = Some(index);
            }
        }
        let alone = |(measured, derived): (&Option<Measured<'_>>, &Option<usize>)| {
            let measured = (*measured)?;
            derived.is_none().then(|| method.recover(&graph(measured.function)?, measured))
        };
        let results = functions.iter().zip(&number).map(alone).collect();
        let mut unit = Self {
            method,
            functions,
            results,
            foreseen: vec![IdMap::default(); functions.len()],
            waits: vec![0; entries.len()],
            waiting: vec![Vec::new(); entries.len()],
        };
        for (index, entry) in entries.iter().enumerate() {
            for call in &entry.calls {
                let caller = call.function.index();
                let Some(Some(derived)) = number.get(caller).copied() else { continue };
                unit.foresee(caller);
                if unit.foreseen[caller].get(call.block).copied().flatten().is_none() {
                    unit.waits[index] += 1;
                    unit.waiting[derived].push(index);
                }
            }
        }
        unit
    }

    fn foresee(&mut self, function: usize) {
        if !self.foreseen[function].is_empty() {
            return;
        }
        let Some(measured) = self.functions[function] else { return };
        // Errors in them are reported when the function is recovered.
        let foreseen = graph(measured.function).and_then(|cfg| self.method.foresee(&cfg, measured));
        self.foreseen[function] =
            foreseen.unwrap_or_else(|_| IdMap::filled(None, measured.function.blocks.len().max(1)));
    }

    /// How often all of these calls were made.
    fn sum(&self, calls: &[CallPoint]) -> Result<i128, CounterError> {
        calls.iter().map(|call| self.calls(call).ok_or(CounterError::CallerUnknown(call.function))).sum()
    }

    fn calls(&self, call: &CallPoint) -> Option<i128> {
        let caller = call.function.index();
        let Measured { function, early, .. } = (*self.functions.get(caller)?)?;
        let entries = match self.results.get(caller)? {
            Some(Ok(profile)) => profile.blocks.get(call.block).map(|&count| i128::from(count)),
            Some(Err(_)) => None,
            None => self.foreseen[caller].get(call.block).copied().flatten(),
        };
        Some(executions(function, early, entries?, call.block, call.after_sites))
    }

    fn finish(&self, function: FunctionId, entries: i128) -> Result<FunctionProfile, CounterError> {
        let measured = self.functions.get(function.index()).copied().flatten();
        let measured = measured.ok_or(CounterError::NothingMeasured)?;
        self.method.recover_entered(&graph(measured.function)?, measured, entries)
    }
}

fn graph(function: &Function) -> Result<Cfg, CounterError> {
    function.cfg().map_err(|_| CounterError::ForeignGraph)
}
