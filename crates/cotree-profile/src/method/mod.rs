//! The parts of recovery that depend on the method: one module per family of methods. Only this file knows all of
//! them.

mod calls;
pub(crate) mod counters;
mod counts;
mod events;
mod foreign;
pub mod ipath;
mod notes;
pub mod path;
mod profile;
mod recorded;
mod targets;
pub mod trace;

pub use counts::MethodCounts;
pub(crate) use counts::{read_counts, write_counts};
pub use foreign::ForeignCounts;
pub use notes::MethodNote;
pub(crate) use notes::{counts_missing, notes};
pub use profile::MethodProfile;
pub(crate) use profile::{event_totals, flaws, flaws_mut};
pub(crate) use recorded::{Contents, Recorded, check_header};
pub use targets::ForeignTargets;
pub(crate) use targets::recover as recover_targets;

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::file::{self, ProfileFile};
use crate::unit_error::UnitError;
use crate::unit_profile::UnitProfile;
use cotree_core::ids::FunctionId;
use cotree_core::method::path::PathProfile;
use cotree_core::method::{MethodPlan, RecoverError};
use cotree_core::profile::FunctionProfile;
use cotree_core::unit::Layout;
use path::PathCounts;

/// Are loops of the function counted only where they are left, as its key says without the probes?
pub(crate) fn counts_in_loops(plan: &MethodPlan, function: FunctionId) -> bool {
    match plan {
        MethodPlan::Events(unit) => unit.functions.get(function.index()).is_some_and(|plan| plan.key.counts_in_loops),
        _ => false,
    }
}

/// What is recovered of a unit.
pub(crate) struct Recovered {
    /// One per function.
    pub(crate) functions: Vec<Option<FunctionProfile>>,
    pub(crate) failures: Vec<(FunctionId, RecoverError)>,
    pub(crate) method: MethodProfile,
}

/// Recovers all functions of a unit.
pub(crate) fn recover(binary: &BinaryFile, counts: &UnitCounts, layout: &Layout, exits: &UnitExits) -> Recovered {
    let map = binary.map();
    match &map.plan.method {
        MethodPlan::None => {
            let functions = map.program.functions().map(|_| None).collect();
            Recovered { functions, failures: Vec::new(), method: MethodProfile::None }
        }
        MethodPlan::Traces(_) => {
            let functions = map.program.functions().map(|_| None).collect();
            Recovered { functions, failures: Vec::new(), method: MethodProfile::Trace }
        }
        MethodPlan::Counters(unit) => {
            let (functions, failures) = counters::recover(binary, counts, unit, &layout.main, exits);
            Recovered { functions, failures, method: MethodProfile::Counters(unit.method) }
        }
        MethodPlan::Paths(unit) => {
            let (mut paths, failures) = path::recover(binary, counts, unit, layout);
            let derived = |path: &mut Option<PathProfile>| path.as_mut().map(|path| std::mem::take(&mut path.counts));
            let functions = paths.iter_mut().map(derived).collect();
            let method = MethodProfile::Paths { method: unit.method, functions: paths };
            Recovered { functions, failures, method }
        }
        MethodPlan::Calls(unit) => {
            let (calls, failures) = calls::recover(binary, counts, unit, &layout.main);
            let functions = calls.iter().map(|_| None).collect();
            Recovered { functions, failures, method: MethodProfile::Calls(calls) }
        }
        MethodPlan::Events(unit) => {
            let functions = map.program.functions().map(|_| None).collect();
            let (profile, failures) = match events::recover(binary, counts, unit, &layout.main, exits) {
                Ok(profile) => (Some(profile), Vec::new()),
                Err(failures) => (None, failures),
            };
            Recovered { functions, failures, method: MethodProfile::Events(unit.method, profile) }
        }
        MethodPlan::Ipath(unit) => {
            let method = unit.method;
            match ipath::recover(binary, counts, unit, layout, exits) {
                Ok(mut profile) => {
                    let functions = std::mem::take(&mut profile.functions);
                    let method = MethodProfile::Ipath { method, profile: Some(Box::new(profile)) };
                    Recovered { functions, failures: Vec::new(), method }
                }
                Err(failures) => {
                    let functions = map.program.functions().map(|_| None).collect();
                    Recovered { functions, failures, method: MethodProfile::Ipath { method, profile: None } }
                }
            }
        }
    }
}

/// Could a run of this binary have left these counts?
pub(crate) fn check_counts(binary: &BinaryFile, layout: &Layout, counts: &UnitCounts) -> Result<(), ForeignCounts> {
    if let Some(counted) = counts.method.trace() {
        return Ok(counted.check(binary.map())?);
    }
    let none = PathCounts::default();
    let counted = counts.method.paths().unwrap_or(&none);
    if let Some(plan) = &binary.map().plan.targets {
        targets::check(binary, plan, counted)?;
        return Ok(path::check_metric(binary, counted)?);
    }
    if let MethodPlan::Ipath(_) = &binary.map().plan.method {
        // Any function may have counted any path. That such a path exists shows when it is decoded.
        return Ok(path::check_metric(binary, counted)?);
    }
    Ok(path::check_counts(binary, layout.tables.paths(), counted)?)
}

/// Adds to a unit's profile what its file has besides counters: the traces of a raw profile, or what the traces of a
/// merged profile's runs counted.
pub(crate) fn add_from_file(
    file: &ProfileFile,
    binary: &BinaryFile,
    counts: &UnitCounts,
    profile: &mut UnitProfile,
) -> Result<(), UnitError> {
    match (&profile.method, file.kind, &counts.method) {
        (MethodProfile::Trace, _, MethodCounts::Trace(counted)) => {
            counted.recover(binary.map(), counts.saturated, profile);
            Ok(())
        }
        (MethodProfile::Trace, file::ProfileFormat::Raw, _) => {
            Ok(trace::count::add_counts(&file.path, binary, profile)?)
        }
        (MethodProfile::Trace, file::ProfileFormat::Merged, _) => {
            Err(UnitError::TracesNotCounted { profile: file.path.clone() })
        }
        (
            MethodProfile::None
            | MethodProfile::Counters(_)
            | MethodProfile::Paths { .. }
            | MethodProfile::Calls(_)
            | MethodProfile::Ipath { .. }
            | MethodProfile::Events(..),
            ..,
        ) => Ok(()),
    }
}
