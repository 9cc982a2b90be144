//! The file of amounts that later runs are held against: text that fits into a commit, and whose changes a reader of
//! the commit understands.

use super::{Amount, Measured, UnitBuild};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The name and version of the file.
pub const BASELINE: &str = "cotree-baseline/1";

/// A function is recorded if it has at least this share of all events of its benchmark, in millionths.
const SHARE: u128 = 100;

/// Recorded amounts of benchmarks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// [`BASELINE`].
    schema: String,
    /// By name.
    pub benchmarks: BTreeMap<String, Recorded>,
}

/// What a benchmark has cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The link units that ran, by name; several of one name where programs share it.
    pub builds: BTreeMap<String, BTreeSet<UnitBuild>>,
    /// By kind of events.
    pub totals: BTreeMap<String, Amount>,
    /// The kind of events of functions.
    pub of_functions: String,
    /// By function of the source; those that have next to nothing of the whole are left out.
    pub functions: BTreeMap<String, Amount>,
    /// The most that a function may have had that is left out.
    pub left_out: u64,
}

/// Why a file is no baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Not JSON, or of another shape.
    #[error("it is no baseline ({0})")]
    Shape(#[from] serde_json::Error),
    /// Another version.
    #[error("it is of {found:?}, and this cotree reads {BASELINE:?}")]
    Version {
        /// What the file says.
        found: String,
    },
}

impl Default for Baseline {
    fn default() -> Self {
        Self { schema: BASELINE.into(), benchmarks: BTreeMap::new() }
    }
}

impl Baseline {
    /// Reads a file's text.
    ///
    /// # Errors
    /// See [`BaselineError`].
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let Head { schema } = serde_json::from_str(text)?;
        if schema != BASELINE {
            return Err(BaselineError::Version { found: schema });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// Records a benchmark, in place of what was recorded under its name.
    pub fn record(&mut self, measured: &Measured) {
        self.benchmarks.insert(measured.name.clone(), Recorded::new(measured));
    }

    /// Writes the file, one amount in a line.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

impl Recorded {
    fn new(measured: &Measured) -> Self {
        let whole: u128 = measured.functions.values().map(|amount| u128::from(amount.most())).sum();
        let is_large = |amount: &Amount| u128::from(amount.most()) * 1_000_000 >= whole * SHARE;
        let large = measured.functions.iter().filter(|(_, amount)| is_large(amount));
        Self {
            builds: measured.builds.clone(),
            totals: measured.totals.clone(),
            of_functions: measured.of_functions.clone(),
            functions: large.map(|(name, amount)| (name.clone(), *amount)).collect(),
            left_out: u64::try_from(whole * SHARE / 1_000_000).unwrap_or(u64::MAX),
        }
    }

    /// What a function had. Of one that is left out it is known what it had at most.
    #[must_use]
    pub fn function(&self, name: &str) -> Amount {
        let left_out = match self.left_out {
            0 => Amount::Equal(0),
            most => Amount::Range { least: 0, most },
        };
        self.functions.get(name).copied().unwrap_or(left_out)
    }

    /// What was recorded, as if it had just been measured, to be held against another record. Functions that only the
    /// other one has may have had what is left out here.
    #[must_use]
    pub fn measured_beside(&self, name: &str, other: &Self) -> Measured {
        let names = self.functions.keys().chain(other.functions.keys());
        Measured {
            name: name.to_owned(),
            runs: 1,
            builds: self.builds.clone(),
            totals: self.totals.clone(),
            of_functions: self.of_functions.clone(),
            functions: names.map(|name| (name.clone(), self.function(name))).collect(),
            exact: true,
        }
    }

    /// Why amounts of another build can't be held against these: one sentence for each thing that differs.
    #[must_use]
    pub fn differences(&self, measured: &Measured) -> Vec<String> {
        let mut differences = Vec::new();
        for (name, builds) in &self.builds {
            let Some(now) = measured.builds.get(name) else {
                differences.push(format!("{name} ran then, and does not now"));
                continue;
            };
            match (builds.iter().next(), now.iter().next()) {
                _ if builds == now => {}
                (Some(build), Some(now_built)) if builds.len() == 1 && now.len() == 1 => {
                    build.differences(name, now_built, &mut differences);
                }
                _ => differences.push(format!(
                    "other builds of {name} ran then, {}, and now, {}",
                    builds.len(),
                    now.len()
                )),
            }
        }
        let new = measured.builds.keys().filter(|name| !self.builds.contains_key(*name));
        differences.extend(new.map(|name| format!("{name} runs now, and did not then")));
        differences
    }
}

impl UnitBuild {
    fn differences(&self, name: &str, now: &Self, differences: &mut Vec<String>) {
        let mut differ = |what: &str, then: &str, now: &str| {
            if then != now {
                differences.push(format!("{name}: {what} was {then:?}, and is {now:?}"));
            }
        };
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        differ("the target", &self.target, &now.target);
        differ("the method", &self.method, &now.method);
        differ("the compiler", &list(&self.compilers), &list(&now.compilers));
        let options: BTreeSet<&String> = self.options.keys().chain(now.options.keys()).collect();
        for option in options {
            let value = |build: &Self| build.options.get(option).cloned().unwrap_or_default();
            differ(&format!("the option {option}"), &value(self), &value(now));
        }
    }
}
