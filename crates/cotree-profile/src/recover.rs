//! Recovery of a whole link unit: binary and counts in, the profile of every function out.
//!
//! Each function is recovered by its method (`cotree-core`); here the counters are handed out, early exits are brought
//! from machine addresses to call sites, and what happened to the run as a whole becomes flaws of the functions whose
//! counts it may concern.

use crate::binary::{BinaryError, BinaryFile, BinaryMap, Resolved, UnitId};
use crate::counts::{Runs, UnitCounts};
use crate::file::ProfileFile;
use crate::flaws::add_flaws;
use crate::notes::notes;
use crate::path_counts::PathKey;
use crate::path_recovery::recover_paths;
use cotree_core::facts::Function;
use cotree_core::method::counters::entries::{self, Measured};
use cotree_core::method::counters::{self, CounterError, CounterMethod, UnitCounterPlan};
use cotree_core::method::path::{PathMetric, PathProfile, PathTable};
use cotree_core::method::{Method, MethodPlan, RecoverError};
use cotree_core::plan::CounterPlan;
use cotree_core::profile::{EarlyExits, FunctionProfile};
use cotree_rt::layout;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use crate::notes::Note;

/// Why a profile cannot be recovered.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The binary cannot be used.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The profile does not say where its binary was, or it is gone.
    #[error("the binary {binary} of the profile {profile} is no longer there: say where it is with --binary", binary = .binary.display(), profile = .profile.display())]
    BinaryGone {
        /// The profile.
        profile: PathBuf,
        /// Where it was.
        binary: PathBuf,
    },
    /// Another build.
    #[error(
        "the profile {profile} is of build {expected}, but {binary} is build {found}: it was built anew since; run it again, or pass the binary that ran with --binary",
        profile = .profile.display(), binary = .binary.display()
    )]
    OtherBuild {
        /// The profile.
        profile: PathBuf,
        /// Its build.
        expected: UnitId,
        /// The binary.
        binary: PathBuf,
        /// Its build.
        found: UnitId,
    },
    /// The profile and the plan have different numbers of counters.
    #[error("the profile has {found} counters, but {binary} has {expected}: the profile is damaged; run the program again", binary = .binary.display())]
    CounterMismatch {
        /// The binary.
        binary: PathBuf,
        /// Counters of the plan.
        expected: u64,
        /// Counters of the profile.
        found: u64,
    },
    /// The profile adds up something else along paths than the binary does.
    #[error("the profile and {binary} do not agree on what is added up along paths: the profile is damaged; run the program again", binary = .binary.display())]
    MetricMismatch {
        /// The binary.
        binary: PathBuf,
    },
    /// The profile has paths of a function that has no table for them.
    #[error("the profile has a path table for function {function}, but {binary} has none: the profile is damaged; run the program again", binary = .binary.display())]
    ForeignPaths {
        /// The binary.
        binary: PathBuf,
        /// The function's number.
        function: u32,
    },
    /// The binary carries no reference counters.
    #[error("{binary} carries no reference counters: build it with --verify", binary = .binary.display())]
    NothingToVerify {
        /// The binary.
        binary: PathBuf,
    },
}

/// The recovered profile of a link unit.
#[derive(Clone, Debug)]
pub struct UnitProfile {
    /// The build.
    pub unit: UnitId,
    /// The binary.
    pub binary: PathBuf,
    /// The command line of the first run.
    pub command: Vec<String>,
    /// The method.
    pub method: Method,
    /// One per function, in the order of [`cotree_core::facts::ProgramMap::functions`]; `None` where nothing was
    /// measured (see [`Function::untouched`]) or recovery failed (see `failures`).
    pub functions: Vec<Option<FunctionProfile>>,
    /// Likewise the paths, if the method counts them, else empty. What follows from them for blocks and edges, flaws
    /// included, is in `functions` alone: their own `counts` are empty.
    pub paths: Vec<Option<PathProfile>>,
    /// Functions whose counts contradict their plan.
    pub failures: Vec<(u32, RecoverError)>,
    /// The runs.
    pub runs: Runs,
    /// The sum of their weights.
    pub weight: u64,
    /// Bits of [`Flags`].
    pub flags: u64,
    /// What a reader must know about the runs.
    pub notes: Vec<Note>,
}

impl UnitProfile {
    /// Is every number exact?
    #[must_use]
    pub fn exact(&self) -> bool {
        self.failures.is_empty() && self.functions.iter().flatten().all(|f| f.flaws.is_empty())
    }
}

/// Finds and opens the binary of a profile: one of `given` if there are any, else the recorded path.
///
/// # Errors
/// See [`UnitError`].
pub fn open_binary(profile: &Path, counts: &UnitCounts, given: &[PathBuf]) -> Result<BinaryFile, UnitError> {
    let other_build = |binary: &Path, found| UnitError::OtherBuild {
        profile: profile.to_owned(),
        expected: counts.unit,
        binary: binary.to_owned(),
        found,
    };
    if let [only] = given {
        let binary = BinaryFile::open(only)?;
        return if binary.unit() == counts.unit { Ok(binary) } else { Err(other_build(only, binary.unit())) };
    }
    for path in given {
        if BinaryFile::unit_of(path)? == counts.unit {
            return Ok(BinaryFile::open(path)?);
        }
    }
    if !counts.binary.exists() {
        return Err(UnitError::BinaryGone { profile: profile.to_owned(), binary: counts.binary.clone() });
    }
    let binary = BinaryFile::open(&counts.binary)?;
    if binary.unit() == counts.unit { Ok(binary) } else { Err(other_build(&counts.binary, binary.unit())) }
}

/// Opens the binaries of all units of a profile and recovers them.
///
/// # Errors
/// See [`UnitError`].
pub fn recover_file(file: &ProfileFile, binaries: &[PathBuf]) -> Result<Vec<(BinaryFile, UnitProfile)>, UnitError> {
    file.units
        .iter()
        .map(|counts| {
            let binary = open_binary(&file.path, counts, binaries)?;
            let profile = recover(&binary, counts)?;
            Ok((binary, profile))
        })
        .collect()
}

/// The same where some binaries may be gone, as those of documentation tests are: what is left of the units, and an
/// error for each that is not.
///
/// # Errors
/// See [`UnitError`]; [`UnitError::BinaryGone`] only if all are gone.
pub fn recover_remaining(
    file: &ProfileFile,
    binaries: &[PathBuf],
) -> Result<(Vec<Recovery>, Vec<UnitError>), UnitError> {
    let (mut recovered, mut gone) = (Vec::new(), Vec::new());
    for counts in &file.units {
        match open_binary(&file.path, counts, binaries) {
            Ok(binary) => {
                let profile = recover(&binary, counts)?;
                recovered.push((binary, profile));
            }
            Err(error @ UnitError::BinaryGone { .. }) => gone.push(error),
            Err(error) => return Err(error),
        }
    }
    match gone.pop() {
        Some(error) if recovered.is_empty() => Err(error),
        last => {
            gone.extend(last);
            Ok((recovered, gone))
        }
    }
}

/// A binary and the profile of its runs.
pub type Recovery = (BinaryFile, UnitProfile);

/// Early exits of every function, with the functions in which an activation was left at an unknown place.
pub(crate) struct UnitExits {
    by_function: HashMap<u32, EarlyExits>,
    pub(crate) unknown: HashMap<u32, u64>,
    pub(crate) unknown_total: u64,
    /// Activations left, or revived, in code that the map does not know: not ours, or ours where call sites are unmapped.
    pub(crate) outside: u64,
    /// Whether a function of the map was a signal handler that the link had not foreseen.
    pub(crate) handlers: bool,
}

impl UnitExits {
    pub(crate) fn new(binary: &BinaryFile, counts: &UnitCounts) -> (Self, bool) {
        let mut exits = Self {
            by_function: HashMap::new(),
            unknown: HashMap::new(),
            unknown_total: 0,
            outside: 0,
            handlers: false,
        };
        let mut saturated = false;
        for (&address, &count) in counts.early.iter().filter(|(_, count)| **count != 0) {
            if address & layout::HANDLER == layout::HANDLER {
                exits.handlers |= binary.is_known_code(address & !layout::HANDLER);
                continue;
            }
            match binary.resolve(address) {
                Resolved::Sites(chain) => {
                    for (function, site) in chain {
                        let early = exits.by_function.entry(function).or_insert_with(|| EarlyExits {
                            at_site: vec![0; binary.function(function).sites().len()],
                        });
                        let sum = &mut early.at_site[site.index()];
                        *sum = sum.checked_add(count).unwrap_or_else(|| {
                            saturated = true;
                            if count < 0 { i64::MIN } else { i64::MAX }
                        });
                    }
                }
                Resolved::UnknownInFunction(functions) => {
                    let number = count.unsigned_abs();
                    exits.unknown_total = exits.unknown_total.saturating_add(number);
                    for function in functions {
                        *exits.unknown.entry(function).or_default() += number;
                    }
                }
                Resolved::Outside => exits.outside = exits.outside.saturating_add(count.unsigned_abs()),
            }
        }
        (exits, saturated)
    }
}

/// Recovers the profile of a link unit.
///
/// A function whose counts contradict its plan does not take the others with it: see [`UnitProfile::failures`].
///
/// # Errors
/// If the counts are not of this binary.
pub fn recover(binary: &BinaryFile, counts: &UnitCounts) -> Result<UnitProfile, UnitError> {
    check_counts(binary, counts)?;
    let map = binary.map();
    let (exits, exits_saturated) = UnitExits::new(binary, counts);
    let layout = map.plan.layout();
    let bases = &layout.main;
    let mut paths = Vec::new();
    let (functions, failures) = match &map.plan.method {
        MethodPlan::None => (map.program.functions().map(|_| None).collect(), Vec::new()),
        MethodPlan::Counters(unit) if unit.method == CounterMethod::Edge => {
            recover_unit(binary, counts, unit, bases, &exits)
        }
        MethodPlan::Counters(unit) => recover_plans(binary, counts, unit.method, &unit.functions, bases, &exits),
        MethodPlan::Paths(unit) => {
            let (recovered, failures) = recover_paths(binary, counts, unit, &layout);
            paths = recovered;
            let derived = paths.iter_mut().map(|path| path.as_mut().map(|path| std::mem::take(&mut path.counts)));
            (derived.collect(), failures)
        }
    };
    let mut profile = UnitProfile {
        unit: counts.unit,
        binary: binary.path().to_owned(),
        command: counts.command.clone(),
        method: map.plan.method.method(),
        functions,
        paths,
        failures,
        runs: counts.runs,
        weight: counts.weight,
        flags: counts.flags,
        notes: Vec::new(),
    };
    add_flaws(&mut profile, map, counts, &layout, &exits, exits_saturated);
    profile.notes = notes(&profile, map, counts, &exits, exits_saturated);
    Ok(profile)
}

pub(crate) fn check_counts(binary: &BinaryFile, counts: &UnitCounts) -> Result<(), UnitError> {
    if binary.unit() != counts.unit {
        return Err(UnitError::OtherBuild {
            profile: PathBuf::new(),
            expected: counts.unit,
            binary: binary.path().to_owned(),
            found: binary.unit(),
        });
    }
    let layout = binary.map().plan.layout();
    let (expected, found) = (layout.counter_count, counts.counters.len() as u64);
    if expected != found {
        return Err(UnitError::CounterMismatch { binary: binary.path().to_owned(), expected, found });
    }
    let metric = binary.map().plan.method.paths().map_or(PathMetric::Count, |unit| unit.metric);
    if counts.metric != metric {
        return Err(UnitError::MetricMismatch { binary: binary.path().to_owned() });
    }
    let hashed =
        |key: &PathKey| matches!(layout.tables.paths().get(key.function as usize), Some(PathTable::Hashed { .. }));
    match counts.paths.entries().iter().chain(counts.sums.entries()).find(|(key, _)| !hashed(key)) {
        Some((key, _)) => Err(UnitError::ForeignPaths { binary: binary.path().to_owned(), function: key.function }),
        None => Ok(()),
    }
}

type Recovered = (Vec<Option<FunctionProfile>>, Vec<(u32, RecoverError)>);

/// Recovers all functions from one of the plans that the unit carries.
pub(crate) fn recover_plans<'a>(
    binary: &BinaryFile,
    counts: &UnitCounts,
    method: CounterMethod,
    plans: impl IntoIterator<Item = &'a CounterPlan>,
    bases: &[u64],
    exits: &UnitExits,
) -> Recovered {
    let none = EarlyExits::default();
    let mut failures = Vec::new();
    let functions = binary.map().program.functions().map(|(_, f)| f).zip(plans).zip(bases).zip(0u32..);
    let profiles = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.key.measures.len()];
            let early = exits.by_function.get(&index).unwrap_or(&none);
            let cfg = function.cfg().expect("validated with the map");
            match counters::recover(method, function, &cfg, &plan.key, counts, early) {
                Ok(profile) => Some(profile),
                Err(CounterError::NothingMeasured) => None,
                Err(error) => {
                    failures.push((index, error.into()));
                    None
                }
            }
        })
        .collect();
    (profiles, failures)
}

/// Recovers all functions of an edge profile, where the entries of some follow from others.
fn recover_unit(
    binary: &BinaryFile,
    counts: &UnitCounts,
    unit: &UnitCounterPlan,
    bases: &[u64],
    exits: &UnitExits,
) -> Recovered {
    let none = EarlyExits::default();
    let functions = binary.map().program.functions().map(|(_, f)| f).zip(&unit.functions).zip(bases).zip(0u32..);
    let measured: Vec<Option<Measured<'_>>> = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.key.measures.len()];
            Some(Measured { function, key: &plan.key, counts, early: exits.by_function.get(&index).unwrap_or(&none) })
        })
        .collect();
    let mut failures = Vec::new();
    let profiles = entries::recover(&measured, &unit.entries)
        .into_iter()
        .zip(0u32..)
        .map(|(recovered, index)| match recovered? {
            Ok(profile) => Some(profile),
            Err(error) => {
                failures.push((index, error.into()));
                None
            }
        })
        .collect();
    (profiles, failures)
}

/// The functions of a map, in the order of profiles.
#[must_use]
pub fn functions(map: &BinaryMap) -> Vec<&Function> {
    map.program.functions().map(|(_, f)| f).collect()
}
