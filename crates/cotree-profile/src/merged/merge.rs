//! Adds up profiles.

use crate::binary::UnitId;
use crate::counts::UnitCounts;
use crate::error::{DifferentBinaries, DifferentMetrics, ProfileError};
use crate::file::ProfileFile;
use crate::recover;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

/// A merge under way: one accumulator per link unit.
#[derive(Debug, Default)]
pub struct Merge {
    units: BTreeMap<UnitId, (UnitCounts, PathBuf)>,
    /// Allow counts of several link units in one profile.
    pub several_units: bool,
    binaries: Vec<PathBuf>,
    traces: bool,
}

impl Merge {
    /// Begins a merge. `binaries`: where those may be that are no longer where they ran, since traces can be counted
    /// only with them.
    #[must_use]
    pub fn with_binaries(binaries: &[PathBuf]) -> Self {
        Self { binaries: binaries.to_owned(), ..Self::default() }
    }

    /// Adds a profile, `weight` times. After an error nothing of the profile has been added.
    ///
    /// # Errors
    /// If it is of another binary than those before, unless several units are allowed; two builds of one binary never
    /// are.
    pub fn add(&mut self, mut profile: ProfileFile, weight: u64) -> Result<(), ProfileError> {
        let traced = recover::count_traces(&mut profile, &self.binaries)
            .map_err(|cause| ProfileError::Uncounted { path: profile.path.clone(), cause: Box::new(cause) })?;
        for new in &profile.units {
            if let Some((known, _)) = self.units.get(&new.unit) {
                if known.counters.len() != new.counters.len() {
                    let what = "it has another number of counters than other profiles of the same build";
                    return Err(ProfileError::Damaged { path: profile.path, what });
                }
                if known.method.trace().is_some() != new.method.trace().is_some() {
                    let what = "either it or another profile of the same build has no counts of traces";
                    return Err(ProfileError::Damaged { path: profile.path, what });
                }
                continue;
            }
            let same_path = self.units.values().find(|(known, _)| known.binary == new.binary);
            let other = if self.several_units { None } else { self.units.values().next() };
            if let Some((known, other_path)) = same_path.or(other) {
                if known.method.metric() != new.method.metric() {
                    return Err(ProfileError::DifferentMetrics(Box::new(DifferentMetrics {
                        path: profile.path,
                        metric: new.method.metric(),
                        other_path: other_path.clone(),
                        other_metric: known.method.metric(),
                    })));
                }
                return Err(ProfileError::DifferentBinaries(Box::new(DifferentBinaries {
                    binary: new.binary.clone(),
                    unit: new.unit,
                    other_path: other_path.clone(),
                    other_binary: known.binary.clone(),
                    other_unit: known.unit,
                    remedy: if same_path.is_some() {
                        "the binary was built anew between the runs, so their counts cannot be added; merge the runs of each build apart"
                    } else {
                        "merge the profiles of one binary, or pass --several-units to keep both in one file"
                    },
                    path: profile.path,
                })));
            }
        }
        self.traces |= traced;
        for new in profile.units {
            match self.units.entry(new.unit) {
                Entry::Vacant(place) => {
                    place.insert((new.weighted(weight), profile.path.clone()));
                }
                Entry::Occupied(mut known) => {
                    known.get_mut().0.add(&new, weight).expect("compared above");
                }
            }
        }
        Ok(())
    }

    /// Were traces counted? Then the order of what they tell is not in the sums.
    #[must_use]
    pub const fn has_counted_traces(&self) -> bool {
        self.traces
    }

    /// The sums.
    #[must_use]
    pub fn finish(self) -> Vec<UnitCounts> {
        self.units.into_values().map(|(counts, _)| counts).collect()
    }
}
