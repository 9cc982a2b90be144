//! Recovery of a whole link unit: binary and counts in, the profile of every function out.
//!
//! Each function is recovered by its method (`cotree-core`); here the counters are handed out, early exits are brought
//! from machine addresses to call sites, and what happened to the run as a whole becomes flaws of the functions whose
//! counts it may concern.

use crate::binary::{BinaryError, BinaryFile, BinaryMap, Resolved, UnitId};
use crate::counts::{Runs, UnitCounts};
use crate::file::ProfileFile;
use crate::notes::notes;
use crate::path_counts::PathKey;
use crate::path_recovery::recover_paths;
use cotree_core::facts::{Doubt, Function};
use cotree_core::ids::Block;
use cotree_core::method::path::PathProfile;
use cotree_core::method::{self, RecoverError};
use cotree_core::plan::{FunctionPlan, Layout, Measure, Method, PathTable};
use cotree_core::probe::{Place, Probe};
use cotree_core::profile::{EarlyExits, Flaw, FunctionProfile};
use cotree_rt::layout::Flags;
use std::collections::{HashMap, HashSet};
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
    unknown: HashMap<u32, u64>,
    pub(crate) unknown_total: u64,
    /// Activations left, or revived, in code that the map does not know: not ours, or ours where call sites are unmapped.
    outside: u64,
}

impl UnitExits {
    pub(crate) fn new(binary: &BinaryFile, counts: &UnitCounts) -> (Self, bool) {
        let mut exits = Self { by_function: HashMap::new(), unknown: HashMap::new(), unknown_total: 0, outside: 0 };
        let mut saturated = false;
        for (&address, &count) in counts.early.iter().filter(|(_, count)| **count != 0) {
            match binary.resolve(address) {
                Resolved::Sites(chain) => {
                    for (function, site) in chain {
                        let early = exits
                            .by_function
                            .entry(function)
                            .or_insert_with(|| EarlyExits { at_site: vec![0; binary.function(function).sites.len()] });
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
    let (functions, failures) = if map.plan.method.counts_paths() {
        let (recovered, failures) = recover_paths(binary, counts, &layout);
        paths = recovered;
        let derived = paths.iter_mut().map(|path| path.as_mut().map(|path| std::mem::take(&mut path.counts)));
        (derived.collect(), failures)
    } else {
        recover_plans(binary, counts, map.plan.method, &map.plan.functions, bases, &exits)
    };
    let mut profile = UnitProfile {
        unit: counts.unit,
        binary: binary.path().to_owned(),
        command: counts.command.clone(),
        method: map.plan.method,
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
    let hashed = |key: &PathKey| matches!(layout.tables.get(key.function as usize), Some(PathTable::Hashed { .. }));
    match counts.paths.entries().iter().find(|(key, _)| !hashed(key)) {
        Some((key, _)) => Err(UnitError::ForeignPaths { binary: binary.path().to_owned(), function: key.function }),
        None => Ok(()),
    }
}

type Recovered = (Vec<Option<FunctionProfile>>, Vec<(u32, RecoverError)>);

/// Recovers all functions from one of the plans that the unit carries.
pub(crate) fn recover_plans<'a>(
    binary: &BinaryFile,
    counts: &UnitCounts,
    method: Method,
    plans: impl IntoIterator<Item = &'a FunctionPlan>,
    bases: &[u64],
    exits: &UnitExits,
) -> Recovered {
    let none = EarlyExits::default();
    let mut failures = Vec::new();
    let functions = binary.map().program.functions().map(|(_, f)| f).zip(plans).zip(bases).zip(0u32..);
    let profiles = functions
        .map(|(((function, plan), &base), index)| {
            if function.untouched.is_some() || function.blocks.is_empty() || method == Method::None {
                return None;
            }
            let base = usize::try_from(base).expect("within the counter array");
            let counts = &counts.counters[base..base + plan.measures.len()];
            let early = exits.by_function.get(&index).unwrap_or(&none);
            let cfg = function.cfg().expect("validated with the map");
            match method::recover(method, function, &cfg, plan, counts, early) {
                Ok(profile) => Some(profile),
                Err(RecoverError::NothingMeasured) => None,
                Err(error) => {
                    failures.push((index, error));
                    None
                }
            }
        })
        .collect();
    (profiles, failures)
}

/// Turns what happened to the run into flaws of the functions that it may concern.
fn add_flaws(
    profile: &mut UnitProfile,
    map: &BinaryMap,
    counts: &UnitCounts,
    layout: &Layout,
    exits: &UnitExits,
    saturated: bool,
) {
    let has = |flags: u64| counts.flags & flags != 0;
    // A reset accounts for the frames of its own thread only.
    let live = counts.runs.cut_off > 0 || has(Flags::THREADS_ALIVE) || (has(Flags::RESET) && map.threaded);
    let walk = has(Flags::WALK_INCOMPLETE | Flags::FOREIGN_JUMP | Flags::THREAD_CANCELLED);
    let threads = has(Flags::THREADS_UNEXPECTED | Flags::THREAD_UNREGISTERED | Flags::SLAB_SHARED);
    let exits_missing = has(Flags::EARLY_TABLE_FULL | Flags::UNHOOKED);
    let saturated = saturated || counts.saturated;
    let modules = map.program.modules.iter().enumerate();
    let module_of: Vec<usize> =
        modules.flat_map(|(m, module)| std::iter::repeat_n(m, module.functions.len())).collect();
    // Code that was interrupted may be inlined from any function of its module.
    let interrupted: HashSet<usize> = exits.unknown.keys().map(|&f| module_of[f as usize]).collect();
    let functions = map.program.functions().map(|(_, f)| f);
    for ((((function, plan), &base), recovered), index) in
        functions.zip(map.plan.plans()).zip(&layout.main).zip(&mut profile.functions).zip(0u32..)
    {
        let Some(recovered) = recovered else { continue };
        let base = usize::try_from(base).expect("within the counter array");
        let counters = &counts.counters[base..base + plan.measures.len()];
        let never_began = proves_never_entered(plan, counters);
        // Where every block and edge has its own counter, live activations only blur the lines after calls.
        let flow_matters = map.plan.method != Method::Block || !function.sites.is_empty();
        let counted = counters.iter().any(|&c| c > 0) || recovered.blocks.iter().any(|&c| c > 0);
        let mut flaw = |holds: bool, flaw: Flaw| {
            if holds && !recovered.flaws.contains(&flaw) {
                recovered.flaws.push(flaw);
            }
        };
        flaw(live && flow_matters && !never_began, Flaw::LiveFrames);
        flaw(walk && flow_matters && !never_began, Flaw::WalkIncomplete);
        flaw(exits_missing && flow_matters && !never_began, Flaw::UnknownExit);
        flaw(exits.unknown.contains_key(&index), Flaw::UnknownExit);
        let astray = exits.unknown_total > 0 || exits.outside > 0;
        flaw(astray && function.doubts.contains(&Doubt::UnmappedCallSites) && !never_began, Flaw::UnknownExit);
        flaw(function.doubts.contains(&Doubt::BuiltinSetjmp) && !never_began, Flaw::UnknownExit);
        flaw(function.doubts.contains(&Doubt::SwitchesStacks) && flow_matters && !never_began, Flaw::SuspendedStacks);
        let unaccounted = live
            || walk
            || exits_missing
            || interrupted.contains(&module_of[index as usize])
            || function.doubts.iter().any(|d| matches!(d, Doubt::SwitchesStacks | Doubt::BuiltinSetjmp));
        flaw(unaccounted && counts_in_variables(plan) && !never_began, Flaw::LoopsUnderWay);
        flaw(threads, Flaw::Threads);
        flaw(has(Flags::FOREIGN_PROCESS), Flaw::Damaged);
        flaw(saturated && counted, Flaw::Damaged);
        // Registers of abandoned activations are in the same tables as paths.
        flaw(has(Flags::PATHS_MISSING) && map.plan.method.counts_paths(), Flaw::Damaged);
    }
}

/// Are there loops that are counted only when they are left?
fn counts_in_variables(plan: &FunctionPlan) -> bool {
    plan.probes.iter().any(|placed| matches!(placed.probe, Probe::Close(..)))
}

/// Is there a counter that each activation passes first, and is it zero? Then no activation can have been live.
fn proves_never_entered(plan: &FunctionPlan, counters: &[u64]) -> bool {
    plan.probes.iter().any(|placed| {
        let Probe::Count(counter) = placed.probe else { return false };
        let first = placed.place == Place::Start(Block(0));
        let measured =
            plan.measures.get(counter.index()).is_some_and(|m| matches!(m, Measure::Block(_) | Measure::Edge(_)));
        first && measured && counters.get(counter.index()) == Some(&0)
    })
}

/// The functions of a map, in the order of profiles.
#[must_use]
pub fn functions(map: &BinaryMap) -> Vec<&Function> {
    map.program.functions().map(|(_, f)| f).collect()
}
