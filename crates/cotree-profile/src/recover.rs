//! Recovers a whole link unit: the profile of every function from the binary and the counts.
//!
//! First, early exits are translated from machine addresses to call sites (`exits`). Then each function is recovered by
//! its method (`method`, by means of `cotree-core`). Last, events of the run as a whole become flaws of the functions
//! whose counts they may have affected (`flaws`).

use crate::binary::{BinaryFile, BinaryMap};
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::file::ProfileFile;
use crate::flaws::add_flaws;
use crate::method::trace::sums::TraceCounts;
use crate::method::{self, MethodCounts, Recovered};
use crate::notes::notes;
use crate::stack;
use cotree_core::facts::Function;
use std::path::{Path, PathBuf};

pub use crate::note::Note;
pub use crate::unit_error::UnitError;
pub use crate::unit_profile::{Bound, Recovery, UnitProfile};

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

/// Counts the traces of a raw profile, so that they can be added to others: `binaries` are where its binary may be.
pub(crate) fn count_traces(file: &mut ProfileFile, binaries: &[PathBuf]) -> Result<bool, UnitError> {
    let mut counted = Vec::new();
    for (index, counts) in file.units.iter().enumerate() {
        if counts.method == MethodCounts::Streams {
            let binary = open_binary(&file.path, counts, binaries)?;
            counted.push((index, TraceCounts::of(&recover_with_file(file, &binary, counts)?)));
        }
    }
    let any = !counted.is_empty();
    for (index, counts) in counted {
        file.units[index].method = MethodCounts::Trace(counts);
    }
    Ok(any)
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
    let Recovered { functions, failures, method } = method::recover(binary, counts, &layout, &exits);
    let mut profile = UnitProfile {
        unit: counts.unit,
        binary: binary.path().to_owned(),
        command: counts.command.clone(),
        tests: counts.tests.clone(),
        method,
        functions,
        failures,
        runs: counts.runs,
        weight: counts.weight,
        flags: counts.flags,
        targets: method::recover_targets(binary, counts),
        notes: Vec::new(),
        stack: stack::frames(binary, &counts.stack),
        bound: Bound::Recovered,
    };
    add_flaws(&mut profile, map, counts, &layout, &exits, exits_saturated);
    profile.notes = notes(&profile, map, counts, &exits, exits_saturated);
    Ok(profile)
}

/// How many activations a run left at an instruction that is no known call ([`Note::UnknownExits`]).
#[must_use]
pub fn unknown_exits(binary: &BinaryFile, counts: &UnitCounts) -> u64 {
    UnitExits::new(binary, counts).0.unknown_total
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
