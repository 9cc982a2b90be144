//! Recovers a whole link unit: the profile of every function from the binary and the counts.
//!
//! First, early exits are translated from machine addresses to call sites (`exits`). Then each function is recovered by
//! its method (`method`, by means of `cotree-core`). Last, events of the run as a whole become flaws of the functions
//! whose counts they may have affected (`flaws`).

use crate::binary::{BinaryError, BinaryFile, BinaryMap, UnitId};
use crate::counts::{Runs, UnitCounts};
use crate::error::ProfileError;
use crate::exits::UnitExits;
use crate::file::ProfileFile;
use crate::flaws::add_flaws;
use crate::method::{self, ForeignCounts, MethodProfile, Recovered};
use crate::notes::notes;
use crate::stack::{self, Frame};
use cotree_core::facts::Function;
use cotree_core::ids::FunctionId;
use cotree_core::method::RecoverError;
use cotree_core::method::targets::SiteTargets;
use cotree_core::profile::{Flaw, FunctionProfile};
use std::path::{Path, PathBuf};

pub use crate::notes::Note;

/// Why a profile cannot be recovered.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The binary cannot be used.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// What the profile has besides counts cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
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
        /// The build of the profile.
        expected: UnitId,
        /// The binary.
        binary: PathBuf,
        /// The build of the binary.
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
    /// A sum of traces without their counts.
    #[error(
        "the merged profile {profile} is damaged (it has no counts of its traces): merge the profiles of the runs again",
        profile = .profile.display()
    )]
    TracesNotCounted {
        /// The profile.
        profile: PathBuf,
    },
    /// No run of the binary's method leaves such counts.
    #[error(transparent)]
    Foreign(#[from] ForeignCounts),
    /// The reference counts nothing that the method does.
    #[error("{binary} has a {title}, and its reference counters count blocks and edges: there is nothing to compare", binary = .binary.display())]
    NotComparable {
        /// The binary.
        binary: PathBuf,
        /// What its profile is called.
        title: &'static str,
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
    /// The command line, if that of all runs is the same; else empty.
    pub command: Vec<String>,
    /// Further results of the method.
    pub method: MethodProfile,
    /// One per function, in the order of [`cotree_core::facts::ProgramMap::functions`]; `None` where nothing was
    /// measured (see [`Function::untouched`]) or recovery failed (see `failures`).
    pub functions: Vec<Option<FunctionProfile>>,
    /// Functions whose counts contradict their plan.
    pub failures: Vec<(FunctionId, RecoverError)>,
    /// The runs.
    pub runs: Runs,
    /// The sum of their weights.
    pub weight: u64,
    /// Bits of [`Flags`].
    pub flags: u64,
    /// Per function, whom each of its indirect calls has called ([`cotree_core::method::targets`]); `None` where that
    /// was not counted.
    pub targets: Option<Vec<Vec<SiteTargets>>>,
    /// What a reader must know about the runs.
    pub notes: Vec<Note>,
    /// The stack of the thread that ended a run, innermost first; empty if it was not written down.
    pub stack: Vec<Frame>,
}

impl UnitProfile {
    /// Is every number exact?
    #[must_use]
    pub fn exact(&self) -> bool {
        self.failures.is_empty() && self.all_flaws().all(<[Flaw]>::is_empty)
    }

    /// What can't be vouched for in a function; `None` if nothing of it was recovered.
    #[must_use]
    pub fn flaws(&self, function: FunctionId) -> Option<&[Flaw]> {
        method::flaws(&self.method, &self.functions, function)
    }

    /// The flaws of all functions of which something was recovered.
    pub fn all_flaws(&self) -> impl Iterator<Item = &[Flaw]> {
        FunctionId::all().zip(&self.functions).filter_map(|(function, _)| self.flaws(function))
    }
}

/// Finds and opens the binary of a profile: one of `candidates` if it fits, else that at the recorded path.
///
/// # Errors
/// See [`UnitError`].
pub fn open_binary(profile: &Path, counts: &UnitCounts, candidates: &[PathBuf]) -> Result<BinaryFile, UnitError> {
    let other_build = |binary: &Path, found| UnitError::OtherBuild {
        profile: profile.to_owned(),
        expected: counts.unit,
        binary: binary.to_owned(),
        found,
    };
    if let [only] = candidates {
        let binary = BinaryFile::open(only)?;
        return if binary.unit() == counts.unit { Ok(binary) } else { Err(other_build(only, binary.unit())) };
    }
    for path in candidates {
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
            let profile = recover_with_file(file, &binary, counts)?;
            Ok((binary, profile))
        })
        .collect()
}

/// As [`recover_file`], but binaries may be gone, as those of documentation tests are. Returns the remaining units, and
/// an error for each missing one.
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
                let profile = recover_with_file(file, &binary, counts)?;
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

/// As [`recover`], with what stands in a raw profile besides counts.
pub(crate) fn recover_with_file(
    file: &ProfileFile,
    binary: &BinaryFile,
    counts: &UnitCounts,
) -> Result<UnitProfile, UnitError> {
    let mut profile = recover(binary, counts)?;
    method::add_from_file(file, binary, counts, &mut profile)?;
    Ok(profile)
}

/// A binary and the profile of its runs.
pub type Recovery = (BinaryFile, UnitProfile);

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
    let Recovered { functions, failures, method } = method::recover(binary, counts, &layout, &exits);
    let mut profile = UnitProfile {
        unit: counts.unit,
        binary: binary.path().to_owned(),
        command: counts.command.clone(),
        method,
        functions,
        failures,
        runs: counts.runs,
        weight: counts.weight,
        flags: counts.flags,
        targets: method::recover_targets(binary, counts),
        notes: Vec::new(),
        stack: stack::frames(binary, &counts.stack),
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
    Ok(method::check_counts(binary, &layout, counts)?)
}

/// The functions of a map, in the order of profiles.
#[must_use]
pub fn functions(map: &BinaryMap) -> Vec<&Function> {
    map.program.functions().map(|(_, f)| f).collect()
}
