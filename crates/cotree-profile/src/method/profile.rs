//! What a method tells besides how often blocks and edges ran.

use cotree_core::facts::events::EventKind;
use cotree_core::ids::FunctionId;
use cotree_core::method::Method;
use cotree_core::method::calls::CallProfile;
use cotree_core::method::counters::CounterMethod;
use cotree_core::method::events::{EventMethod, EventProfile};
use cotree_core::method::ipath::{IpathMethod, UnitIpathProfile};
use cotree_core::method::path::{PathMethod, PathProfile};
use cotree_core::profile::{Flaw, FunctionProfile};

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
    /// Nothing is counted at run time: the streams of threads are in the file ([`super::trace::streams`]), and are
    /// counted when it is read ([`super::trace::count`]).
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
