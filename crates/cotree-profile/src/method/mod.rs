//! The parts of recovery that depend on the method: one module per family of methods. Only this file knows all of
//! them.

mod calls;
pub(crate) mod counters;
mod counts;
mod events;
pub mod ipath;
mod notes;
pub mod path;
mod recorded;
mod targets;
pub mod trace;

pub use counts::MethodCounts;
pub(crate) use counts::{read_counts, write_counts};
pub use notes::MethodNote;
pub(crate) use notes::{counts_missing, notes};
pub(crate) use recorded::{Kind, Recorded, check_header};
pub use targets::ForeignTargets;
pub(crate) use targets::recover as recover_targets;

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::file::{self, ProfileFile};
use crate::recover::{UnitError, UnitProfile, open_binary, recover_with_file};
use cotree_core::facts::events::EventKind;
use cotree_core::ids::FunctionId;
use cotree_core::method::calls::CallProfile;
use cotree_core::method::counters::CounterMethod;
use cotree_core::method::events::{EventMethod, EventProfile};
use cotree_core::method::ipath::{IpathMethod, UnitIpathProfile};
use cotree_core::method::path::{PathMethod, PathProfile};
use cotree_core::method::{Method, MethodPlan, RecoverError};
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_core::unit::Layout;
use path::{ForeignPaths, PathCounts};
use std::path::PathBuf;
use trace::sums::{ForeignTraceCounts, TraceCounts};

/// The results of a method besides how often blocks and edges ran.
#[derive(Clone, Debug)]
pub enum MethodProfile {
    /// Nothing is measured.
    None,
    /// Counters give nothing else.
    Counters(CounterMethod),
    /// The paths.
    Paths {
        /// The method.
        method: PathMethod,
        /// One per function, in the order of [`cotree_core::facts::ProgramMap::functions`]; `None` where nothing was
        /// measured or recovery failed. Their own `counts` are empty: counts of blocks and edges, and flaws, are not
        /// repeated here.
        functions: Vec<Option<PathProfile>>,
    },
    /// How often each call was made: one per function, in the same order; `None` where nothing was measured or recovery
    /// failed.
    Calls(Vec<Option<CallProfile>>),
    /// The paths across functions.
    Ipath {
        /// The method.
        method: IpathMethod,
        /// The paths; `None` where recovery failed. Counts of blocks and edges are not repeated here.
        profile: Option<Box<UnitIpathProfile>>,
    },
    /// Nothing is counted at run time: the streams of threads are in the file ([`trace::streams`]), which are counted
    /// when it is read ([`trace::count`]).
    Trace,
    /// How many events there were; `None` where recovery failed.
    Events(EventMethod, Option<EventProfile>),
}

impl MethodProfile {
    /// The method.
    #[must_use]
    pub fn method(&self) -> Method {
        match self {
            Self::None => Method::None,
            Self::Counters(method) => (*method).into(),
            Self::Paths { method, .. } => (*method).into(),
            Self::Calls(_) => Method::Calls,
            Self::Ipath { method, .. } => (*method).into(),
            Self::Trace => Method::Trace,
            Self::Events(method, _) => (*method).into(),
        }
    }

    /// The paths of each function; none if the method counts none.
    #[must_use]
    pub fn paths(&self) -> &[Option<PathProfile>] {
        match self {
            Self::Paths { functions, .. } => functions,
            Self::None | Self::Counters(_) | Self::Calls(_) | Self::Ipath { .. } | Self::Trace | Self::Events(..) => {
                &[]
            }
        }
    }

    /// How many events there were, if that is what was counted.
    #[must_use]
    pub fn events(&self) -> Option<&EventProfile> {
        match self {
            Self::Events(_, profile) => profile.as_ref(),
            _ => None,
        }
    }

    /// The calls of each function; none if the method counts none.
    #[must_use]
    pub fn calls(&self) -> &[Option<CallProfile>] {
        match self {
            Self::Calls(functions) => functions,
            _ => &[],
        }
    }
}

/// How many events of each kind there were, if that is what was counted.
pub(crate) fn event_totals(method: &MethodProfile) -> Option<impl Iterator<Item = (EventKind, u64)>> {
    let profile = method.events()?;
    Some(profile.kinds.iter().copied().zip(profile.totals.iter().copied()))
}

/// What can't be vouched for in one function; `None` if nothing of it was recovered.
pub(crate) fn flaws<'a>(
    method: &'a MethodProfile,
    functions: &'a [Option<FunctionProfile>],
    function: FunctionId,
) -> Option<&'a [Flaw]> {
    match method {
        MethodProfile::None
        | MethodProfile::Counters(_)
        | MethodProfile::Paths { .. }
        | MethodProfile::Ipath { .. }
        | MethodProfile::Trace => Some(&functions.get(function.index())?.as_ref()?.flaws),
        MethodProfile::Calls(calls) => Some(&calls.get(function.index())?.as_ref()?.flaws),
        MethodProfile::Events(_, profile) => profile.as_ref()?.flaws.get(function.index())?.as_deref(),
    }
}

/// The flaws of a function, to add to.
pub(crate) fn flaws_mut<'a>(
    method: &'a mut MethodProfile,
    functions: &'a mut [Option<FunctionProfile>],
    function: FunctionId,
) -> Option<&'a mut Vec<Flaw>> {
    match method {
        MethodProfile::None
        | MethodProfile::Counters(_)
        | MethodProfile::Paths { .. }
        | MethodProfile::Ipath { .. }
        | MethodProfile::Trace => Some(&mut functions.get_mut(function.index())?.as_mut()?.flaws),
        MethodProfile::Calls(calls) => Some(&mut calls.get_mut(function.index())?.as_mut()?.flaws),
        MethodProfile::Events(_, profile) => profile.as_mut()?.flaws.get_mut(function.index())?.as_mut(),
    }
}

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

/// Why no run of a binary can have left counts.
#[derive(Debug, thiserror::Error)]
pub enum ForeignCounts {
    /// The counts are of paths.
    #[error(transparent)]
    Paths(#[from] ForeignPaths),
    /// The counts are of targets.
    #[error(transparent)]
    Targets(#[from] ForeignTargets),
    /// The counts are of traces.
    #[error(transparent)]
    Trace(#[from] ForeignTraceCounts),
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
        (MethodProfile::Trace, file::Kind::Raw, _) => Ok(trace::count::add_counts(&file.path, binary, profile)?),
        (MethodProfile::Trace, file::Kind::Merged, _) => {
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
