//! Errors of reading profiles and programs.

use super::entry::{Explanation, explanations};
use cotree_profile::atomic::WriteError;
use cotree_profile::binary::BinaryError;
use cotree_profile::coverage::CoverageMapError;
use cotree_profile::error::ProfileError;
use cotree_profile::recover::UnitError;
use cotree_profile::snapshot::SnapshotError;
use cotree_profile::used::UsedError;

/// The explanation of why a profile cannot be used.
#[must_use]
pub fn of_profile_error(error: &ProfileError) -> &'static Explanation {
    match error {
        ProfileError::Io { .. } => &PROFILE_NOT_READ,
        ProfileError::Empty { .. } => &PROFILE_EMPTY,
        ProfileError::NotAProfile { .. } => &NOT_A_PROFILE,
        ProfileError::Version { .. } => &OTHER_VERSION,
        ProfileError::Truncated { .. } => &PROFILE_TRUNCATED,
        ProfileError::Damaged { .. } | ProfileError::Unreadable { .. } => &PROFILE_DAMAGED,
        ProfileError::NewerSection { .. } => &NEWER_COTREE,
        ProfileError::Uncounted { .. } => &TRACE_NOT_COUNTED,
        ProfileError::DifferentBinaries(_) => &DIFFERENT_BUILDS,
        ProfileError::DifferentMetrics(_) => &DIFFERENT_METRICS,
    }
}

/// The explanation of why a profile cannot be recovered.
#[must_use]
pub fn of_unit_error(error: &UnitError) -> &'static Explanation {
    match error {
        UnitError::Binary(error) => of_binary_error(error),
        UnitError::Profile(error) => of_profile_error(error),
        UnitError::BinaryGone { .. } => &BINARY_GONE,
        UnitError::OtherBuild { .. } => &OTHER_BUILD,
        UnitError::CounterMismatch { .. } | UnitError::TracesNotCounted { .. } | UnitError::Foreign(_) => {
            &PROFILE_DAMAGED
        }
        UnitError::NotComparable { .. } | UnitError::NothingToVerify { .. } => &NOTHING_TO_VERIFY,
    }
}

/// The explanation of why a program cannot be used.
#[must_use]
pub fn of_binary_error(error: &BinaryError) -> &'static Explanation {
    match error {
        BinaryError::Io { .. } => &BINARY_NOT_READ,
        BinaryError::NotElf { .. } | BinaryError::NotLinked { .. } => &NOT_A_PROGRAM,
        BinaryError::NoMap { .. } => &NO_MAP,
        BinaryError::Version { .. } => &OTHER_VERSION,
        BinaryError::NewerSection { .. } => &NEWER_COTREE,
        BinaryError::DamagedElf { .. } | BinaryError::Map { .. } | BinaryError::Functions { .. } => &BINARY_DAMAGED,
    }
}

/// The explanation of why no snapshot of a running process can be taken.
#[must_use]
pub fn of_snapshot_error(error: &SnapshotError) -> &'static Explanation {
    match error {
        SnapshotError::Process { .. } => &NO_PROCESS,
        SnapshotError::NoProfile { .. } => &NOTHING_LIVE,
        SnapshotError::Profile(error) => of_profile_error(error),
        SnapshotError::Write(error) => of_write_error(error),
    }
}

/// The explanation of why a coverage map cannot be read.
#[must_use]
pub fn of_coverage_error(error: &CoverageMapError) -> &'static Explanation {
    match error {
        CoverageMapError::Binary(error) => of_binary_error(error),
        CoverageMapError::NoMap { .. } => &NO_COVERAGE_MAP,
        CoverageMapError::Damaged { .. } => &COVERAGE_MAP_DAMAGED,
    }
}

/// The explanation of why it is not known which profile a program was compiled by.
#[must_use]
pub fn of_used_error(error: &UsedError) -> &'static Explanation {
    match error {
        UsedError::Io { .. } => &BINARY_NOT_READ,
        UsedError::None { .. } => &NO_USED_PROFILE,
        UsedError::Damaged { .. } => &BINARY_DAMAGED,
    }
}

/// The explanation of why a file cannot be written.
#[must_use]
pub fn of_write_error(_: &WriteError) -> &'static Explanation {
    &NOT_WRITTEN
}

explanations! { ALL:
    PROFILE_NOT_READ = "profile-not-read": "the profile cannot be read",
        why: "The file is not there, or its rights or the disk forbid it; the message has the system's reason.",
        remedy: "Name a file that is there and that you may read. A program with other rights leaves a profile of \
            its owner.",
        trusted: "Nothing was read.";
    PROFILE_EMPTY = "profile-empty": "the profile is empty",
        why: "The disk was full when it was begun, or a copy failed.",
        remedy: "Run the program again, with COTREE_FILE on a disk that has room.",
        trusted: "Nothing was counted in it.";
    NOT_A_PROFILE = "not-a-profile": "the file is no profile of cotree",
        why: "It is a file of another kind: a program, an object, a profile of another tool.",
        remedy: "Name what the program left: NAME.PID.cotree in the folder in which it was started, or what \
            COTREE_FILE says.",
        trusted: "Nothing was read.";
    OTHER_VERSION = "other-version": "the file has a format that this cotree does not read",
        why: "Another version of cotree has built the program. Files of earlier versions from 0.1.0 on are always \
            read.",
        remedy: "Use the cotree that built the program, or build and run it again.",
        trusted: "The file is whole: the other cotree reads it.";
    PROFILE_TRUNCATED = "profile-truncated": "the profile is shorter than it says",
        why: "A copy was broken off, or the file was cut.",
        remedy: "Copy it again, or run the program again.",
        trusted: "Nothing, since counts may be missing anywhere.";
    PROFILE_DAMAGED = "profile-damaged": "the profile contradicts itself, or the program that it names",
        why: "The file was changed after it was written: by a copy, an editor, or a disk.",
        remedy: "Copy it again, run the program again, or merge the profiles of its runs again.",
        trusted: "Nothing, since counts may be wrong anywhere.";
    NEWER_COTREE = "newer-cotree": "the file has a part that this cotree does not know",
        why: "A newer cotree has built the program, with something that yours has not.",
        remedy: "Use the newer cotree.",
        trusted: "The file is whole: the newer cotree reads it.";
    TRACE_NOT_COUNTED = "trace-not-counted": "a trace cannot be counted, so that it cannot be added to others",
        why: "The program that it belongs to is gone or was built anew, or the trace is damaged; the message says \
            which.",
        remedy: "Keep the program beside its traces, and name it with --binary.",
        trusted: "The trace itself, if its program comes back.";
    DIFFERENT_BUILDS = "different-builds": "profiles of different programs, or builds, cannot be added",
        why: "Counts are of blocks of one build. Another build has other blocks.",
        remedy: "Merge the profiles of each build apart. `cotree diff` compares two builds, and `cotree coverage` \
            adds up what several builds covered.",
        trusted: "Each of the profiles.";
    DIFFERENT_METRICS = "different-metrics": "profiles that add up different things along paths cannot be added",
        why: "The builds had different values of --path-metric.",
        remedy: "Merge the runs of each build apart.",
        trusted: "Each of the profiles.";
    BINARY_GONE = "binary-gone": "the program of the profile is no longer there",
        why: "A profile has counts alone; what they count stands in the program, which was moved or removed.",
        remedy: "Say where it is: `--binary FILE`. Keep the programs of profiles that are to be kept.",
        trusted: "The profile, if its program comes back.";
    OTHER_BUILD = "other-build": "the program is of another build than the profile",
        why: "It was built anew since it ran. The counts belong to the blocks of the old one.",
        remedy: "Run it again, or name the old program with --binary. The same sources, options and tools give the \
            same build.",
        trusted: "The profile, with the program that ran.";
    NOTHING_TO_VERIFY = "nothing-to-verify": "there are no reference counters to compare with",
        why: "The program was built without --verify, or counts something that reference counters do not.",
        remedy: "Build with --verify before the subcommand, as in `cotree --verify cc -o prog prog.c`, and run it \
            again.",
        trusted: "The profile says as ever what is vouched for.";
    BINARY_NOT_READ = "binary-not-read": "the program cannot be read",
        why: "The file is not there, or its rights or the disk forbid it; the message has the system's reason.",
        remedy: "Name a file that is there and that you may read, with --binary.",
        trusted: "The profile.";
    NOT_A_PROGRAM = "not-a-program": "the file is no program or shared library",
        why: "It is no ELF file, or an object file that was not linked.",
        remedy: "Name the program or shared library that ran.",
        trusted: "The profile.";
    NO_MAP = "no-map": "the program carries no map of cotree",
        why: "It was not linked through cotree, or its sections were stripped.",
        remedy: "Compile and link with `cotree cc` or `cargo cotree`, and keep the section .cotree.map.",
        trusted: "Nothing was counted.";
    BINARY_DAMAGED = "binary-damaged": "the program is damaged, or its map cannot be used",
        why: "The file was changed after it was linked.",
        remedy: "Copy it again, or build and run it again.",
        trusted: "The profile, with a whole copy of its program.";
    NO_PROCESS = "no-process": "the process cannot be looked at",
        why: "It has ended, has another number, or belongs to somebody else.",
        remedy: "Look for its number with `pgrep NAME`. As another user, only root may.",
        trusted: "The process goes on undisturbed, and writes its profile when it ends.";
    NOTHING_LIVE = "nothing-live": "the process has no profile open",
        why: "It was not built with cotree, has ended its recording, or keeps its counters in memory since no file \
            could be made.",
        remedy: "Build it with cotree, and let COTREE_FILE name a place that it may write to.",
        trusted: "The process goes on undisturbed.";
    NO_COVERAGE_MAP = "no-coverage-map": "the program carries no coverage map",
        why: "It was not built for coverage, or its sections were stripped.",
        remedy: "Build it with --coverage, or by `cargo cotree coverage`, and do not strip it.",
        trusted: "Counts of a build without coverage: `cotree report` and `cotree annotate` show them.";
    COVERAGE_MAP_DAMAGED = "coverage-map-damaged": "the program's coverage map cannot be used",
        why: "The file was changed after it was linked, or its compiler writes maps of a version that this cotree \
            does not read.",
        remedy: "Build it again, with clang 14 to 22 or a stable rustc.",
        trusted: "The counts; `cotree report` shows them.";
    NO_USED_PROFILE = "no-used-profile": "the program was not compiled by a profile",
        why: "It was built without --use, or its sections were stripped.",
        remedy: "Name the program that --use built.",
        trusted: "The profile.";
    NOT_WRITTEN = "not-written": "a file cannot be written",
        why: "The disk is full, the folder is not there or its rights forbid it; the message has the system's reason.",
        remedy: "Make room, or name another place.",
        trusted: "What was there before: files are replaced when they are whole, and not before.";
}
