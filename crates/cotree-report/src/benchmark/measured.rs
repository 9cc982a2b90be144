//! What the runs of a benchmark have cost.

use super::Amount;
use crate::costs::Costs;
use crate::costs::totals::Totals;
use crate::names::{Names, across_builds};
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How a link unit was built: amounts are compared only between builds of which all of this is equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitBuild {
    /// The target triple.
    pub target: String,
    /// The profiling method.
    pub method: String,
    /// The compilers, as they name themselves.
    pub compilers: BTreeSet<String>,
    /// The options of the build ([`cotree_core::facts::Build::options`]).
    pub options: BTreeMap<String, String>,
}

/// What one run has cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// By kind of events, those that happened.
    pub totals: BTreeMap<&'static str, u64>,
    /// Events of one kind by function of the source, inlined copies with it. Functions of one name are one.
    pub functions: BTreeMap<String, u64>,
    /// The link units that ran, by name without the hash that cargo adds.
    pub builds: BTreeMap<String, BTreeSet<UnitBuild>>,
    /// Every count is vouched for.
    pub exact: bool,
}

impl Run {
    /// Derives the costs of a run from its profile, those of functions in events of a kind; `None` if the profile has
    /// no counts of events.
    #[must_use]
    pub fn new(units: &[Unit<'_>], of_functions: EventKind) -> Option<Self> {
        let events = Totals::new(units).events()?;
        let totals = EventKind::ALL.iter().map(|&kind| (kind.name(), small(events.of(kind))));
        let mut functions: BTreeMap<String, u64> = BTreeMap::new();
        for costs in Costs::new(units).functions {
            let facts = costs.function.facts;
            for (line, cost) in &costs.lines {
                let copy = line.inlined.and_then(|copy| facts.inlined.get(copy as usize));
                let symbol = copy.map_or(&facts.symbol, |copy| &copy.symbol);
                let amount = small(cost.of(of_functions));
                if amount > 0 {
                    let sum = functions.entry(Names::Demangled.show(&across_builds(symbol))).or_default();
                    *sum = sum.saturating_add(amount);
                }
            }
        }
        let mut builds: BTreeMap<String, BTreeSet<UnitBuild>> = BTreeMap::new();
        for unit in units {
            let program = &unit.map.program;
            builds.entry(without_hash(&program.name).to_owned()).or_default().insert(UnitBuild {
                target: program.target.clone(),
                method: unit.profile.method.method().name().to_owned(),
                compilers: program.build.compilers.clone(),
                options: program.build.options.clone(),
            });
        }
        Some(Self {
            builds,
            totals: totals.filter(|&(_, amount)| amount > 0).collect(),
            functions,
            exact: units.iter().all(|unit| unit.profile.exact() && unit.profile.sums_exact()),
        })
    }
}

impl Run {
    /// What this run has cost besides what another one has, which went as far as the beginning of a part of it; `None`
    /// if that one has more of anything.
    #[must_use]
    pub fn less(&self, before: &Self) -> Option<Self> {
        fn less<K: Ord + Clone>(all: &BTreeMap<K, u64>, before: &BTreeMap<K, u64>) -> Option<BTreeMap<K, u64>> {
            if before.keys().any(|key| !all.contains_key(key)) {
                return None;
            }
            let left = all.iter().map(|(key, amount)| {
                let left = amount.checked_sub(before.get(key).copied().unwrap_or(0))?;
                Some((key.clone(), left))
            });
            left.filter(|left| !matches!(left, Some((_, 0)))).collect()
        }
        Some(Self {
            totals: less(&self.totals, &before.totals)?,
            functions: less(&self.functions, &before.functions)?,
            builds: self.builds.clone(),
            exact: self.exact && before.exact,
        })
    }
}

/// A name without the hash that cargo adds to those of tests and benchmarks: it changes with the package's version.
#[must_use]
pub fn without_hash(name: &str) -> &str {
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|sign| matches!(sign, b'0'..=b'9' | b'a'..=b'f'));
    name.rsplit_once('-').filter(|(_, hash)| is_hash(hash)).map_or(name, |(stem, _)| stem)
}

/// Amounts that no machine counts to in its life are as large as can be.
fn small(amount: u128) -> u64 {
    u64::try_from(amount).unwrap_or(u64::MAX)
}

/// What all runs of a benchmark have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The benchmark's name.
    pub name: String,
    /// How many runs there were.
    pub runs: usize,
    /// The link units that ran, by name.
    pub builds: BTreeMap<String, BTreeSet<UnitBuild>>,
    /// By kind of events.
    pub totals: BTreeMap<String, Amount>,
    /// The kind of events of functions.
    pub of_functions: String,
    /// By function of the source.
    pub functions: BTreeMap<String, Amount>,
    /// Every count of every run is vouched for.
    pub exact: bool,
}

impl Measured {
    /// Brings runs together.
    #[must_use]
    pub fn new(name: String, runs: &[Run], of_functions: EventKind) -> Self {
        let mut builds: BTreeMap<String, BTreeSet<UnitBuild>> = BTreeMap::new();
        for (name, of_run) in runs.iter().flat_map(|run| &run.builds) {
            builds.entry(name.clone()).or_default().extend(of_run.iter().cloned());
        }
        let totals = runs.iter().map(|run| run.totals.iter().map(|(kind, amount)| ((*kind).to_owned(), *amount)));
        let functions = runs.iter().map(|run| run.functions.iter().map(|(name, amount)| (name.clone(), *amount)));
        Self {
            name,
            runs: runs.len(),
            builds,
            totals: amounts(totals, runs.len()),
            of_functions: of_functions.name().to_owned(),
            functions: amounts(functions, runs.len()),
            exact: runs.iter().all(|run| run.exact),
        }
    }

    /// Had all runs the same amounts, in total and in each function?
    #[must_use]
    pub fn all_equal(&self) -> bool {
        self.totals.values().chain(self.functions.values()).all(|amount| matches!(amount, Amount::Equal(_)))
    }
}

/// Brings the amounts of runs together, by name. A run that does not name something had none of it.
fn amounts(runs: impl Iterator<Item = impl Iterator<Item = (String, u64)>>, count: usize) -> BTreeMap<String, Amount> {
    let mut lists: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (number, run) in runs.enumerate() {
        for (name, amount) in run {
            lists.entry(name).or_insert_with(|| vec![0; count])[number] = amount;
        }
    }
    lists.into_iter().filter_map(|(name, list)| Some((name, Amount::of(list)?))).collect()
}
